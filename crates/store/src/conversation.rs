//! Conversations, their heads, and their members.

use std::sync::{Arc, OnceLock};

use chorus_core::codec::{self, Coded};
use chorus_core::model::conversation::{
    Conversation, ConversationKind, Keep, Participation, Settings, Visibility,
};
use chorus_core::model::ids::{ConversationKey, MemberKey, Seq, StreamKey, Timestamp, Uid};
use chorus_core::state::room::{Dirty, Head, Room};

use crate::db::{Db, Error, Result, Row, Table};
use crate::family::Family;
use crate::row::{code, uid};
use crate::schema::Since;

pub(crate) static CONVERSATION: Table = Table::new(
    "conversation",
    2,
    &[
        "workspace",
        "conversation",
        "uid",
        "kind",
        "title",
        "description",
        "purpose",
        "visibility",
        "stream",
        "archived",
        "created_at",
        "lead",
        "agent_budget",
        "keep",
        "settings",
    ],
);

pub(crate) static HEAD: Table = Table::new(
    "head",
    2,
    &["workspace", "conversation", "seq", "hash", "version", "settled", "last_at", "unattended"],
);

pub(crate) static ROSTER: Table =
    Table::new("roster", 3, &["workspace", "conversation", "member", "participation"]);

/// Heads are recorded before the log.
pub(crate) static FAMILY: Family =
    Family::of(Since { sqlite: 5, postgres: 1 }, &[&CONVERSATION, &HEAD, &ROSTER])
        .recorded_in_rooms(record_room);

fn record_room(db: &dyn Db, workspace: i64, room: &Room, dirty: &Dirty) -> Result<()> {
    if dirty.conversation {
        put(db, workspace, room.conversation())?;
    }
    for (member, participation) in &dirty.roster {
        put_seat(db, workspace, room.key(), *member, *participation)?;
    }
    Ok(())
}

pub(crate) fn put(db: &dyn Db, workspace: i64, conversation: &Conversation) -> Result<()> {
    let settings = &conversation.settings;
    let later = codec::later_settings(settings);
    db.put(
        &CONVERSATION,
        &[
            workspace.into(),
            conversation.key.0.into(),
            (&conversation.uid.0.to_be_bytes()).into(),
            conversation.kind.code().into(),
            (&*settings.title).into(),
            (&*settings.description).into(),
            (&*settings.purpose).into(),
            settings.visibility.code().into(),
            settings.stream.map(|s| s.0).into(),
            settings.archived.into(),
            conversation.created_at.0.into(),
            settings.lead.map(|m| m.0).into(),
            settings.agent_budget.into(),
            settings.keep.map(Keep::stored).into(),
            (&*later).into(),
        ],
    )
}

pub(crate) fn put_head(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    head: &Head,
) -> Result<()> {
    db.put(
        &HEAD,
        &[
            workspace.into(),
            key.0.into(),
            head.seq.0.into(),
            (&head.hash).into(),
            head.version.into(),
            head.settled.0.into(),
            head.last_at.0.into(),
            head.unattended.into(),
        ],
    )
}

/// Writes or removes a membership.
pub(crate) fn put_seat(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    member: MemberKey,
    participation: Option<Participation>,
) -> Result<()> {
    let (room, seat) = (key.0.into(), member.0.into());
    match participation {
        Some(p) => db.put(&ROSTER, &[workspace.into(), room, seat, p.code().into()]),
        None => db.remove(&ROSTER, &[workspace.into(), room, seat]),
    }
}

pub(crate) fn get(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Option<Conversation>> {
    db.get(&CONVERSATION, &[workspace.into(), key.0.into()], read)
}

/// The parts of a conversation that are in no log; its settings are the defaults.
pub(crate) fn bare(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Option<Conversation>> {
    db.get(&CONVERSATION, &[workspace.into(), key.0.into()], |row| {
        let (uid, kind, settings) = (uid(row, 2)?, code(row, 3)?, Settings::default());
        let created_at = Timestamp(row.int(10)?);
        Ok(Conversation { key: ConversationKey(row.int(1)?), uid, kind, settings, created_at })
    })
}

pub(crate) fn by_uid(db: &dyn Db, workspace: i64, uid: Uid) -> Result<Option<Conversation>> {
    let sql = format!("{} WHERE workspace = $1 AND uid = $2", CONVERSATION.select());
    db.one(&sql, &[workspace.into(), (&uid.0.to_be_bytes()).into()], read)
}

/// Conversations that a member may see, oldest first: public ones and its own. Without a viewer,
/// all.
pub(crate) fn visible(
    db: &dyn Db,
    workspace: i64,
    viewer: Option<MemberKey>,
) -> Result<Vec<Arc<Conversation>>> {
    let all = format!("{} WHERE workspace = $1", CONVERSATION.select());
    let Some(viewer) = viewer else {
        let sql = format!("{all} ORDER BY conversation");
        return db.all(&sql, &[workspace.into()], |row| read(row).map(Arc::new));
    };
    let sql = format!(
        "{all} AND (visibility = $2 OR conversation IN (
            SELECT conversation FROM roster WHERE workspace = $1 AND member = $3
        )) ORDER BY conversation"
    );
    let public = Visibility::Public.code();
    let values = [workspace.into(), public.into(), viewer.0.into()];
    db.all(&sql, &values, |row| read(row).map(Arc::new))
}

/// All conversations, each read separately, so that an unreadable one hides no other.
pub(crate) fn each(
    db: &dyn Db,
    workspace: i64,
) -> Result<Vec<(ConversationKey, Result<Arc<Conversation>>)>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY conversation", CONVERSATION.select());
    let values = [workspace.into()];
    db.all(&sql, &values, |row| Ok((ConversationKey(row.int(1)?), read(row).map(Arc::new))))
}

/// Conversations that a member may see, by key and kind.
pub(crate) fn visible_keys(
    db: &dyn Db,
    workspace: i64,
    viewer: Option<MemberKey>,
) -> Result<Vec<(ConversationKey, ConversationKind)>> {
    let read = |row: &dyn Row| Ok((ConversationKey(row.int(0)?), code(row, 1)?));
    let Some(viewer) = viewer else {
        let sql = "SELECT conversation, kind FROM conversation WHERE workspace = $1";
        return db.all(sql, &[workspace.into()], read);
    };
    let sql = "SELECT conversation, kind FROM conversation WHERE workspace = $1 AND visibility = $2
        UNION SELECT c.conversation, c.kind FROM roster r JOIN conversation c
            ON c.workspace = r.workspace AND c.conversation = r.conversation
            WHERE r.workspace = $1 AND r.member = $3";
    let public = Visibility::Public.code();
    db.all(sql, &[workspace.into(), public.into(), viewer.0.into()], read)
}

/// Conversations that a member may see, by key and uid, each with the newest seq of its log.
pub(crate) fn visible_heads(
    db: &dyn Db,
    workspace: i64,
    viewer: Option<MemberKey>,
) -> Result<Vec<(ConversationKey, Uid, Seq)>> {
    let all = "SELECT c.conversation, c.uid, COALESCE(h.seq, 0) FROM conversation c
        LEFT JOIN head h ON h.workspace = c.workspace AND h.conversation = c.conversation
        WHERE c.workspace = $1";
    let read = |row: &dyn Row| Ok((ConversationKey(row.int(0)?), uid(row, 1)?, Seq(row.int(2)?)));
    let Some(viewer) = viewer else { return db.all(all, &[workspace.into()], read) };
    let sql = format!(
        "{all} AND (c.visibility = $2 OR c.conversation IN (
            SELECT conversation FROM roster WHERE workspace = $1 AND member = $3))"
    );
    let public = Visibility::Public.code();
    db.all(&sql, &[workspace.into(), public.into(), viewer.0.into()], read)
}

/// Titles of the unarchived channels that a member may see; without a viewer, of all.
pub(crate) fn channel_titles(
    db: &dyn Db,
    workspace: i64,
    viewer: Option<MemberKey>,
) -> Result<Vec<(Uid, String)>> {
    let read = |row: &dyn Row| Ok((uid(row, 0)?, row.text(1)?.to_owned()));
    let all = "SELECT uid, title FROM conversation
        WHERE workspace = $1 AND kind = $2 AND archived = $3";
    let (channel, archived) = (ConversationKind::Channel.code(), false);
    let Some(viewer) = viewer else {
        return db.all(all, &[workspace.into(), channel.into(), archived.into()], read);
    };
    let sql = format!(
        "{all} AND (visibility = $4 OR conversation IN (
            SELECT conversation FROM roster WHERE workspace = $1 AND member = $5
        ))"
    );
    let public = Visibility::Public.code();
    let values =
        [workspace.into(), channel.into(), archived.into(), public.into(), viewer.0.into()];
    db.all(&sql, &values, read)
}

pub(crate) fn head(db: &dyn Db, workspace: i64, key: ConversationKey) -> Result<Option<Head>> {
    static SQL: OnceLock<String> = OnceLock::new();
    let sql = SQL.get_or_init(|| heads_sql("AND h.conversation = $2"));
    db.one(sql, &[workspace.into(), key.0.into()], read_head)
}

/// Heads with the start of their logs.
fn heads_sql(which: &str) -> String {
    let columns = HEAD.columns_of("h");
    format!(
        "SELECT {columns}, b.seq FROM head h LEFT JOIN base b ON b.workspace = h.workspace
            AND b.conversation = h.conversation WHERE h.workspace = $1 {which}"
    )
}

/// The number of conversations of a kind.
pub(crate) fn count(db: &dyn Db, workspace: i64, kind: ConversationKind) -> Result<u64> {
    let sql = "SELECT COUNT(*) FROM conversation WHERE workspace = $1 AND kind = $2";
    let count = db.one(sql, &[workspace.into(), kind.code().into()], |row| row.int(0))?;
    Ok(count.unwrap_or_default())
}

/// How many entries all logs have.
pub(crate) fn entries(db: &dyn Db, workspace: i64) -> Result<u64> {
    let sql = "SELECT CAST(COALESCE(SUM(h.seq - COALESCE(b.seq, 0)), 0) AS BIGINT) FROM head h
        LEFT JOIN base b ON b.workspace = h.workspace AND b.conversation = h.conversation
        WHERE h.workspace = $1";
    Ok(db.one(sql, &[workspace.into()], |row| row.int(0))?.unwrap_or_default())
}

/// The newest seq and time of every conversation.
pub(crate) fn heads(db: &dyn Db, workspace: i64) -> Result<Vec<(ConversationKey, Head)>> {
    let sql = heads_sql("ORDER BY h.conversation");
    db.all(&sql, &[workspace.into()], |row| Ok((ConversationKey(row.int(1)?), read_head(row)?)))
}

pub(crate) fn roster(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Vec<(MemberKey, Participation)>> {
    let sql =
        format!("{} WHERE workspace = $1 AND conversation = $2 ORDER BY member", ROSTER.select());
    db.all(&sql, &[workspace.into(), key.0.into()], |row| {
        Ok((MemberKey(row.int(2)?), code(row, 3)?))
    })
}

/// Whether the member belongs to the conversation.
pub(crate) fn sits(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    member: MemberKey,
) -> Result<bool> {
    let sql = "SELECT 1 FROM roster WHERE workspace = $1 AND conversation = $2 AND member = $3";
    let found = db.one(sql, &[workspace.into(), key.0.into(), member.0.into()], |_| Ok(()))?;
    Ok(found.is_some())
}

/// The newest conversation's key, or 0 when there is none.
pub(crate) fn last_key(db: &dyn Db, workspace: i64) -> Result<u64> {
    let sql = "SELECT max(conversation) FROM conversation WHERE workspace = $1";
    Ok(db.one(sql, &[workspace.into()], |row| row.maybe_int(0))?.flatten().unwrap_or(0))
}

/// Every conversation that has a row or a head.
pub(crate) fn keys(db: &dyn Db, workspace: i64) -> Result<Vec<ConversationKey>> {
    let sql = "SELECT conversation FROM conversation WHERE workspace = $1
        UNION SELECT conversation FROM head WHERE workspace = $1 ORDER BY conversation";
    db.all(sql, &[workspace.into()], |row| Ok(ConversationKey(row.int(0)?)))
}

/// Conversations with something open, possibly open, or with a digest that may be due. Their rooms
/// are loaded at the start, so that their deliveries and timers are active.
pub(crate) fn with_open_events(db: &dyn Db, workspace: i64) -> Result<Vec<ConversationKey>> {
    let sql = "SELECT conversation FROM head WHERE workspace = $1 AND settled < seq
        UNION SELECT conversation FROM pending WHERE workspace = $1
        UNION SELECT conversation FROM stimulus WHERE workspace = $1 AND state <= 2
        UNION SELECT conversation FROM schedule WHERE workspace = $1 AND due > 0
        UNION SELECT d.conversation FROM digested d JOIN head h
            ON h.workspace = d.workspace AND h.conversation = d.conversation AND h.seq > d.seq
            JOIN roster r ON r.workspace = d.workspace AND r.conversation = d.conversation
            WHERE d.workspace = $1 AND r.participation = $2
        ORDER BY conversation";
    let follows = Participation::AlwaysListen.code();
    let values = [workspace.into(), follows.into()];
    let mut open = db.all(sql, &values, |row| Ok(ConversationKey(row.int(0)?)))?;
    open.extend(with_silence(db, workspace)?);
    open.sort_unstable();
    open.dedup();
    Ok(open)
}

/// Conversations with threads that are watched for silence.
fn with_silence(db: &dyn Db, workspace: i64) -> Result<Vec<ConversationKey>> {
    let sql = format!(
        "{} WHERE workspace = $1 AND archived = $2 AND length(settings) > 0",
        CONVERSATION.select()
    );
    let all = db.all(&sql, &[workspace.into(), false.into()], read)?;
    Ok(all.iter().filter(|c| c.settings.idle_followup.is_some()).map(|c| c.key).collect())
}

/// Reads the columns of [`CONVERSATION`], which come first.
pub(crate) fn read(row: &dyn Row) -> Result<Conversation> {
    let mut settings = Settings {
        title: row.text(4)?.into(),
        description: row.text(5)?.into(),
        purpose: row.text(6)?.into(),
        visibility: code(row, 7)?,
        stream: row.maybe_int(8)?.map(StreamKey),
        archived: row.flag(9)?,
        lead: row.maybe_int(11)?.map(MemberKey),
        agent_budget: row.maybe_int(12)?,
        keep: row.maybe_int(13)?.map(Keep::from_stored),
        ..Settings::default()
    };
    if let Some(later) = row.maybe_blob(14)? {
        codec::read_later_settings(later, &mut settings)
            .map_err(|e| Error::corrupt(e.to_string()))?;
    }
    Ok(Conversation {
        key: ConversationKey(row.int(1)?),
        uid: uid(row, 2)?,
        kind: code(row, 3)?,
        settings,
        created_at: Timestamp(row.int(10)?),
    })
}

fn read_head(row: &dyn Row) -> Result<Head> {
    Ok(Head {
        seq: Seq(row.int(2)?),
        hash: row.array(3)?,
        version: row.int(4)?,
        settled: Seq(row.int(5)?),
        last_at: Timestamp(row.int(6)?),
        unattended: row.int(7)?,
        base: Seq(row.maybe_int(8)?.unwrap_or(0)),
    })
}

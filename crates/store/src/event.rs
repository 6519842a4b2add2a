//! The log: one row per event, appended and never changed except by erasure.

use std::collections::HashMap;
use std::sync::Arc;

use chorus_core::codec::{self, Coded};
use chorus_core::model::event::{Event, Hash, Idempotency};
use chorus_core::model::ids::{
    ConversationKey, EventRef, MemberKey, Seq, SessionKey, ThreadKey, Timestamp, Uid,
};
use chorus_core::model::limits;
use chorus_core::model::member::MemberKind;

use crate::db::{Db, Error, Result, Row, Table};
use crate::family::Family;
use crate::row::uid;
use crate::schema::Since;

pub(crate) static EVENT: Table = Table::new(
    "event",
    3,
    &[
        "workspace",
        "conversation",
        "seq",
        "uid",
        "at",
        "actor",
        "session",
        "thread",
        "tseq",
        "kind",
        "reply_to",
        "cause_conversation",
        "cause_seq",
        "hop",
        "told",
        "idem",
        "content_hash",
        "hash",
        "salt",
        "body",
    ],
)
.trimmed_where("seq <= $3");

pub(crate) static FAMILY: Family = Family::of(Since::FIRST, &[&EVENT]);

/// Idempotency keys read at a time while a room is loaded.
const PAGE: usize = limits::IDEMPOTENCY_NEWEST;

pub(crate) fn append(db: &dyn Db, workspace: i64, event: &Event) -> Result<()> {
    let body = codec::body(&event.change);
    let told = event.attention.as_deref().map(codec::attention);
    let idem = event.idempotency.map(join);
    db.insert(
        &EVENT,
        &[
            workspace.into(),
            event.conversation.0.into(),
            event.seq.0.into(),
            (&event.uid.0.to_be_bytes()).into(),
            event.at.0.into(),
            event.actor.0.into(),
            event.session.map(|s| s.0).into(),
            event.thread.map(|t| t.0).into(),
            event.thread_seq.into(),
            event.change.code().into(),
            event.reply_to.map(|s| s.0).into(),
            event.cause.map(|c| c.conversation.0).into(),
            event.cause.map(|c| c.seq.0).into(),
            event.hop.into(),
            told.as_deref().into(),
            idem.as_ref().into(),
            (&event.content_hash).into(),
            (&event.hash).into(),
            event.salt.as_ref().into(),
            (&*body).into(),
        ],
    )
}

/// The seq, in the conversation, of a thread's newest message at or before this seq of the thread,
/// counting only messages. Both seqs increase together, and the thread's is never greater, so a
/// binary search finds it.
pub(crate) fn in_thread(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    thread: ThreadKey,
    thread_seq: u64,
) -> Result<Seq> {
    let sql = "SELECT seq, tseq FROM event
        WHERE workspace = $1 AND conversation = $2 AND thread = $3 AND seq > $4 AND tseq > 0
        ORDER BY seq LIMIT 1";
    let next = |after: u64| {
        let values = [workspace.into(), key.0.into(), thread.0.into(), after.into()];
        db.one(sql, &values, |row| Ok((row.int::<u64>(0)?, row.int::<u64>(1)?)))
    };
    // Nothing of the thread comes before its own event, and no message before its seq.
    let (mut at, mut step) = (thread_seq.max(thread.0), 1);
    let is_before = |found: Option<(u64, u64)>| found.is_some_and(|(_, t)| t <= thread_seq);
    if thread_seq == 0 || !is_before(next(thread.0)?) {
        return Ok(Seq(thread.0));
    }
    // The first message after `low` matches; the one after `high` does not.
    let mut low = thread.0;
    let mut high = loop {
        match next(at)? {
            Some((seq, t)) if t <= thread_seq => {
                low = at.max(low);
                at = seq.saturating_add(step);
                step *= 2;
            }
            _ => break at,
        }
    };
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match is_before(next(middle)?) {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(Seq(high))
}

/// Rewrites the event without its content. Later readers find the salt missing; the chain covers
/// the content's hash, which stays.
pub(crate) fn erase(db: &dyn Db, workspace: i64, at: EventRef) -> Result<()> {
    let key = [workspace.into(), at.conversation.0.into(), at.seq.0.into()];
    let Some(event) = db.get(&EVENT, &key, read)? else { return Ok(()) };
    let erased = event.erased();
    let body = codec::body(&erased.change);
    let idem = erased.idempotency.map(join);
    let sql = "UPDATE event SET salt = NULL, body = $1, idem = $2
        WHERE workspace = $3 AND conversation = $4 AND seq = $5";
    let values = [
        (&*body).into(),
        idem.as_ref().into(),
        workspace.into(),
        at.conversation.0.into(),
        at.seq.0.into(),
    ];
    db.execute(sql, &values).map(drop)
}

/// The later events that still carry words of this message.
pub(crate) fn versions(db: &dyn Db, workspace: i64, message: EventRef) -> Result<Vec<Seq>> {
    let sql = format!(
        "{} WHERE workspace = $1 AND conversation = $2 AND seq > $3 AND kind IN (6, 8, 16)
        AND salt IS NOT NULL ORDER BY seq",
        EVENT.select()
    );
    let values = [workspace.into(), message.conversation.0.into(), message.seq.0.into()];
    let mut found = Vec::new();
    db.query(&sql, &values, &mut |row| {
        let (seq, code) = (Seq(row.int(2)?), row.int(9)?);
        let change = codec::read_body(code, row.blob(19)?)?;
        found.extend(Some(seq).filter(|seq| change.is_version_of(*seq, message.seq)));
        Ok(())
    })?;
    Ok(found)
}

pub(crate) fn get(db: &dyn Db, workspace: i64, at: EventRef) -> Result<Option<Event>> {
    db.get(&EVENT, &[workspace.into(), at.conversation.0.into(), at.seq.0.into()], checked)
}

/// The hash of an event, when there is one.
pub(crate) fn hash_of(db: &dyn Db, workspace: i64, at: EventRef) -> Result<Option<Hash>> {
    let key = [workspace.into(), at.conversation.0.into(), at.seq.0.into()];
    db.get(&EVENT, &key, |row| row.array(17))
}

pub(crate) fn find(db: &dyn Db, workspace: i64, uid: Uid) -> Result<Option<EventRef>> {
    let sql = "SELECT conversation, seq FROM event WHERE workspace = $1 AND uid = $2";
    db.one(sql, &[workspace.into(), (&uid.0.to_be_bytes()).into()], |row| {
        Ok(EventRef { conversation: ConversationKey(row.int(0)?), seq: Seq(row.int(1)?) })
    })
}

/// At most `limit` events after `seq`, in order.
pub(crate) fn after(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    seq: Seq,
    limit: usize,
) -> Result<Vec<Arc<Event>>> {
    let mut found = Vec::new();
    each_after(db, workspace, key, seq, limit, &mut |event| {
        found.push(Arc::new(event?));
        Ok(())
    })?;
    Ok(found)
}

/// The same, without events that are unreadable or whose content does not match its hash.
pub(crate) fn readable_after(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    seq: Seq,
    limit: usize,
) -> Result<Vec<Arc<Event>>> {
    let mut found = Vec::new();
    each_after(db, workspace, key, seq, limit, &mut |event| {
        match event {
            Err(Error::Corrupt(_)) => {}
            event => found.push(Arc::new(event?)),
        }
        Ok(())
    })?;
    Ok(found)
}

fn each_after(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    seq: Seq,
    limit: usize,
    each: &mut dyn FnMut(Result<Event>) -> Result<()>,
) -> Result<()> {
    let sql = format!(
        "{} WHERE workspace = $1 AND conversation = $2 AND seq > $3 ORDER BY seq LIMIT $4",
        EVENT.select()
    );
    let values = [workspace.into(), key.0.into(), seq.0.into(), (limit as u64).into()];
    db.query(&sql, &values, &mut |row| each(checked(row)))
}

/// At most `limit` events of a thread after `seq`, in order.
pub(crate) fn of_thread(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    thread: ThreadKey,
    seq: Seq,
    limit: usize,
) -> Result<Vec<Arc<Event>>> {
    let sql = format!(
        "{} WHERE workspace = $1 AND conversation = $2 AND thread = $3 AND seq > $4
        ORDER BY seq LIMIT $5",
        EVENT.select()
    );
    let (limit, key) = ((limit as u64).into(), key.0.into());
    let values = [workspace.into(), key, thread.0.into(), seq.0.into(), limit];
    db.all(&sql, &values, |row| checked(row).map(Arc::new))
}

/// The events about the work of a thread, in order.
pub(crate) fn of_work(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    thread: ThreadKey,
) -> Result<Vec<Arc<Event>>> {
    let sql = format!(
        "{} WHERE workspace = $1 AND conversation = $2 AND thread = $3 AND kind IN (15, 16)
        ORDER BY seq",
        EVENT.select()
    );
    let values = [workspace.into(), key.0.into(), thread.0.into()];
    db.all(&sql, &values, |row| checked(row).map(Arc::new))
}

/// Who answered which event of a conversation, and when first, from the messages' causes.
pub(crate) fn answers(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<HashMap<(Seq, MemberKey), Timestamp>> {
    let sql = "SELECT cause_seq, actor, min(at) FROM event
        WHERE workspace = $1 AND conversation = $2 AND cause_conversation = $2 AND kind = 5
        GROUP BY cause_seq, actor";
    let found = db.all(sql, &[workspace.into(), key.0.into()], |row| {
        Ok(((Seq(row.int(0)?), MemberKey(row.int(1)?)), Timestamp(row.int(2)?)))
    })?;
    Ok(found.into_iter().collect())
}

/// The number of messages that people have posted since a time, and the number of agents' answers.
/// Time never goes back in a log, so a binary search finds the first event.
pub(crate) fn posted_since(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    (base, end): (Seq, Seq),
    since: Timestamp,
) -> Result<(u64, u64)> {
    let (mut low, mut high) = (base.0 + 1, end.0 + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        let values = [workspace.into(), key.0.into(), middle.into()];
        let at = db.get(&EVENT, &values, |row| row.int::<i64>(4))?;
        match at.is_none_or(|at| at < since.0) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    let sql = "SELECT count(*) FILTER (WHERE e.hop = 0 AND m.kind = $4),
            count(*) FILTER (WHERE e.hop > 0 AND e.cause_seq IS NOT NULL)
        FROM event e JOIN member m ON m.workspace = e.workspace AND m.member = e.actor
        WHERE e.workspace = $1 AND e.conversation = $2 AND e.seq >= $3 AND e.kind = 5";
    let human = i64::from(MemberKind::Human.code());
    let values = [workspace.into(), key.0.into(), low.into(), human.into()];
    Ok(db.one(sql, &values, |row| Ok((row.int(0)?, row.int(1)?)))?.unwrap_or_default())
}

/// The public id of an event, when there is one.
pub(crate) fn uid_of(db: &dyn Db, workspace: i64, at: EventRef) -> Result<Option<Uid>> {
    let key = [workspace.into(), at.conversation.0.into(), at.seq.0.into()];
    db.get(&EVENT, &key, |row| uid(row, 3))
}

/// The time of the oldest event that is kept.
pub(crate) fn oldest(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Option<Timestamp>> {
    let sql = "SELECT at FROM event WHERE workspace = $1 AND conversation = $2
        ORDER BY seq LIMIT 1";
    db.one(sql, &[workspace.into(), key.0.into()], |row| Ok(Timestamp(row.int(0)?)))
}

/// The idempotency keys of the window before `now`, and those of the newest entries whatever their
/// time, oldest first.
pub(crate) fn sent(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    now: Timestamp,
) -> Result<Vec<(Timestamp, [u8; 16], Seq)>> {
    let from = now.plus(-limits::IDEMPOTENCY_MS);
    let sql = "SELECT seq, at, idem FROM event
        WHERE workspace = $1 AND conversation = $2 AND seq < $3 ORDER BY seq DESC LIMIT $4";
    let mut found = Vec::new();
    let mut before = i64::MAX;
    loop {
        let newest = before == i64::MAX;
        let values = [workspace.into(), key.0.into(), before.into(), (PAGE as u64).into()];
        let page = db.all(sql, &values, |row| {
            let idem = row.maybe_blob(2)?.map(split).transpose()?;
            Ok((Seq(row.int(0)?), Timestamp(row.int(1)?), idem))
        })?;
        let ended = page.len() < PAGE || page.last().is_none_or(|(_, at, _)| *at < from);
        before = page.last().map_or(0, |(seq, ..)| seq.0 as i64);
        let keyed = page.into_iter().filter(|(_, at, _)| newest || *at >= from);
        found.extend(keyed.filter_map(|(seq, at, idem)| Some((at, idem?.key, seq))));
        if ended || found.len() >= limits::IDEMPOTENCY_KEYS {
            found.reverse();
            return Ok(found);
        }
    }
}

/// As [`read`], and checks that the content matches its hash, so that a change by the disk is found
/// before anybody sees it.
pub(crate) fn checked(row: &dyn Row) -> Result<Event> {
    let event = read(row)?;
    let whole = match &event.salt {
        Some(salt) => Event::content_hash(salt, row.blob(19)?) == event.content_hash,
        None => event.change == event.change.blank(),
    };
    if !whole {
        let (seq, conversation) = (event.seq, event.conversation);
        let what = "does not match its hash";
        let what = format!("the content of event {seq} in conversation {conversation} {what}");
        return Err(Error::corrupt(what));
    }
    Ok(event)
}

/// Reads all columns of [`EVENT`] in their order.
pub(crate) fn read(row: &dyn Row) -> Result<Event> {
    let at = EventRef { conversation: ConversationKey(row.int(1)?), seq: Seq(row.int(2)?) };
    let damaged = |what: &str| {
        let EventRef { conversation, seq } = at;
        Error::corrupt(format!("{what} of event {seq} in conversation {conversation}"))
    };
    let body = row.maybe_blob(19)?.ok_or_else(|| damaged("the missing body"))?;
    let change = codec::read_body(row.int(9)?, body).map_err(|_| damaged("the body"))?;
    let told = row.maybe_blob(14)?.map(codec::read_attention);
    let attention = told.transpose().map_err(|_| damaged("who was told"))?;
    let cause = match (row.maybe_int(11)?, row.maybe_int(12)?) {
        (Some(conversation), Some(seq)) => {
            Some(EventRef { conversation: ConversationKey(conversation), seq: Seq(seq) })
        }
        (None, None) => None,
        _ => return Err(damaged("the cause")),
    };
    Ok(Event {
        conversation: at.conversation,
        seq: at.seq,
        uid: uid(row, 3)?,
        at: Timestamp(row.int(4)?),
        actor: MemberKey(row.int(5)?),
        session: row.maybe_int(6)?.map(SessionKey),
        thread: row.maybe_int(7)?.map(ThreadKey),
        thread_seq: row.int(8)?,
        reply_to: row.maybe_int(10)?.map(Seq),
        cause,
        hop: row.int(13)?,
        idempotency: row.maybe_blob(15)?.map(split).transpose()?,
        attention: attention.map(Arc::new),
        change,
        salt: row.maybe_array(18)?,
        content_hash: row.array(16)?,
        hash: row.array(17)?,
    })
}

fn join(idempotency: Idempotency) -> [u8; 32] {
    let mut both = [0; 32];
    both[..16].copy_from_slice(&idempotency.key);
    both[16..].copy_from_slice(&idempotency.payload);
    both
}

fn split(both: &[u8]) -> Result<Idempotency> {
    let (key, payload) = both.split_at_checked(16).unwrap_or_default();
    match (key.try_into(), payload.try_into()) {
        (Ok(key), Ok(payload)) => Ok(Idempotency { key, payload }),
        _ => Err(Error::corrupt("an idempotency key that is not 32 bytes")),
    }
}

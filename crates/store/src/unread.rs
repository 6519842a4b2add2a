//! Unread messages of a member, over all conversations that it belongs to.
//!
//! Two statements, however many conversations: the memberships with their heads and cursors, and
//! the newest messages after those cursors. Where everything is read no event is examined, and
//! elsewhere at most [`COUNTED`].

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use chorus_core::codec;
use chorus_core::model::attention::Directedness;
use chorus_core::model::conversation::Conversation;
use chorus_core::model::cursor::ReadCursor;
use chorus_core::model::ids::{ConversationKey, MemberKey, Seq, ThreadKey, Timestamp};

use crate::conversation::{self, CONVERSATION};
use crate::db::{Db, Result};
use crate::{event, read_cursor};

/// Newest entries of a log that are counted. Larger numbers are of no use to a reader.
const COUNTED: u64 = 200;

/// A conversation as a member's overview shows it.
#[derive(Clone, Debug)]
pub struct Unread {
    pub conversation: Arc<Conversation>,
    pub last: Seq,
    pub last_at: Timestamp,
    pub read: Seq,
    /// Messages of others among the newest [`COUNTED`] entries.
    pub messages: u32,
    /// How many of them were meant for the member or one of its roles.
    pub mentions: u32,
    /// Whether there are older unread messages.
    pub more: bool,
}

/// By conversation, in order of creation.
pub(crate) fn of_member(db: &dyn Db, workspace: i64, member: MemberKey) -> Result<Vec<Unread>> {
    static SEATS: OnceLock<String> = OnceLock::new();
    let sql = SEATS.get_or_init(|| {
        let columns = CONVERSATION.columns_of("c");
        format!(
            "SELECT {columns}, h.seq, h.last_at, COALESCE(m.read, 0) {FROM}
            WHERE r.workspace = $1 AND r.member = $2 ORDER BY c.conversation"
        )
    });
    let own = CONVERSATION.columns.len();
    let mut seats = db.all(sql, &[workspace.into(), member.0.into()], |row| {
        let (last, read) = (Seq(row.int(own)?), Seq(row.int(own + 2)?));
        Ok(Unread {
            conversation: Arc::new(conversation::read(row)?),
            last,
            last_at: Timestamp(row.int(own + 1)?),
            read,
            messages: 0,
            mentions: 0,
            more: last.0.saturating_sub(COUNTED) > read.0,
        })
    })?;
    let counts = counts(db, workspace, member)?;
    for seat in &mut seats {
        if let Some((messages, mentions)) = counts.get(&seat.conversation.key) {
            (seat.messages, seat.mentions) = (*messages, *mentions);
        }
    }
    Ok(seats)
}

/// Messages of others after a member's cursor in a thread that are visible to all and not deleted;
/// at most [`COUNTED`].
pub(crate) fn in_thread(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    thread: ThreadKey,
    member: MemberKey,
) -> Result<(ReadCursor, u32)> {
    let cursor = read_cursor::get(db, workspace, key, (member, Some(thread)))?;
    let behind = event::in_thread(db, workspace, key, thread, cursor.read.0)?;
    let sql = format!(
        "SELECT e.seq FROM event e
        LEFT JOIN message s ON s.workspace = e.workspace
            AND s.conversation = e.conversation AND s.seq = e.seq
        WHERE e.workspace = $1 AND e.conversation = $2 AND e.thread = $3 AND e.seq > $4
            AND e.kind = 5 AND e.tseq > 0 AND e.actor <> $5 AND s.deleted_at IS NULL
        LIMIT {COUNTED}"
    );
    let values =
        [workspace.into(), key.0.into(), thread.0.into(), behind.0.into(), member.0.into()];
    let found: Vec<u64> = db.all(&sql, &values, |row| row.int(0))?;
    Ok((cursor, found.len() as u32))
}

/// A member's memberships with their conversations, heads and cursors.
const FROM: &str = "FROM roster r
    JOIN conversation c ON c.workspace = r.workspace AND c.conversation = r.conversation
    JOIN head h ON h.workspace = r.workspace AND h.conversation = r.conversation
    LEFT JOIN mark m ON m.workspace = r.workspace AND m.member = r.member
        AND m.conversation = r.conversation";

/// Messages, and those meant for the member, by conversation.
fn counts(
    db: &dyn Db,
    workspace: i64,
    member: MemberKey,
) -> Result<HashMap<ConversationKey, (u32, u32)>> {
    static SQL: OnceLock<String> = OnceLock::new();
    let sql = SQL.get_or_init(|| {
        format!(
            "SELECT e.conversation, COALESCE(n.told, e.told) {FROM}
            JOIN event e ON e.workspace = r.workspace AND e.conversation = r.conversation
                AND e.seq > CASE WHEN COALESCE(m.read, 0) > h.seq - {COUNTED}
                    THEN COALESCE(m.read, 0) ELSE h.seq - {COUNTED} END
            LEFT JOIN message s ON s.workspace = e.workspace
                AND s.conversation = e.conversation AND s.seq = e.seq
            LEFT JOIN event n ON n.workspace = s.workspace
                AND n.conversation = s.conversation AND n.seq = s.latest
            LEFT JOIN thread_mark t ON t.workspace = e.workspace AND t.member = r.member
                AND t.conversation = e.conversation AND t.thread = e.thread
            WHERE r.workspace = $1 AND r.member = $2 AND h.seq > COALESCE(m.read, 0)
                AND e.kind = 5 AND e.actor <> $2 AND s.deleted_at IS NULL
                AND (e.tseq = 0 OR e.tseq > COALESCE(t.read, 0))"
        )
    });
    let mut counts: HashMap<ConversationKey, (u32, u32)> = HashMap::new();
    db.query(sql, &[workspace.into(), member.0.into()], &mut |row| {
        let told = row.maybe_blob(1)?.map(codec::read_attention).transpose()?;
        if told.as_ref().is_some_and(|told| !told.is_shown_to(member)) {
            return Ok(());
        }
        let (messages, mentions) = counts.entry(ConversationKey(row.int(0)?)).or_default();
        *messages += 1;
        let meant = |how| matches!(how, Directedness::ToMe | Directedness::ToMyRole);
        let is_meant = told.is_some_and(|told| {
            told.told.iter().any(|t| t.member == member && meant(t.decision.directedness))
        });
        *mentions += u32::from(is_meant);
        Ok(())
    })?;
    Ok(counts)
}

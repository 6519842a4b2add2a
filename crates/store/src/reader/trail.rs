//! The actions in conversations, read from their logs for the audit: who, when and what kind, never
//! what was said.

use chorus_core::model::event::Change;
use chorus_core::model::ids::{
    ConversationKey, EventRef, MemberKey, Seq, SessionKey, Timestamp, Uid,
};

use crate::db::{Db, Result};
use crate::row::uid;

/// Rows read at a time.
const PAGE: u64 = 1_000;

/// One entry of a conversation's log, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    pub uid: Uid,
    pub at: Timestamp,
    pub event: EventRef,
    pub by: MemberKey,
    pub session: Option<SessionKey>,
    /// The change's name.
    pub kind: &'static str,
}

/// At most `limit` matching entries after the id `after`, over all conversations. Ids sort by time.
pub(super) fn trail(
    db: &dyn Db,
    workspace: i64,
    after: Uid,
    limit: usize,
    wanted: &dyn Fn(&Trace) -> bool,
) -> Result<Vec<Trace>> {
    let sql = "SELECT uid, at, conversation, seq, actor, session, kind FROM event
        WHERE workspace = $1 AND uid > $2 ORDER BY uid LIMIT $3";
    let (mut after, mut found) = (after, Vec::new());
    loop {
        let id = after.0.to_be_bytes();
        let page = db.all(sql, &[workspace.into(), (&id).into(), PAGE.into()], |row| {
            Ok(Trace {
                uid: uid(row, 0)?,
                at: Timestamp(row.int(1)?),
                event: EventRef {
                    conversation: ConversationKey(row.int(2)?),
                    seq: Seq(row.int(3)?),
                },
                by: MemberKey(row.int(4)?),
                session: row.maybe_int(5)?.map(SessionKey),
                kind: Change::name_of(row.int(6)?),
            })
        })?;
        let more = page.len() as u64 == PAGE;
        after = page.last().map_or(after, |trace| trace.uid);
        found.extend(page.into_iter().filter(|trace| wanted(trace)));
        if found.len() >= limit || !more {
            found.truncate(limit);
            return Ok(found);
        }
    }
}

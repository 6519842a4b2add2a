//! A channel's feed: its subjects, newest first, each with its thread.

use std::sync::Arc;

use chorus_core::model::event::Change;
use chorus_core::model::ids::{ConversationKey, EventRef, Seq, Uid};
use chorus_core::model::thread::Thread;

use super::entries::{self, Line, Page, Start, StoredEntry};
use crate::db::{Db, Result};
use crate::{event, thread};

/// One entry of a feed.
#[derive(Clone, Debug)]
pub struct FeedEntry {
    /// A message that opened a subject, the opening of a thread without one, or a promotion.
    pub stored: StoredEntry,
    /// The promoted message.
    pub promoted: Option<StoredEntry>,
    pub thread: Option<Arc<Thread>>,
    /// The thread's root message.
    pub root: Option<Uid>,
}

/// At most `limit` entries before a seq, newest first, and where to continue when there are more.
pub(super) fn feed(
    db: &dyn Db,
    workspace: i64,
    conversation: ConversationKey,
    before: Option<Seq>,
    limit: usize,
) -> Result<(Vec<FeedEntry>, Option<Seq>)> {
    let mut start = before.map_or(Start::Newest, Start::Before);
    let mut found = Vec::new();
    loop {
        let page = Page { conversation, line: Line::Feed, start, limit: limit.max(1) };
        let Some((stored, more)) = entries::page(db, workspace, &page)? else { break };
        let oldest = stored.first().map(|s| s.entry.event.seq);
        for stored in stored.into_iter().rev().filter(stands) {
            if found.len() == limit {
                let last = found.last().map(|entry: &FeedEntry| entry.stored.entry.event.seq);
                return Ok((found, last));
            }
            found.push(entry(db, workspace, stored)?);
        }
        match oldest.filter(|_| more) {
            Some(oldest) if found.len() < limit => start = Start::Before(oldest),
            next => return Ok((found, next)),
        }
    }
    Ok((found, None))
}

/// Ephemeral messages are in no feed, and a thread with a root message appears as that message.
fn stands(stored: &StoredEntry) -> bool {
    let event = &stored.entry.event;
    let rooted = matches!(&event.change, Change::ThreadOpened(opening) if opening.root.is_some());
    event.only().is_none() && !rooted
}

fn entry(db: &dyn Db, workspace: i64, stored: StoredEntry) -> Result<FeedEntry> {
    let event = stored.entry.event.clone();
    let key = event.conversation;
    let at = |seq| EventRef { conversation: key, seq };
    let thread = match &event.change {
        Change::Posted(_) => thread::by_root(db, workspace, key, event.seq)?.map(Arc::new),
        Change::ThreadOpened(opening) => {
            thread::by_uid(db, workspace, opening.uid)?.map(|(_, thread)| Arc::new(thread))
        }
        _ => stored.entry.thread.clone(),
    };
    let promoted = match event.change.about() {
        Some(seq) => entries::one(db, workspace, at(seq))?,
        None => None,
    };
    let root = match thread.as_ref().and_then(|thread| thread.root) {
        Some(seq) => event::get(db, workspace, at(seq))?.map(|event| event.uid),
        None => None,
    };
    Ok(FeedEntry { stored, promoted, thread, root })
}

//! Pages of talk as a viewer is shown them. An auditor, who is no viewer, is shown everything.

use chorus_core::model::error::Refusal;
use chorus_core::model::event::{Change, Message};
use chorus_core::model::ids::{ConversationKey, EventRef, MemberKey, Seq, ThreadKey};
use chorus_store::db::Error;
use chorus_store::reader::Start;
use chorus_store::{Line, Readers, StoredEntry};

use crate::view::messages::Shown;

/// No member has this key: what it is shown, everybody is.
pub(super) const NOBODY: MemberKey = MemberKey::HOST;
/// Messages in one answer, unless the caller says.
pub(super) const PAGE: u32 = 50;
/// Most messages in one answer.
pub(super) const LONGEST_PAGE: u32 = 200;
/// Bytes of their content in one answer. A tool gives it twice, as text and as data, and the official clients take at
/// most 1 MiB at once.
pub(super) const PAGE_BYTES: usize = 256 * 1024;
/// About what it takes to say that one member was told.
const TOLD_BYTES: usize = 96;

/// Which part of a line of talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    After(Seq),
    Before(Seq),
    Newest,
}

/// Messages, oldest first.
#[derive(Default)]
pub(super) struct Page {
    pub shown: Vec<Shown>,
    /// Whether there are more in the direction of reading.
    pub more: bool,
}

/// Takes away what is too long for one answer, at the end that is read last; the first stays however long it is.
/// Returns whether anything was taken away.
pub(super) fn fit<T>(entries: &mut Vec<T>, forwards: bool, bytes: impl Fn(&T) -> usize) -> bool {
    let mut left = PAGE_BYTES;
    let mut fits = |entry: &T| {
        let room = left.checked_sub(bytes(entry));
        left = room.unwrap_or(0);
        room.is_some()
    };
    let fitting = match forwards {
        true => entries.iter().take_while(|entry| fits(entry)).count(),
        false => entries.iter().rev().take_while(|entry| fits(entry)).count(),
    };
    let surplus = entries.len().saturating_sub(fitting.max(1));
    match forwards {
        true => entries.truncate(entries.len() - surplus),
        false => drop(entries.drain(..surplus)),
    }
    surplus > 0
}

/// How long it is when it is shown.
pub(super) fn bytes(stored: &StoredEntry) -> usize {
    let event = &stored.entry.event;
    let said = stored.content.as_ref().or_else(|| event.change.message());
    let told = event.attention.as_ref().map_or(0, |attention| attention.told.len());
    said.map_or(0, Message::bytes) + told * TOLD_BYTES
}

impl Range {
    pub(super) fn of(after: Option<u64>, before: Option<u64>) -> Result<Self, Refusal> {
        match (after, before) {
            (Some(_), Some(_)) => Err(Refusal::invalid("read after a seq or before one, not both")),
            (Some(seq), None) => Ok(Self::After(Seq(seq))),
            (None, Some(seq)) => Ok(Self::Before(Seq(seq))),
            (None, None) => Ok(Self::Newest),
        }
    }
}

/// Messages of a conversation, or of one thread of it with its root before them.
pub(super) fn page(
    readers: &Readers,
    viewer: Option<MemberKey>,
    (key, thread): (ConversationKey, Option<ThreadKey>),
    range: Range,
    limit: usize,
) -> Result<Page, Error> {
    let start = match range {
        Range::After(seq) => Start::After(seq),
        Range::Before(seq) => Start::Before(seq),
        Range::Newest => Start::Newest,
    };
    let line = thread.map_or(Line::Messages, Line::Thread);
    let asked = chorus_store::Page { conversation: key, line, start, limit };
    let (entries, mut more, _) = visible(readers, viewer, asked)?;
    let mut shown: Vec<_> = entries.into_iter().filter_map(posted).collect();
    // Read forwards a thread begins with its root; read backwards the root comes last, on the page that has room for it.
    let forwards = range == Range::After(Seq(0));
    let from_start = forwards || (!more && !matches!(range, Range::After(_)));
    let root = match thread.filter(|_| from_start) {
        Some(thread) => root(readers, key, thread)?,
        None => None,
    };
    if let Some(root) = root {
        let is_full = shown.len() >= limit;
        if is_full && forwards {
            shown.truncate(limit - 1);
        }
        more |= is_full;
        if forwards || !is_full {
            shown.insert(0, root);
        }
    }
    Ok(Page { shown, more })
}

/// A page of what the viewer is shown, whether there is more, and the entry farthest in its direction that was
/// looked at. Others' ephemeral messages, and what is about them, are passed over here and nowhere else; a page
/// has something in it as long as there is something.
pub(super) fn visible(
    readers: &Readers,
    viewer: Option<MemberKey>,
    mut asked: chorus_store::Page,
) -> Result<(Vec<StoredEntry>, bool, Option<Seq>), Error> {
    loop {
        let (mut entries, mut more) = readers.entries(&asked)?.unwrap_or_default();
        let forwards = matches!(asked.start, Start::After(_));
        more |= fit(&mut entries, forwards, bytes);
        let last = if forwards { entries.last() } else { entries.first() };
        let upto = last.map(|stored| stored.entry.event.seq);
        entries.retain(|stored| is_shown(viewer, stored));
        match upto {
            Some(seq) if entries.is_empty() && more => {
                asked.start = if forwards { Start::After(seq) } else { Start::Before(seq) };
            }
            _ => return Ok((entries, more, upto)),
        }
    }
}

/// Whether the viewer is shown this entry; an auditor, who is none, is shown everything.
pub(super) fn is_shown(viewer: Option<MemberKey>, stored: &StoredEntry) -> bool {
    viewer.is_none_or(|member| stored.entry.event.is_shown_to(member))
}

/// A message as it is now; none when the event posted none.
pub(super) fn posted(stored: StoredEntry) -> Option<Shown> {
    let StoredEntry { entry, state, content } = stored;
    if !matches!(entry.event.change, Change::Posted(_)) {
        return None;
    }
    Some(Shown {
        conversation: entry.conversation,
        event: entry.event,
        thread: entry.thread.map(|t| t.uid),
        reply_to: entry.reply_to,
        replaces: None,
        edited: state.latest.and(content),
        state,
    })
}

pub(super) fn root(
    readers: &Readers,
    conversation: ConversationKey,
    thread: ThreadKey,
) -> Result<Option<Shown>, Error> {
    let root = readers.thread_by_key(conversation, thread)?.and_then(|t| t.root);
    match root {
        Some(seq) => Ok(readers.entry_at(EventRef { conversation, seq })?.and_then(posted)),
        None => Ok(None),
    }
}

/// How many the caller wants, within what there may be.
pub(super) fn limit(asked: Option<u32>) -> Result<usize, Refusal> {
    match asked.unwrap_or(PAGE) {
        0 => Err(Refusal::invalid("limit is at least 1")),
        n => Ok(n.min(LONGEST_PAGE) as usize),
    }
}

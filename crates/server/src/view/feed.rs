//! A channel's feed.

use chorus_core::model::budget::Budgets;
use chorus_core::model::event::{Change, Promotion};
use chorus_core::model::ids::Prefix;
use chorus_core::state::directory::Directory;
use chorus_store::FeedEntry;
use chorus_wire::rest::feed::{Entry, EntryKind};

use super::messages::{self, Shown};
use super::{conversations, thread_work};

/// One entry; `message` is the subject's or the one that is promoted.
pub(crate) fn entry(
    directory: &Directory,
    budgets: &Budgets,
    found: &FeedEntry,
    message: Option<&Shown>,
) -> Entry {
    let event = &found.stored.entry.event;
    let (kind, text) = match &event.change {
        Change::Promoted(Promotion::Result { text }) => {
            (EntryKind::ResultSummary, Some(text.to_string()))
        }
        Change::Promoted(Promotion::Message { note, .. }) => {
            (EntryKind::Promotion, note.as_deref().map(str::to_owned))
        }
        _ => (EntryKind::Subject, None),
    };
    let (conversation, thread) = (&found.stored.entry.conversation, found.thread.as_deref());
    let show = |t| conversations::thread(directory, budgets, conversation, t, found.root);
    let latest = thread.and_then(|t| t.work.latest());
    Entry {
        kind,
        event_id: event.uid.show(Prefix::Event),
        seq: event.seq.0,
        actor: messages::speaker(directory, conversation, event).into(),
        created_at: event.at.into(),
        message: message.map(|shown| messages::message(directory, shown)),
        text,
        thread: thread.map(show),
        replies: thread.map_or(0, |t| t.last_seq),
        last_activity: thread.map_or(event.at, |t| t.updated_at).into(),
        progress: latest.map(|progress| thread_work::progress(directory, progress)),
    }
}

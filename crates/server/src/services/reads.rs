//! Reading what the caller may see. Every reader of the store goes through here, off the threads that serve
//! requests.
//!
//! A conversation that the caller may not see is as unknown as one that does not exist. Readers never feed a
//! decision.

use std::sync::{Arc, PoisonError, RwLock};

use chorus_core::model::conversation::{Conversation, ConversationKind};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Event;
use chorus_core::model::ids::{ConversationKey, EventRef, MemberKey, Prefix, Seq, ThreadKey, Uid};
use chorus_core::state::room::Head;
use chorus_store::db::Error;
use chorus_store::reader::Start;
use chorus_store::{Line, Readers};
use hashlink::LruCache;

use super::answered::{self, Read};
use super::clock::HostClock;
use super::pages::{self, Page, Range, is_shown, posted, visible};
use crate::auth::Caller;
use crate::dispatch::channel_count::ChannelCount;
use crate::view::messages::Shown;

/// Entries of one memory; about 50 bytes each.
const KNOWN: usize = 100_000;

/// What is known of things by their public id, and never changes.
pub(crate) struct Known<T>(RwLock<LruCache<Uid, T>>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(RwLock::new(LruCache::new(KNOWN)))
    }
}

/// A conversation that the caller may see, and the end of its log.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub conversation: Arc<Conversation>,
    pub head: Head,
}

/// One entry of a log, as it is shown.
pub(super) struct Logged {
    pub conversation: Arc<Conversation>,
    pub event: Arc<Event>,
    pub thread: Option<Uid>,
    /// The message it posts or is about, as it is now.
    pub about: Option<Shown>,
}

/// Reads of the store, off the threads that serve requests.
pub(crate) struct Reads {
    pub(super) channel_count: Arc<ChannelCount>,
    pub(super) clock: Arc<HostClock>,
    pub(super) kinds: Known<ConversationKind>,
    pub(super) readers: Readers,
}

impl Reads {
    /// Runs a read where it may take its time.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Readers) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Refusal> {
        let read: Read = Box::new(|readers| Ok(Box::new(read(readers)?)));
        let value = answered::read(self.readers.together(), read).await?;
        value.downcast().map(|value| *value).map_err(|_| answered::mistaken())
    }

    /// Does the work of a request, and returns when all that it may have read is on disk.
    pub(crate) async fn answered<T>(&self, work: impl Future<Output = T>) -> Result<T, Refusal> {
        answered::answered(&self.readers, work).await
    }

    /// The conversation, when the caller may see it.
    pub(crate) async fn place(&self, caller: &Caller, uid: Uid) -> Result<Place, Refusal> {
        in_turn(caller, uid)?;
        let viewer = caller.viewer();
        let found = self.read(move |readers| place(readers, viewer, uid)).await?;
        let place = found.ok_or_else(|| Refusal::not_found("conversation"))?;
        self.kinds.put(uid, place.conversation.kind);
        Ok(place)
    }

    /// The conversation, when the caller may see it; none when it may not.
    pub(super) async fn seen(
        &self,
        caller: &Caller,
        key: ConversationKey,
    ) -> Result<Option<Place>, Refusal> {
        let viewer = caller.viewer();
        self.read(move |readers| {
            if !may_see(readers, viewer, key)? {
                return Ok(None);
            }
            let Some(conversation) = readers.conversation_by_key(key)? else { return Ok(None) };
            let head = readers.head(key)?.unwrap_or_default();
            Ok(Some(Place { conversation, head }))
        })
        .await
    }

    /// The kind of a conversation. Whether the caller may see it is core's to say, where it is posted to.
    pub(super) async fn kind(
        &self,
        caller: &Caller,
        uid: Uid,
    ) -> Result<ConversationKind, Refusal> {
        match self.kinds.get(uid) {
            Some(kind) => Ok(kind),
            None => Ok(self.place(caller, uid).await?.conversation.kind),
        }
    }

    /// Messages of a conversation, or of one thread of it with its root before them.
    pub(super) async fn page(
        &self,
        viewer: Option<MemberKey>,
        conversation: &Conversation,
        thread: Option<ThreadKey>,
        range: Range,
        limit: usize,
    ) -> Result<Page, Refusal> {
        let key = conversation.key;
        self.read(move |readers| pages::page(readers, viewer, (key, thread), range, limit)).await
    }

    /// What was done in a thread after a seq, as it says now: its messages that are no plain talk.
    pub(super) async fn acts(
        &self,
        viewer: Option<MemberKey>,
        conversation: &Conversation,
        thread: ThreadKey,
        after: Seq,
        limit: usize,
    ) -> Result<(Vec<Shown>, Option<Seq>), Refusal> {
        let (key, start) = (conversation.key, Start::After(after));
        self.read(move |readers| {
            let line = Line::Acts(thread);
            let asked = chorus_store::Page { conversation: key, line, start, limit };
            let (entries, more, upto) = visible(readers, viewer, asked)?;
            Ok((entries.into_iter().filter_map(posted).collect(), upto.filter(|_| more)))
        })
        .await
    }

    /// Entries of a log after a seq, oldest first, whether there are more, and up to where was looked.
    pub(super) async fn logged(
        &self,
        viewer: Option<MemberKey>,
        key: ConversationKey,
        after: Seq,
        limit: usize,
    ) -> Result<(Vec<Logged>, bool, Seq), Refusal> {
        let start = Start::After(after);
        self.read(move |readers| {
            let asked = chorus_store::Page { conversation: key, line: Line::All, start, limit };
            let (entries, more, upto) = visible(readers, viewer, asked)?;
            let mut logged = Vec::with_capacity(entries.len());
            for stored in entries {
                let about = match stored.entry.event.change.about() {
                    Some(seq) => {
                        readers.entry_at(EventRef { conversation: key, seq })?.and_then(posted)
                    }
                    None => posted(stored.clone()),
                };
                logged.push(Logged {
                    conversation: stored.entry.conversation,
                    thread: stored.entry.thread.map(|t| t.uid),
                    event: stored.entry.event,
                    about,
                });
            }
            Ok((logged, more, upto.unwrap_or(after)))
        })
        .await
    }

    /// The message that an event posted or is about, and the conversation it is in.
    pub(super) async fn message_by(
        &self,
        viewer: Option<MemberKey>,
        uid: Uid,
    ) -> Result<Option<Shown>, Refusal> {
        Ok(self.message_of(viewer, uid).await?.map(|(shown, _)| shown))
    }

    /// The same under the event itself, as whoever owes something for it is to name it.
    pub(super) async fn owed_message(
        &self,
        viewer: Option<MemberKey>,
        uid: Uid,
    ) -> Result<Option<Shown>, Refusal> {
        let found = self.message_of(viewer, uid).await?;
        Ok(found.map(|(shown, about)| match about {
            Some(event) => shown.under(event),
            None => shown,
        }))
    }

    /// The message of an event, with the event where that is only about it.
    async fn message_of(
        &self,
        viewer: Option<MemberKey>,
        uid: Uid,
    ) -> Result<Option<(Shown, Option<Arc<Event>>)>, Refusal> {
        self.read(move |readers| {
            let found = readers.entry(uid)?.filter(|stored| is_shown(viewer, stored));
            let Some(stored) = found else { return Ok(None) };
            let event = stored.entry.event.clone();
            let Some(seq) = event.change.about() else {
                return Ok(posted(stored).map(|shown| (shown, None)));
            };
            let at = EventRef { conversation: event.conversation, seq };
            let message = readers.entry_at(at)?.and_then(posted);
            Ok(message.map(|shown| (shown, Some(event))))
        })
        .await
    }

    /// How many channels there are; the store is asked only after some may have been missed.
    pub(crate) async fn channel_count(&self) -> Result<u64, Refusal> {
        let now = self.clock.now();
        if self.channel_count.is_due(now) {
            let count = self.read(|readers| readers.count(ConversationKind::Channel)).await?;
            self.channel_count.set(count, now);
        }
        Ok(self.channel_count.get())
    }
}

/// A turn's token is for the one conversation that the turn is in.
pub(super) fn in_turn(caller: &Caller, uid: Uid) -> Result<(), Refusal> {
    match caller.turn.is_some_and(|turn| turn.conversation != uid) {
        true => Err(Refusal::new(Code::Forbidden, "this turn's token is for another conversation")),
        false => Ok(()),
    }
}

/// The conversation, when the viewer may see it.
pub(super) fn place(
    readers: &Readers,
    viewer: Option<MemberKey>,
    uid: Uid,
) -> Result<Option<Place>, Error> {
    let Some(conversation) = readers.conversation(uid)? else { return Ok(None) };
    if !may_see(readers, viewer, conversation.key)? {
        return Ok(None);
    }
    let head = readers.head(conversation.key)?.unwrap_or_default();
    Ok(Some(Place { conversation, head }))
}

/// The key of a thread, when it is of this conversation.
pub(super) fn thread_key(
    readers: &Readers,
    conversation: ConversationKey,
    uid: Uid,
) -> Result<Option<ThreadKey>, Error> {
    let found = readers.thread(uid)?.filter(|(home, _)| *home == conversation);
    Ok(found.map(|(_, thread)| thread.key))
}

/// Whether the viewer may see the conversation; an auditor, who is none, may see all.
pub(super) fn may_see(
    readers: &Readers,
    viewer: Option<MemberKey>,
    key: ConversationKey,
) -> Result<bool, Error> {
    viewer.map_or(Ok(true), |member| readers.may_read(key, member))
}

impl<T: Copy> Known<T> {
    pub(super) fn get(&self, uid: Uid) -> Option<T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).peek(&uid).copied()
    }

    pub(super) fn put(&self, uid: Uid, value: T) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(uid, value);
    }
}

/// A refusal of an event that is not there, which says so when it is as old as what was dropped. Whether it ever was, and
/// where, is said of none.
pub(super) async fn explain(readers: Readers, refusal: Refusal) -> Refusal {
    let Some(uid) = refusal.unknown_event else { return refusal };
    let read = tokio::task::spawn_blocking(move || readers.dropped_until());
    match read.await {
        Ok(Ok(Some(until))) if uid.drawn_at() <= until => {
            let until = chorus_wire::time::format(until);
            let id = uid.show(Prefix::Event);
            let why =
                format!("{}; {id} may be of what was archived before {until}", refusal.message);
            Refusal::new(Code::NotFound, why)
        }
        _ => refusal,
    }
}

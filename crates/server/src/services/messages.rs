//! Messages read, edited and deleted. Posting is in [`super::posts`].

mod moderation;
mod tails;

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::messages::{Delete, Edit, Erase, Erased};
use chorus_core::model::error::Refusal;
use chorus_core::model::event::{Change, Event, Reason};
use chorus_core::model::ids::EventRef;
use chorus_core::model::offer::Offer;
use chorus_core::state::directory::Directory;
use chorus_store::Readers;
use chorus_wire::rest::messages::{ListMessages, Message, MessagePatch, Messages};
use tails::Tails;

use super::answered::unseen;
use super::assets::AssetService;
use super::clock::HostClock;
use super::commands::Commands;
use super::pages::{self, Page, Range, limit, posted};
use super::quotas::{ENTRY, Quotas};
use super::reads::{self, Reads};
use super::search::SearchService;
use super::{ids, posts};
use crate::auth::Caller;
use crate::dispatch::erased::ErasedEvents;
use crate::view::conversations::base_seq;
use crate::view::messages::{self, Shown};

/// Messages, read and changed.
pub(crate) struct MessageService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) assets: Arc<AssetService>,
    pub(super) search: Arc<SearchService>,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) gone: Arc<ErasedEvents>,
    pub(super) quotas: Arc<Quotas>,
    pub(super) readers: Readers,
    pub(super) tails: Tails,
}

impl MessageService {
    /// A message as it is now.
    pub(crate) async fn message(&self, caller: &Caller, id: &str) -> Result<Message, Refusal> {
        let shown = self.shown(caller, id).await?;
        Ok(messages::message(&self.directory.load(), &shown))
    }

    /// `GET /v1/messages`, oldest first: after a seq, before one, or the newest.
    pub(crate) async fn messages(
        &self,
        caller: &Caller,
        query: ListMessages,
    ) -> Result<Messages, Refusal> {
        let (uid, viewer) = (ids::conversation(&query.conversation)?, caller.viewer());
        let thread = match query.thread.as_deref().map(ids::thread).transpose() {
            Ok(thread) => thread,
            // What may not be seen is unknown, however it is asked for.
            Err(refusal) => {
                return Err(self.reads.place(caller, uid).await.err().unwrap_or(refusal));
            }
        };
        let asked = limit(query.limit)
            .and_then(|limit| Ok((limit, Range::of(query.after_seq, query.before_seq)?)));
        let good = asked.as_ref().ok().copied();
        reads::in_turn(caller, uid)?;
        let read = move |readers: &Readers| {
            let Some(place) = reads::place(readers, viewer, uid)? else { return Ok(None) };
            let key = place.conversation.key;
            let of = match thread {
                Some(thread) => reads::thread_key(readers, key, thread)?,
                None => None,
            };
            if thread.is_some() && of.is_none() {
                return Ok(Some((place, None)));
            }
            let page =
                good.map(|(limit, range)| pages::page(readers, viewer, (key, of), range, limit));
            Ok(Some((place, Some(page.transpose()?))))
        };
        let found = self.reads.read(read).await?;
        let (place, page) = found.ok_or_else(|| Refusal::not_found("conversation"))?;
        let page = page.ok_or_else(|| Refusal::not_found("thread"))?;
        asked?;
        let Page { shown, more } = page.unwrap_or_default();
        let directory = self.directory.load();
        let messages = shown.iter().map(|shown| messages::message(&directory, shown)).collect();
        Ok(Messages { messages, has_more: more, base_seq: base_seq(place.head) })
    }

    pub(crate) async fn edit(
        &self,
        caller: &Caller,
        id: &str,
        patch: MessagePatch,
    ) -> Result<Message, Refusal> {
        caller.must_not_be_a_turn()?;
        let message = ids::event(id)?;
        self.quotas.take_room(ENTRY)?;
        let parts = self.assets.keep_uploads(caller.by, patch.content).await?;
        let content = posts::message(caller, patch.text, parts, patch.metadata.as_deref(), None)?;
        self.commands.submit(caller.by, Edit { message, content }).await?;
        self.message(caller, id).await
    }

    pub(crate) async fn delete(&self, caller: &Caller, id: &str) -> Result<(), Refusal> {
        caller.must_not_be_a_turn()?;
        let message = ids::event(id)?;
        self.commands.submit(caller.by, Delete { message }).await.map(drop)
    }

    /// Everything the message said goes, in all its versions.
    pub(crate) async fn erase(
        &self,
        caller: &Caller,
        id: &str,
        reason: Reason,
    ) -> Result<Message, Refusal> {
        caller.must_not_be_a_turn()?;
        let message = ids::event(id)?;
        loop {
            let Erased { entry, more } =
                self.commands.submit(caller.by, Erase { message, reason }).await?;
            let event = &entry.event;
            let at = |seq| EventRef { conversation: event.conversation, seq };
            if let Change::Erased { events, .. } = &event.change {
                self.gone.put(events.iter().copied().map(at));
            }
            if !more {
                self.assets.dropped.notify_one();
                let at = at(event.change.about().unwrap_or(event.seq));
                self.search.forget(at).await;
                let stored = self.reads.read(move |readers| readers.entry_at(at)).await?;
                let shown = stored.and_then(posted).ok_or_else(|| Refusal::not_found("message"))?;
                return Ok(messages::message(&self.directory.load(), &shown));
            }
        }
    }

    /// Whether what is offered was erased while the offer waited.
    pub(crate) fn is_gone(&self, offer: &Offer) -> bool {
        let Event { conversation, seq, .. } = *offer.entry.event;
        self.gone.holds(EventRef { conversation, seq })
    }

    /// The message with this id, or the one that the event with it is about.
    pub(super) async fn shown(&self, caller: &Caller, id: &str) -> Result<Shown, Refusal> {
        let unknown = || Refusal::not_found("message");
        let uid = ids::event(id).map_err(|_| unknown())?;
        let shown = match self.reads.message_by(caller.viewer(), uid).await? {
            Some(shown) => shown,
            None => {
                let unknown = Refusal::unknown_event("message", uid);
                return Err(reads::explain(self.readers.clone(), unknown).await);
            }
        };
        let place = self.reads.place(caller, shown.conversation.uid).await;
        place.map_err(|why| unseen(why, unknown()))?;
        Ok(shown)
    }
}

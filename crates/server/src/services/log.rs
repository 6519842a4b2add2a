//! A conversation's log, as JSON.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Seq;
use chorus_core::state::directory::Directory;
use chorus_wire::rest::events::{Event, Events};
use tokio::sync::watch;

use super::identity::Identity;
use super::ids;
use super::pages::limit;
use super::reads::{Logged, Reads};
use crate::auth::Caller;
use crate::dispatch::erased::ErasedEvents;
use crate::dispatch::feed::Feed;
use crate::view;

/// The log of events, read and followed.
pub(crate) struct EventLog {
    pub(super) reads: Arc<Reads>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    /// Changes with it.
    pub(super) directory_moved: watch::Receiver<()>,
    pub(super) feed: Arc<Feed>,
    pub(super) gone: Arc<ErasedEvents>,
    pub(super) identity: Arc<Identity>,
}

impl EventLog {
    /// `GET /v1/events`: entries after a seq, oldest first.
    pub(crate) async fn events(
        &self,
        caller: &Caller,
        conversation: &str,
        after: Option<u64>,
        asked: Option<u32>,
    ) -> Result<Events, Refusal> {
        let place = self.reads.place(caller, ids::conversation(conversation)?).await?;
        let after = Seq(after.unwrap_or(0));
        let viewer = caller.viewer();
        let (logged, has_more, _) =
            self.reads.logged(viewer, place.conversation.key, after, limit(asked)?).await?;
        let base_seq = view::conversations::base_seq(place.head);
        Ok(Events { events: self.show_events(&logged), has_more, base_seq })
    }

    pub(super) fn show_events(&self, logged: &[Logged]) -> Vec<Event> {
        let directory = self.directory.load();
        let show = |l: &Logged| {
            view::events::event(&directory, &l.conversation, &l.event, l.thread, l.about.as_ref())
        };
        logged.iter().map(show).collect()
    }
}

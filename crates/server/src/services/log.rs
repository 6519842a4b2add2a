//! A conversation's log, as JSON.

use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Seq;
use chorus_wire::rest::events::{Event, Events};

use super::messages::limit;
use super::read::Logged;
use super::{App, ids};
use crate::auth::Caller;
use crate::view;

impl App {
    /// `GET /v1/events`: entries after a seq, oldest first.
    pub(crate) async fn events(
        &self,
        caller: &Caller,
        conversation: &str,
        after: Option<u64>,
        asked: Option<u32>,
    ) -> Result<Events, Refusal> {
        let place = self.place(caller, ids::conversation(conversation)?).await?;
        let after = Seq(after.unwrap_or(0));
        let viewer = caller.viewer();
        let (logged, has_more, _) =
            self.logged(viewer, &place.conversation, after, limit(asked)?).await?;
        let base_seq = view::conversations::base_seq(place.head);
        Ok(Events { events: self.show_events(&logged), has_more, base_seq })
    }

    pub(super) fn show_events(&self, logged: &[Logged]) -> Vec<Event> {
        let directory = self.directory();
        let show = |l: &Logged| {
            view::events::event(&directory, &l.conversation, &l.event, l.thread, l.about.as_ref())
        };
        logged.iter().map(show).collect()
    }
}

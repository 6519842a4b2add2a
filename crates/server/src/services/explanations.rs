//! Why each member was told of an event, or was not, and what came of it (design section 5, "The decision is
//! data").

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::model::budget::Budgets;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::flow;
use chorus_core::model::ids::{EventRef, Prefix};
use chorus_core::queries;
use chorus_core::state::directory::Directory;
use chorus_store::Readers;
use chorus_wire::rest::attention::Why;

use super::answered::unseen;
use super::clock::HostClock;
use super::commands::Commands;
use super::pages::is_shown;
use super::reads::Reads;
use super::wakes::WakeService;
use super::{ids, reads};
use crate::auth::Caller;
use crate::view;

/// Explanations of decisions.
pub(crate) struct ExplanationService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) budgets: Budgets,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) flow: flow::Settings,
    pub(super) readers: Readers,
    pub(super) wakes: Arc<WakeService>,
}

impl ExplanationService {
    /// `GET /v1/events/{id}/attention`, for whoever may see the event.
    pub(crate) async fn why(&self, caller: &Caller, id: &str) -> Result<Why, Refusal> {
        let uid = ids::event(id)?;
        let unknown = || Refusal::not_found("event");
        let found = self.reads.read(move |readers| readers.entry(uid)).await?;
        let viewer = caller.viewer();
        let found = match found.filter(|stored| is_shown(viewer, stored)) {
            Some(found) => found,
            None => {
                let unknown = Refusal::unknown_event("event", uid);
                return Err(reads::explain(self.readers.clone(), unknown).await);
            }
        };
        let thread = found.entry.thread.clone();
        let newest = found.state.latest;
        let (conversation, event) = (found.entry.conversation, found.entry.event);
        let place = self.reads.place(caller, conversation.uid).await;
        let head = place.map_err(|why| unseen(why, unknown()))?.head;
        let at = EventRef { conversation: event.conversation, seq: event.seq };
        let standing = match self.commands.submit(caller.by, queries::Standing { event: uid }).await
        {
            Ok(open) => open.map(|open| *open),
            // The writer does nothing now; what was written says how it stood.
            Err(refusal) if refusal.code == Code::Unavailable => None,
            Err(refusal) => return Err(refusal),
        };
        let cause = event.cause;
        let (stored, cause, newest) = self
            .reads
            .read(move |readers| {
                let cause = match cause {
                    Some(at) => readers.uid_of(at)?,
                    None => None,
                };
                let newest = match newest {
                    Some(seq) => readers.uid_of(EventRef { seq, ..at })?,
                    None => None,
                };
                Ok((readers.standing(at.conversation, at.seq)?, cause, newest))
            })
            .await?;
        let paused = match &thread {
            Some(thread) => view::conversations::is_paused(&self.budgets, &conversation, thread),
            None => {
                let most = self.budgets.of(&conversation, None);
                most.is_some_and(|most| head.unattended >= most)
            }
        };
        let wakes = match self.wakes.of_event(caller, uid).await {
            Ok(wakes) => wakes,
            // An auditor sees events of conversations that it does not sit in.
            Err(refusal) if matches!(refusal.code, Code::NotFound | Code::Unavailable) => {
                Vec::new()
            }
            Err(refusal) => return Err(refusal),
        };
        let open = standing.or(stored);
        let now = self.clock.now();
        view::deliveries::why(
            &self.directory.load(),
            conversation.uid,
            &event,
            cause,
            open.as_ref(),
            paused,
            now,
        )
        .map(|why| view::deliveries::with_bounds(why, self.flow))
        .map(|why| Why { wakes, ..why })
        .map(|why| Why { newest_version: newest.map(|uid| uid.show(Prefix::Event)), ..why })
        .ok_or_else(|| Refusal::invalid("nobody is told of this kind of event"))
    }
}

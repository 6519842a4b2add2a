//! What a harness answers, and what asks for nothing: acknowledgements of offers that are under way are free, since the host
//! sent those; of everything else there is a limit.

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::EventRef;
use chorus_wire::attention::shared;
use chorus_wire::jsonrpc::Id;

use super::{Ended, Run, unasked};
use crate::dispatch::connections::Note;

/// Why a connection ends that sends only what asks for nothing.
pub(super) const TOO_MANY_PINGS: &str =
    "too many pings, or acknowledgements of what was not offered";

impl Run {
    /// Counts what asks for nothing and is of no use: there is nobody to refuse it to, so that too much of it ends the
    /// connection.
    pub(super) fn asked_for_nothing(&mut self) -> Result<(), Ended> {
        self.pings.take(self.app.now()).map_err(|_| {
            self.app.shared.metrics.refused(Code::RateLimited);
            Ended(Some(TOO_MANY_PINGS))
        })
    }

    /// The answer to an offer: the harness has it, or could not take it. What answers nothing that is under way counts.
    pub(super) fn acknowledged(&mut self, id: Option<Id>, taken: bool) -> Result<(), Ended> {
        let (app, by) = (self.app.clone(), self.context.caller.by);
        let read = id.as_ref().and_then(|id| match id {
            Id::String(id) => shared::read_delivery_id(id),
            Id::Number(_) => None,
        });
        self.collect();
        // It makes room for the next, whatever it is worth.
        if !read.is_some_and(|(event, attempt)| self.outbound.answered(event, attempt)) {
            self.asked_for_nothing()?;
        }
        let offered = read.and_then(|(event, attempt)| {
            let (conversation, seq) = self.stands.get(event)?;
            Some((EventRef { conversation: conversation.key, seq }, attempt))
        });
        let Some((event, attempt)) = offered else {
            let refusal = Refusal::new(Code::Conflict, "nothing was offered under this id");
            self.call(async move { Some(unasked(&refusal)) });
            return Ok(());
        };
        if taken {
            // Whoever is told nothing need not be woken for it.
            let connection = self.connection.clone();
            app.dispositions.accept(by, event, attempt, move |refusal| {
                let text = unasked(&refusal);
                connection.note(Note { text, withdraws: None, typing: None });
            });
            return Ok(());
        }
        self.call(async move {
            tracing::debug!(attempt, "a harness could not take a delivery");
            let done = app.dispositions.reject(by, event, attempt).await;
            done.err().map(|refusal| unasked(&refusal))
        });
        Ok(())
    }
}

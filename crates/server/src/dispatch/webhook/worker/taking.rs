//! What becomes of a delivery at its agent: tried anew, taken, or given up.

use chorus_core::commands::endpoints::{GiveUp, GivenUp, PostAgain, PostedAgain};
use chorus_core::commands::{Command, deliveries};
use chorus_core::model::attention::Policy;
use chorus_core::model::caller::By;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::offer::Offer;

use super::{LATELY, Worker, at};
use crate::dispatch::webhook::queue::Queue;
use crate::dispatch::webhook::thought::Thought;

impl Worker {
    /// Tells the writer, together with what others have taken, that something was taken.
    fn submit_soon<C: Command>(&self, by: By, command: C) {
        let app = self.app.clone();
        self.app.webhooks.acceptances.put(move || app.hand(by, command));
    }

    /// Whether what is next in a line is still to be posted. What was posted before is an attempt of its own now.
    pub(super) async fn is_to_be_posted(&self, by: By, line: &mut Queue) -> Result<bool, Refusal> {
        let Some(offer) = line.posted_before() else { return Ok(true) };
        let again = PostAgain { event: at(offer) };
        match self.app.submit(by, again).await? {
            PostedAgain::Attempt(attempt) => {
                line.renew(attempt);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The agent has what is first in a line.
    pub(super) fn taken(&mut self, by: By, line: &mut Queue, now: Timestamp) {
        let thought = line.done();
        self.accept(by, &thought);
        if !thought.reminds() {
            self.ran(line, thought, now);
        }
    }

    /// The agent has them. It answers the newest; what its author said before that is part of the same thought.
    pub(super) fn accept(&mut self, by: By, thought: &Thought) {
        let Some((newest, earlier)) = thought.fragments.split_last() else { return };
        for fragment in earlier {
            self.note_taken(by, &fragment.item, Some(Disposition::Superseded));
        }
        // That it was taken is the acknowledgement.
        let acks = newest.item.decision.policy == Policy::AckOnly;
        self.note_taken(by, &newest.item, acks.then_some(Disposition::Acknowledged));
    }

    pub(super) fn note_taken(&mut self, by: By, offer: &Offer, ends: Option<Disposition>) {
        let (event, attempt, uid) = (at(offer), offer.attempt, offer.entry.event.uid);
        if self.lately.len() >= LATELY {
            self.lately.clear();
        }
        self.lately.insert(uid, (attempt, ends));
        let epoch = Some(self.endpoint.epoch);
        self.submit_soon(by, deliveries::Accept { event, attempt, epoch });
        if let Some(disposition) = ends {
            let with_later = disposition == Disposition::Superseded;
            let note = with_later.then(|| "delivered with what its author said after it".into());
            self.submit_soon(by, deliveries::Dispose { event: uid, disposition, note });
        }
    }

    /// It will not be posted any more: a dead letter, unless the agent has spoken all the same.
    pub(super) async fn give_up(&mut self, by: By, line: &mut Queue, now: Timestamp) {
        let mut given_up = None;
        if let Some(offer) = line.posted_before() {
            let (event, attempt) = (at(offer), offer.attempt);
            match self.app.submit(by, GiveUp { event, attempt }).await {
                Ok(GivenUp::Taken) => return self.taken(by, line, now),
                Ok(_) => given_up = Some(event),
                Err(_) => {}
            }
        }
        for fragment in line.done().fragments {
            let (event, attempt) = (at(&fragment.item), fragment.item.attempt);
            self.app.webhooks.runs.end(self.endpoint.member, event);
            if given_up != Some(event) {
                self.app.hand(by, GiveUp { event, attempt });
            }
        }
    }
}

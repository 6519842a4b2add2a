//! Deliveries as they come in: zero-turn answers, claims, held knocks, and the way into a lane.

use chorus_core::model::attention::{Intent, Policy, Rule};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::reaction::Signal;
use chorus_wire::attention::deliver::Deliver;

use super::lane::{Waiting, names_other};
use super::{ATTEMPTS, ClaimAnswer, Effect, RECLAIM_MS, RECOVERY_MS, Turns, is_knock, place_of};
use crate::journal::Step;
use crate::options::Knocks;

impl Turns {
    pub(super) fn delivered(&mut self, delivery: Deliver, now: Timestamp, out: &mut Vec<Effect>) {
        // A knock that was settled and now brings its body is no longer only mentioned.
        self.held.remove(&delivery.event_id);
        let waiting = Waiting::new(delivery, now);
        self.take_in(waiting, now, out);
    }

    /// Open at a restart of the harness. The host will offer it again at once; it waits for that a moment,
    /// since the token in the journal may be of a host that has restarted too.
    pub(super) fn recovered(
        &mut self,
        delivery: Deliver,
        attempts: u32,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        if attempts >= ATTEMPTS {
            let note = "the harness ended in the middle of each attempt";
            out.push(settle(&delivery.event_id, Disposition::Failed, Some(note)));
            return;
        }
        let mut waiting = Waiting::new(delivery, now);
        waiting.attempts = attempts;
        waiting.ran = attempts > 0;
        waiting.not_before = now.plus(RECOVERY_MS);
        waiting.recovered = true;
        self.take_in(waiting, now, out);
    }

    fn take_in(&mut self, mut waiting: Waiting, now: Timestamp, out: &mut Vec<Effect>) {
        waiting.claimed = is_held_claim(&waiting.delivery);
        let delivery = &waiting.delivery;
        match *delivery.attention.policy {
            Policy::MustNotRespond => {
                out.push(settle(&delivery.event_id, Disposition::Ignored, None));
            }
            Policy::AckOnly => {
                let thanks = delivery.attention.intent == Some(Intent::Thanks.into());
                let signal = if thanks { Signal::Agree } else { Signal::Seen };
                out.push(react(&delivery.event_id, Disposition::Acknowledged, signal));
            }
            Policy::MustRespond => self.enqueue(waiting, now, out),
            Policy::MayRespond if !is_knock(delivery) => self.enqueue(waiting, now, out),
            Policy::MayRespond if is_role_offer(delivery) => self.ask_for_claim(waiting, out),
            Policy::MayRespond if self.rules.knocks == Knocks::Turn => {
                self.enqueue(waiting, now, out);
            }
            Policy::MayRespond => self.hold(waiting.delivery, out),
        }
    }

    /// A knock that costs no turn: its line is shown in the next one of its conversation. Where none is
    /// under way the event is settled at once; else it is when it has been shown.
    fn hold(&mut self, knock: Deliver, out: &mut Vec<Effect>) {
        let turn_ahead = self.turn_ahead(&knock.conversation.id);
        if !turn_ahead {
            out.push(settle(&knock.event_id, Disposition::Ignored, None));
        }
        for dropped in self.held.push(knock, turn_ahead) {
            out.push(settle(&dropped, Disposition::Ignored, None));
        }
    }

    fn ask_for_claim(&mut self, waiting: Waiting, out: &mut Vec<Effect>) {
        let event = waiting.delivery.event_id.clone();
        out.push(Effect::Claim(event.clone()));
        self.claims.insert(event, (waiting.delivery, None));
    }

    pub(super) fn claimed(
        &mut self,
        event: &str,
        answer: ClaimAnswer,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        // Withdrawn or upgraded meanwhile: then the answer says nothing new.
        let Some((knock, _)) = self.claims.remove(event) else { return };
        match answer {
            ClaimAnswer::Held(delivery) => {
                let mut waiting = Waiting::new(*delivery, now);
                waiting.claimed = true;
                self.enqueue(waiting, now, out);
            }
            ClaimAnswer::Lost { note } => {
                out.push(settle(event, Disposition::Ignored, Some(&note)));
            }
            ClaimAnswer::Unreachable => {
                self.claims.insert(event.to_owned(), (knock, Some(now.plus(RECLAIM_MS))));
            }
        }
    }

    /// The same event again while it is open: wherever it is, it carries on with what is fresher.
    pub(super) fn refreshed(&mut self, delivery: Deliver, now: Timestamp, out: &mut Vec<Effect>) {
        let event = delivery.event_id.clone();
        if self.claims.contains_key(&event) || self.held.has_unsettled(&event) {
            if is_knock(&delivery) {
                return;
            }
            // The host shows the content now: the right to decide is ours without asking.
            let was_role = self.claims.remove(&event).is_some();
            self.held.remove(&event);
            let mut waiting = Waiting::new(delivery, now);
            waiting.claimed = was_role;
            self.enqueue(waiting, now, out);
            return;
        }
        let Some(lane) = self.lanes.get_mut(&place_of(&delivery)) else { return };
        if let Some(waiting) = lane.find_waiting(&event) {
            if waiting.delivery.content != delivery.content {
                waiting.changed = now;
            }
            if std::mem::take(&mut waiting.recovered) {
                waiting.not_before = now;
            }
            waiting.delivery = delivery;
        } else if let Some(running) = lane.find_running(&event) {
            let edited = !is_knock(&delivery) && running.delivery.content != delivery.content;
            if edited {
                running.changed = now;
            }
            running.delivery = delivery;
            if edited && lane.may_join() {
                out.extend(lane.stop_to_join().map(Effect::Join));
            }
        }
    }

    /// Puts a delivery into its lane; one that joins the turn under way stops it, to be begun again with both.
    pub(super) fn enqueue(&mut self, waiting: Waiting, now: Timestamp, out: &mut Vec<Effect>) {
        let place = place_of(&waiting.delivery);
        if let Some(replaced) = waiting.delivery.replaces.clone() {
            self.held.remove(&replaced);
            if self.replace(&place, &replaced, &waiting, now, out) {
                return;
            }
        }
        if !is_knock(&waiting.delivery) {
            self.authors.posted(&place, &waiting, now);
        }
        let lane = self.lanes.entry(place).or_default();
        let joins =
            !is_knock(&waiting.delivery) && lane.joins_turn(&waiting.delivery) && lane.may_join();
        if names_other(&waiting.delivery) {
            let author = &waiting.delivery.author.id;
            let before = lane.waiting.iter_mut().filter(|w| w.delivery.author.id == *author);
            before.for_each(|w| w.closed = true);
        }
        lane.waiting.push(waiting);
        if joins {
            out.extend(lane.stop_to_join().map(Effect::Join));
        }
    }
}

/// The content of a role's event is only shown to who holds its claim.
fn is_held_claim(delivery: &Deliver) -> bool {
    let by_role = delivery.attention.reason == Rule::Claimed.name() || is_role_offer(delivery);
    by_role && !is_knock(delivery)
}

/// A knock for a role: whoever wants to answer claims it first.
fn is_role_offer(delivery: &Deliver) -> bool {
    delivery.attention.reason == Rule::RoleMention.name()
}

pub(super) fn settle(event: &str, disposition: Disposition, note: Option<&str>) -> Effect {
    Effect::Record(Step::Settle {
        event: event.to_owned(),
        disposition,
        note: note.map(str::to_owned),
        signal: None,
        tell: true,
    })
}

/// The host knows already how it ended.
pub(super) fn settle_quietly(event: &str, disposition: Disposition, note: Option<&str>) -> Effect {
    Effect::Record(Step::Settle {
        event: event.to_owned(),
        disposition,
        note: note.map(str::to_owned),
        signal: None,
        tell: false,
    })
}

pub(super) fn react(event: &str, disposition: Disposition, signal: Signal) -> Effect {
    Effect::Record(Step::Settle {
        event: event.to_owned(),
        disposition,
        note: None,
        signal: Some(signal),
        tell: true,
    })
}

//! How a run's end becomes the end of every event that was in it.

use chorus_core::model::attention::Policy;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::reaction::Signal;

use super::arrive::{react, settle, settle_quietly};
use super::lane::{Run, Waiting};
use super::start::anchor;
use super::{ATTEMPTS, Effect, Place, RETRY_MS, SILENCES, Turns};
use crate::journal::Step;
use crate::runtime::End;

impl Turns {
    pub(super) fn ended(
        &mut self,
        turn: u64,
        end: End,
        acted: bool,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        let Some((place, run)) = self.take_run(turn) else { return };
        match end {
            // It was to be begun again and was faster; what it said is of an older wording and is not sent.
            End::Said(_) if run.stopping => self.put_back(&place, run, out),
            End::Said(body) => {
                self.authors.answered(&place);
                said(run.batch, body, out);
            }
            _ if acted => {
                self.authors.answered(&place);
                acted_by_itself(run.batch, out);
            }
            End::Cancelled => self.put_back(&place, run, out),
            End::Silent => self.ended_silent(&place, run, now, out),
            End::Disposed => run.batch.iter().for_each(|w| out.push(silent(w))),
            End::TimedOut { note } => {
                run.batch.iter().for_each(|w| out.push(failed(w, &note)));
            }
            End::Failed { note } => self.try_again(&place, run, &note, now, out),
        }
        self.after_turn(&place, out);
    }

    /// An earlier run had acted: those that were in it have their answer, and the others their turn.
    pub(super) fn acted_before(&mut self, turn: u64, out: &mut Vec<Effect>) {
        let Some((place, mut run)) = self.take_run(turn) else { return };
        self.authors.answered(&place);
        let (ran, fresh): (Vec<_>, Vec<_>) = run.batch.into_iter().partition(|w| w.ran);
        acted_by_itself(ran, out);
        run.batch = fresh;
        self.put_back(&place, run, out);
        self.after_turn(&place, out);
    }

    /// Others see something of the run: what comes now waits for its end, and so does what was to join it.
    pub(super) fn seen(&mut self, turn: u64) {
        let lane = self.running.get(&turn).and_then(|place| self.lanes.get_mut(place));
        if let Some(run) = lane.and_then(|lane| lane.running.as_mut()) {
            (run.seen, run.stopping) = (true, run.withdrawn);
        }
    }

    fn take_run(&mut self, turn: u64) -> Option<(Place, Run)> {
        let place = self.running.remove(&turn)?;
        let run = self.lanes.get_mut(&place)?.running.take()?;
        Some((place, run))
    }

    /// Stopped before it said anything: what was in it waits again, before what came meanwhile, and the
    /// attempt does not count.
    fn put_back(&mut self, place: &Place, run: Run, out: &mut Vec<Effect>) {
        let events: Vec<_> = run.batch.iter().map(|w| w.delivery.event_id.clone()).collect();
        if !events.is_empty() {
            out.push(Effect::Record(Step::Stopped { events }));
        }
        let back = run.batch.into_iter().map(|mut waiting| {
            waiting.attempts = waiting.attempts.saturating_sub(1);
            waiting.ran = true;
            waiting
        });
        if let Some(lane) = self.lanes.get_mut(place) {
            lane.waiting.splice(0..0, back);
        }
    }

    /// Nothing was said, so it may be tried again, after a pause, a bounded number of times.
    fn try_again(
        &mut self,
        place: &Place,
        run: Run,
        note: &str,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        let Some(lane) = self.lanes.get_mut(place) else { return };
        let mut again = Vec::new();
        for mut waiting in run.batch {
            if waiting.attempts >= ATTEMPTS {
                out.push(failed(&waiting, note));
                continue;
            }
            waiting.not_before = now.plus(RETRY_MS << (2 * (waiting.attempts.max(1) - 1)));
            waiting.ran = true;
            again.push(waiting);
        }
        lane.waiting.splice(0..0, again);
    }

    /// Silence ends what is owed no answer. What is owed one is tried once more.
    fn ended_silent(&mut self, place: &Place, run: Run, now: Timestamp, out: &mut Vec<Effect>) {
        let Some(lane) = self.lanes.get_mut(place) else { return };
        let mut again = Vec::new();
        for mut waiting in run.batch {
            waiting.silences = waiting.silences.saturating_add(1);
            let owed = waiting.delivery.attention.policy == Policy::MustRespond;
            if !owed || waiting.silences >= SILENCES || waiting.attempts >= ATTEMPTS {
                out.push(silent(&waiting));
                continue;
            }
            waiting.not_before = now.plus(RETRY_MS);
            waiting.ran = true;
            again.push(waiting);
        }
        lane.waiting.splice(0..0, again);
    }

    fn after_turn(&mut self, place: &Place, out: &mut Vec<Effect>) {
        if let Some(lane) = self.lanes.get_mut(place)
            && !lane.replaced
            && lane.waiting.iter().all(|w| !w.ran)
        {
            lane.joined = 0;
        }
        self.lanes.retain(|_, lane| !lane.is_idle());
        self.give_up_held(&place.conversation, out);
    }

    /// Knocks that wait to be shown in a turn that will not come are settled without.
    pub(super) fn give_up_held(&mut self, conversation: &str, out: &mut Vec<Effect>) {
        if self.turn_ahead(conversation) {
            return;
        }
        for event in self.held.give_up(conversation) {
            out.push(settle(&event, Disposition::Ignored, None));
        }
    }

    /// Whether something waits for a turn in the conversation.
    pub(super) fn turn_ahead(&self, conversation: &str) -> bool {
        let mut here = self.lanes.iter().filter(|(place, _)| place.conversation == conversation);
        here.any(|(_, lane)| !lane.waiting.is_empty())
    }
}

/// The reply answers the anchor; what was merged into its turn ends with it.
fn said(batch: Vec<Waiting>, body: String, out: &mut Vec<Effect>) {
    // Everything it was about was withdrawn while it spoke: there is nothing to reply to.
    let Some(event) = batch.get(anchor(&batch)).map(|w| w.delivery.event_id.clone()) else {
        return;
    };
    out.push(Effect::Record(Step::Reply { event: event.clone(), n: 1, body }));
    let note = format!("merged into {event}");
    for waiting in batch.iter().filter(|w| !w.is(&event)) {
        // A role's event was answered by this too; as superseded it would be offered to the next candidate.
        let how = if waiting.claimed { Disposition::Responded } else { Disposition::Superseded };
        out.push(settle(&waiting.delivery.event_id, how, Some(&note)));
    }
}

/// The runtime has answered or reacted with its turn's token; that has settled the anchor at the host.
fn acted_by_itself(batch: Vec<Waiting>, out: &mut Vec<Effect>) {
    let Some(event) = batch.get(anchor(&batch)).map(|w| w.delivery.event_id.clone()) else {
        return;
    };
    let note = format!("merged into {event}");
    for waiting in &batch {
        let this = &waiting.delivery.event_id;
        out.push(match (*this == event, waiting.claimed) {
            (true, _) => settle_quietly(this, Disposition::Responded, None),
            (false, true) => settle(this, Disposition::Responded, Some(&note)),
            (false, false) => settle(this, Disposition::Superseded, Some(&note)),
        });
    }
}

/// Silence is an answer where no answer is owed. A claim is given back, so that the next is asked.
fn silent(waiting: &Waiting) -> Effect {
    let event = &waiting.delivery.event_id;
    match *waiting.delivery.attention.policy {
        Policy::MustRespond => {
            settle(event, Disposition::Failed, Some("the runtime ended without an answer"))
        }
        _ if waiting.claimed => react(event, Disposition::Ignored, Signal::Declined),
        _ => settle(event, Disposition::Ignored, None),
    }
}

fn failed(waiting: &Waiting, note: &str) -> Effect {
    settle(&waiting.delivery.event_id, Disposition::Failed, Some(note))
}

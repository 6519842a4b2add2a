//! When a turn begins, and with what.

use chorus_core::attention::Mode;
use chorus_core::delivery::Disposition;
use chorus_core::ids::Timestamp;

use super::arrive::settle;
use super::lane::{Lane, Run, Waiting};
use super::window::{self, Fragment};
use super::{Effect, Place, Turn, Turns, is_knock, pressure};
use crate::journal::Step;

impl Turns {
    /// Begins every turn that is due, as far as turns may run beside each other; who is due first is first.
    pub(super) fn begin(&mut self, now: Timestamp, out: &mut Vec<Effect>) {
        while self.may_begin() {
            let due = self.lanes.iter().filter_map(|(place, lane)| {
                self.lane_due(place, lane).filter(|&at| at <= now).map(|at| (at, place))
            });
            let Some((_, place)) = due.min() else { return };
            let place = place.clone();
            self.start(place, now, out);
        }
    }

    /// When the next turn of a lane may begin; none while one runs, or nothing waits.
    pub(super) fn lane_due(&self, place: &Place, lane: &Lane) -> Option<Timestamp> {
        if lane.running.is_some() {
            return None;
        }
        let pause = lane.waiting.iter().map(|w| w.not_before).max()?;
        let at_once =
            |w: &Waiting| w.delivery.injection.mode == Mode::Immediate || is_knock(&w.delivery);
        let first = lane.waiting.iter().map(|w| w.arrived).min()?;
        let due = if lane.waiting.iter().all(at_once)
            || lane.waiting.iter().any(|w| w.delivery.injection.mode == Mode::Immediate)
        {
            first
        } else {
            self.window_closes(place, lane)?
        };
        Some(due.max(pause))
    }

    /// The compose window over everything that waits.
    fn window_closes(&self, place: &Place, lane: &Lane) -> Option<Timestamp> {
        let fragments: Vec<_> = lane
            .waiting
            .iter()
            .map(|w| {
                let who = (place.conversation.clone(), w.delivery.author.id.clone().into_owned());
                let typing = self.typing.get(&who).copied();
                Fragment { delivery: &w.delivery, arrived: w.arrived, changed: w.changed, typing }
            })
            .collect();
        window::closes(&fragments, self.rules.quiet_ms, self.rules.cap_ms)
    }

    fn start(&mut self, place: Place, now: Timestamp, out: &mut Vec<Effect>) {
        let Some(lane) = self.lanes.get_mut(&place) else { return };
        let mut batch = std::mem::take(&mut lane.waiting);
        self.last_turn += 1;
        let id = self.last_turn;
        let look_first = batch.iter().any(|w| w.ran);
        for waiting in &mut batch {
            waiting.attempts += 1;
        }
        let attempt = batch.iter().map(|w| w.attempts).max().unwrap_or(1);
        let events = batch.iter().map(|w| (w.delivery.event_id.clone(), w.attempts)).collect();
        out.push(Effect::Record(Step::Started { events }));

        let mut knocks = Vec::new();
        for (knock, unsettled) in self.held.take(&place.conversation) {
            if unsettled {
                out.push(settle(&knock.event_id, Disposition::Acknowledged, None));
            }
            knocks.push(knock);
        }
        let turn = Turn {
            id,
            place: place.clone(),
            batch: batch.iter().map(|w| w.delivery.clone()).collect(),
            knocks,
            anchor: anchor(&batch),
            attempt,
            look_first,
        };
        lane.running = Some(Run { turn: id, batch, began: now, stopping: false });
        self.running.insert(id, place);
        out.push(Effect::Start(Box::new(turn)));
    }
}

/// The event a turn answers: the last of those that press most. Fragments of one author press alike, so it
/// is the last of them.
pub(super) fn anchor(batch: &[Waiting]) -> usize {
    // `max_by_key` gives the last of equal ones.
    batch.iter().enumerate().max_by_key(|(_, w)| pressure(w)).map_or(0, |(i, _)| i)
}

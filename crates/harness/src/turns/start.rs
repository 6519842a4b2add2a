//! When a turn begins, and with what.

use std::collections::BTreeSet;

use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::Timestamp;

use super::arrive::settle;
use super::lane::{Lane, Run, Waiting};
use super::{Effect, Place, Turn, Turns, pressure, window};
use crate::journal::Step;

impl Turns {
    /// Begins every turn that is due, as far as turns may run beside each other; who is due first is first.
    pub(super) fn begin(&mut self, now: Timestamp, out: &mut Vec<Effect>) {
        while self.may_begin() {
            let due = self.lanes.iter().filter_map(|(place, lane)| {
                self.lane_due(lane).filter(|&at| at <= now).map(|at| (at, place))
            });
            let Some((_, place)) = due.min() else { return };
            let place = place.clone();
            self.start(place, now, out);
        }
    }

    /// When the next turn of a lane may begin; none while one runs, or nothing waits.
    ///
    /// That is when the first author has finished. A turn that is begun again waits for all authors of it,
    /// since it was stopped for more of theirs.
    pub(super) fn lane_due(&self, lane: &Lane) -> Option<Timestamp> {
        if lane.running.is_some() {
            return None;
        }
        let dues = window::dues(&lane.waiting, &self.authors, &self.rules.compose);
        let again: BTreeSet<_> =
            lane.waiting.iter().filter(|w| w.ran).map(|w| &w.delivery.author.id).collect();
        if again.is_empty() {
            return dues.into_iter().min();
        }
        let all = lane.waiting.iter().zip(dues);
        all.filter(|(w, _)| again.contains(&w.delivery.author.id)).map(|(_, due)| due).max()
    }

    /// Takes out of a lane everything that is due.
    fn take_due(&mut self, place: &Place, now: Timestamp) -> Vec<Waiting> {
        let Some(lane) = self.lanes.get_mut(place) else { return Vec::new() };
        let dues = window::dues(&lane.waiting, &self.authors, &self.rules.compose);
        let all = std::mem::take(&mut lane.waiting).into_iter().zip(dues);
        let (due, later): (Vec<_>, Vec<_>) = all.partition(|(_, due)| *due <= now);
        lane.waiting = later.into_iter().map(|(w, _)| w).collect();
        due.into_iter().map(|(w, _)| w).collect()
    }

    fn start(&mut self, place: Place, now: Timestamp, out: &mut Vec<Effect>) {
        let mut batch = self.take_due(&place, now);
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
            digests: self.digests.take(&place.conversation),
            anchor: anchor(&batch),
            attempt,
            look_first,
        };
        let lane = self.lanes.entry(place.clone()).or_default();
        lane.replaced = false;
        lane.running =
            Some(Run { turn: id, batch, stopping: false, withdrawn: false, seen: false });
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

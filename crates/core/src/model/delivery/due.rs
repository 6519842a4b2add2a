//! When a delivery's next timer is due, and what happens then.

use super::{Delivery, Fired, State, Taken};
use crate::model::ids::Timestamp;
use crate::model::limits;

impl Delivery {
    /// The start of an open obligation's clock: the event's own time, the end of its deferral, or
    /// the last sign of life of its run up to the cap on a turn.
    fn clock_from(&self, event_at: Timestamp) -> Timestamp {
        let begun = self.clock.until.map_or(event_at, |until| until.max(event_at));
        let begun = begun.plus(self.clock.stood_ms);
        match self.run() {
            // The acceptance itself is no sign of life.
            Some(Taken { at, life }) if life > at => life.min(self.cap(at)).max(begun),
            _ => begun,
        }
    }

    /// When a turn that was accepted at `at` ends, even if it is active.
    fn cap(&self, at: Timestamp) -> Timestamp {
        at.plus(limits::TURN_CAP_MS).plus(self.clock.stood_ms)
    }

    /// When a run that answers through a callback counts as over because it has been quiet since
    /// its last output (design section 5, "One holder, one fence").
    fn quiet_from(&self) -> Option<Timestamp> {
        match self.state {
            State::Accepted { at, life, .. } if self.carried && self.heard => {
                Some(life.plus(limits::TURN_QUIET_MS).min(self.cap(at)))
            }
            _ => None,
        }
    }

    /// When time next changes this delivery; none if it never will. A person has no deadline.
    pub fn due(&self, event_at: Timestamp) -> Option<Timestamp> {
        match self.state {
            State::Settled { .. } | State::Dead { .. } => None,
            State::Deferred { .. } => self.clock.until,
            _ if self.stands_still() => None,
            State::Waiting => self.unanswered(event_at),
            State::Offered { .. } if self.carried => self.unanswered(event_at),
            State::Offered { at, .. } => {
                let retry = at.plus(limits::ACK_TIMEOUT_MS);
                Some(self.unanswered(event_at).map_or(retry, |u| u.min(retry)))
            }
            State::Accepted { at, gone, .. } => {
                let lapse = self.quiet_from().unwrap_or(self.cap(at));
                let reassign = gone.map(|g| g.plus(limits::SESSION_GONE_MS));
                let owed = self.unanswered(event_at).unwrap_or(lapse);
                Some(reassign.map_or(owed, |r| r.min(owed)))
            }
        }
    }

    /// Handles what is due by `now`. Missed reminders are not repeated: only the last counts.
    pub fn fire(&mut self, event_at: Timestamp, now: Timestamp) -> Option<Fired> {
        if self.due(event_at).is_none_or(|due| due > now) {
            return None;
        }
        if self.is_deferred() {
            self.come_back();
            return Some(Fired::Offer);
        }
        if let Some(deadline) = self.deadline(event_at) {
            if deadline <= now {
                return Some(Fired::Overdue);
            }
            let from = self.clock_from(event_at);
            let passed =
                limits::REDELIVER_MS.iter().filter(|after| from.plus(**after) <= now).count();
            if passed > usize::from(self.reminders) {
                self.reminders = passed as u8;
                return Some(Fired::Offer);
            }
        }
        match self.state {
            State::Offered { .. } if self.made_here() >= limits::OFFERS_PER_CONNECTION => {
                self.state = State::Waiting;
                None
            }
            State::Offered { .. } => Some(Fired::Offer),
            State::Accepted { gone: Some(_), .. } => Some(Fired::Reassign),
            State::Accepted { .. } if self.quiet_from().is_some() => Some(Fired::Quiet),
            State::Accepted { .. } => Some(Fired::Lapsed),
            _ => None,
        }
    }

    /// When the obligation becomes overdue; none where no answer is owed, a person owes it, or its
    /// clock is stopped.
    pub fn deadline(&self, event_at: Timestamp) -> Option<Timestamp> {
        if self.clock.withheld.is_some() {
            return None;
        }
        let ms = self.decision.deadline_ms.filter(|_| self.is_obligation())?;
        Some(self.clock_from(event_at).plus(ms.into()))
    }

    /// The next reminder, or the deadline after the last one.
    fn unanswered(&self, event_at: Timestamp) -> Option<Timestamp> {
        let deadline = self.deadline(event_at)?;
        let reminder = limits::REDELIVER_MS.get(usize::from(self.reminders));
        Some(reminder.map_or(deadline, |ms| self.clock_from(event_at).plus(*ms).min(deadline)))
    }
}

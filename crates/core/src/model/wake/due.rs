//! When time next changes a wake, and what happens then.

use super::{Outcome, Wake, WakeState};
use crate::model::ids::Timestamp;
use crate::model::limits;

/// What time does to a wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fired {
    /// It is to be handed to its runner.
    Hand,
    /// The runner is told of more mail.
    Mail,
    /// It was taken back: what was reported to its old fence is stale.
    TakenBack,
    /// No runner was there for too long.
    NoRunner,
}

impl Wake {
    /// When time next changes it. `connected`: whether its runner is.
    pub fn due(&self, connected: bool) -> Option<Timestamp> {
        match self.state {
            WakeState::Done | WakeState::Dead => None,
            WakeState::Pending if connected => Some(self.deferred_until.unwrap_or(self.opened_at)),
            WakeState::Pending => Some(self.given_up_at()),
            WakeState::Handed | WakeState::Deferred | WakeState::Running => {
                let lease = self.lease_until.unwrap_or(self.changed_at);
                let mail = self.mail_due().filter(|_| connected);
                Some(mail.map_or(lease, |mail| mail.min(lease)))
            }
        }
    }

    /// When the runner is told of mail of which it does not know.
    pub fn mail_due(&self) -> Option<Timestamp> {
        let sent = self.sent_at.unwrap_or(self.opened_at);
        self.has_unsent().then(|| sent.plus(limits::WAKE_MAIL_MS))
    }

    fn given_up_at(&self) -> Timestamp {
        self.silent_since.unwrap_or(self.changed_at).plus(limits::WAKE_RUNNER_MS)
    }

    /// Handles what is due by `now`.
    pub fn fire(&mut self, connected: bool, now: Timestamp) -> Option<Fired> {
        if self.due(connected).is_none_or(|due| due > now) {
            return None;
        }
        if self.state == WakeState::Pending {
            return Some(if connected { Fired::Hand } else { Fired::NoRunner });
        }
        if self.lease_until.is_none_or(|until| until <= now) {
            if self.silent_since.is_some() && self.given_up_at() <= now {
                return Some(Fired::NoRunner);
            }
            self.take_back(now);
            return Some(Fired::TakenBack);
        }
        Some(Fired::Mail)
    }

    /// It waits again, with the next fence.
    pub fn take_back(&mut self, now: Timestamp) {
        self.fence = self.fence.saturating_add(1);
        self.state = WakeState::Pending;
        self.lease_until = None;
        self.deferred_until = None;
        self.silent_since.get_or_insert(now);
        self.changed_at = now;
    }

    pub fn end(&mut self, outcome: Outcome, now: Timestamp) {
        self.state = match outcome {
            Outcome::Answered | Outcome::Obsolete => WakeState::Done,
            Outcome::WakeFailed | Outcome::NoProgress | Outcome::NoRunner => WakeState::Dead,
        };
        self.outcome = Some(outcome);
        self.lease_until = None;
        self.deferred_until = None;
        self.silent_since = None;
        self.changed_at = now;
    }

    /// The host was down: its runner has time to come back.
    pub fn after_start(&mut self, now: Timestamp) {
        self.set_back(now);
        if self.silent_since.is_some() {
            self.silent_since = Some(now);
        }
        if self.is_out() {
            self.lease_until = Some(now.plus(limits::WAKE_LEASE_MS));
        }
    }

    /// The clock was set back: no recorded time is later than `now`.
    pub fn set_back(&mut self, now: Timestamp) {
        let before = |at: &mut Timestamp| *at = (*at).min(now);
        before(&mut self.opened_at);
        before(&mut self.changed_at);
        self.woken.iter_mut().for_each(before);
        self.failures.iter_mut().for_each(|failure| before(&mut failure.at));
        self.attempts.iter_mut().for_each(|attempt| before(&mut attempt.at));
        let past = [&mut self.deferred_since, &mut self.silent_since, &mut self.sent_at];
        past.into_iter().flatten().for_each(before);
        let lease = now.plus(limits::WAKE_DEFER_MS + limits::WAKE_LEASE_MS);
        self.lease_until = self.lease_until.map(|until| until.min(lease));
        let later = now.plus(limits::WAKE_AGAIN_MS);
        self.deferred_until = self.deferred_until.map(|until| until.min(later));
    }
}

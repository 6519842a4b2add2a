//! Which attempts of a delivery an acknowledgement covers, and how many a connection has had.
//!
//! Every attempt of one fence grants the same right: acknowledging any of them, however late, is
//! enough. A higher fence is another right, and a new connection starts counting again.

use super::{Delivery, State};
use crate::model::ids::Timestamp;

/// Attempts that no longer count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// How many were made under an older fence.
    pub fence: u16,
    /// How many were made to an older connection.
    pub connection: u16,
}

/// When a run began and last showed a sign of life, kept while its delivery is offered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub at: Timestamp,
    pub life: Timestamp,
}

impl Delivery {
    /// Whether an attempt belongs to the present fence.
    pub fn is_of_fence(&self, attempt: u16) -> bool {
        self.before.fence < attempt && attempt <= self.attempt
    }

    /// Starts another attempt and returns its number.
    pub fn next_attempt(&mut self) -> u16 {
        self.attempt = self.attempt.saturating_add(1);
        self.attempt
    }

    /// The right to answer moves: everything before is stale.
    pub fn next_fence(&mut self) {
        self.set_fence(self.fence.saturating_add(1));
    }

    pub fn set_fence(&mut self, fence: u32) {
        if fence != self.fence {
            self.fence = fence;
            self.before.fence = self.attempt;
            self.taken = None;
            self.epoch = None;
            self.over = false;
            self.next_connection();
        }
    }

    /// Offers to the next connection count from one.
    pub fn next_connection(&mut self) {
        self.before.connection = self.attempt;
    }

    /// Offers made to the present connection.
    pub(super) fn made_here(&self) -> u16 {
        self.attempt.saturating_sub(self.before.connection)
    }

    /// The run of this fence: active, or belonging to a delivery that is being offered again.
    pub(super) fn run(&self) -> Option<Taken> {
        match self.state {
            State::Accepted { at, life, .. } => Some(Taken { at, life }),
            State::Offered { .. } | State::Waiting => self.taken,
            _ => None,
        }
    }

    /// Whether a session has accepted it and still runs it.
    pub fn is_under_way(&self) -> bool {
        self.session().is_some() && self.run().is_some()
    }

    /// Whether it is offered again to the agent that runs it, behind the connection string of this
    /// epoch. Another string is another agent, which has nothing yet.
    pub fn runs_behind(&self, string: Option<Timestamp>) -> bool {
        string.is_some() && self.epoch == string && self.taken.is_some()
    }

    /// The run shows a sign of life, also while its delivery is offered again. False where no run
    /// is active.
    pub fn live(&mut self, now: Timestamp) -> bool {
        match (&mut self.state, &mut self.taken) {
            (State::Accepted { life, .. }, _) => *life = now,
            (State::Offered { .. }, Some(taken)) => taken.life = now,
            _ => return false,
        }
        true
    }

    /// An offer replaces an active run, which is remembered.
    pub(super) fn keep_run(&mut self) {
        self.taken = self.run();
    }
}

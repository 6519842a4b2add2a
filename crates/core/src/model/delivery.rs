//! A delivery: one event on its way to one member that must be notified.
//!
//! A delivery has no row until it needs one (design section 3). While it is fresh it exists only in
//! memory, and after a crash it is rebuilt from the event's own `told`. All effects of time on a
//! delivery are in [`Delivery::due`] and [`Delivery::fire`]; firing a delivery that has moved on
//! does nothing.
//!
//! An obligation (a `must_respond` delivery of an agent) has one holder and a fence. The fence
//! increases whenever the right to answer moves, so that messages of an older turn can be told from
//! those of the present one.

mod attempts;
mod due;
mod open;
mod overdue;
mod unanswered;

use std::sync::Arc;

pub use attempts::{Before, Taken};
pub use open::Open;
pub use unanswered::Unanswered;

use crate::model::attention::{Decision, Policy, Rule, Told};
use crate::model::caller::TurnRef;
use crate::model::disposition::Disposition;
use crate::model::ids::{MemberKey, SessionKey, Timestamp};

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No session of the member is connected, or the last offer failed.
    Waiting,
    Offered {
        session: SessionKey,
        at: Timestamp,
    },
    /// A session has accepted it and runs its turn. `life` is its last sign of life, and `gone` is
    /// when that session disconnected.
    Accepted {
        session: SessionKey,
        at: Timestamp,
        life: Timestamp,
        gone: Option<Timestamp>,
    },
    Settled {
        disposition: Disposition,
        at: Timestamp,
    },
    /// Out of attempts or overdue: it is listed and can be sent again.
    Dead {
        at: Timestamp,
    },
    /// The member has deferred it; it is offered again at [`Clock::until`].
    Deferred {
        at: Timestamp,
    },
}

impl State {
    /// Whether a session runs its turn.
    pub fn is_running(self) -> bool {
        matches!(self, Self::Accepted { .. })
    }
}

/// What an obligation's clock depends on besides the event's own time (design section 5,
/// "Deadlines").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// How often the member has deferred it.
    pub deferrals: u8,
    /// Until when it was last deferred. The clock counts from then on.
    pub until: Option<Timestamp>,
    /// Since when the host withholds the right to speak. The clock is stopped.
    pub withheld: Option<Timestamp>,
    /// How long the clock was stopped before, in milliseconds.
    pub stood_ms: i64,
}

/// The record of failed posts to an endpoint. It survives a restart and is written after the first
/// failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The number of failures, at least one.
    pub failed: u8,
    /// No post before this time.
    pub until: Timestamp,
    /// The epoch of the endpoint's connection string. A new string has no failures yet.
    pub epoch: Timestamp,
}

/// One event on its way to one member.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Delivery {
    pub member: MemberKey,
    pub decision: Decision,
    pub state: State,
    /// Offers made so far; the wire's `reliability.attempt`.
    pub attempt: u16,
    pub fence: u32,
    pub offered_at: Option<Timestamp>,
    pub accepted_at: Option<Timestamp>,
    /// When the withheld body of a knock was fetched.
    pub retrieved_at: Option<Timestamp>,
    /// Messages posted in this turn.
    pub said: u8,
    /// The attempt whose callback has spoken first. Other attempts would say the same again
    /// (webhook spec section 3). 0 means none.
    pub voice: u16,
    /// The run has reported its end: nothing more comes from it.
    pub over: bool,
    /// The host itself posts it to an endpoint and reports the outcome. It is not offered again
    /// while that takes long, and its run is over once it has been quiet.
    pub carried: bool,
    /// Something has come through its callback.
    pub heard: bool,
    /// Another member owes the answer now. This member may still answer, but holds no turn for it.
    pub moved_on: bool,
    /// Its failed posts since it was last accepted or given up.
    pub retry: Option<Retry>,
    /// Redeliveries made because no answer came (design section 5, "Deadlines").
    pub reminders: u8,
    pub clock: Clock,
    /// How many of the attempts belong to an older fence or to an older connection.
    pub before: Before,
    /// When the run of this fence began, while its delivery is offered again.
    pub taken: Option<Taken>,
    /// The epoch of the connection string whose agent accepted it in this fence.
    pub epoch: Option<Timestamp>,
    /// The member's last note without a message: why it deferred, declined or failed it.
    #[redact(fixed = 3)]
    pub note: Option<Arc<str>>,
}

/// The effect of time on a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fired {
    /// Offer it again, if the member is connected.
    Offer,
    /// The session that had it shows no sign of life: another may take it.
    Reassign,
    /// The deadline passed: the obligation moves on.
    Overdue,
    /// Nothing was owed, and nothing more is expected.
    Lapsed,
    /// Nothing was owed, a run worked on it, and nothing more has come.
    Quiet,
}

impl Delivery {
    pub fn new(told: &Told) -> Self {
        Self {
            member: told.member,
            decision: told.decision,
            state: State::Waiting,
            attempt: 0,
            fence: 1,
            offered_at: None,
            accepted_at: None,
            retrieved_at: None,
            said: 0,
            voice: 0,
            over: false,
            carried: false,
            heard: false,
            moved_on: false,
            retry: None,
            reminders: 0,
            clock: Clock::default(),
            before: Before::default(),
            taken: None,
            epoch: None,
            note: None,
        }
    }

    /// Whether an answer is owed.
    pub fn is_obligation(&self) -> bool {
        self.decision.policy == Policy::MustRespond
    }

    /// Whether anything can still come of it.
    pub fn is_open(&self) -> bool {
        !matches!(self.state, State::Settled { .. } | State::Dead { .. })
    }

    pub fn disposition(&self) -> Option<Disposition> {
        match self.state {
            State::Settled { disposition, .. } => Some(disposition),
            State::Deferred { .. } => Some(Disposition::Deferred),
            _ => None,
        }
    }

    /// Whether the member has deferred it, so that it is not offered now.
    pub fn is_deferred(&self) -> bool {
        matches!(self.state, State::Deferred { .. })
    }

    /// Whether it is a dead letter: nobody is left to ask, or its endpoint does not accept it.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, State::Dead { .. })
    }

    /// Whether the obligation came here from a member who did not answer.
    pub fn is_escalated(&self) -> bool {
        self.decision.rule == Rule::Escalated
    }

    /// Whether an answer is overdue here: another member did not give it, or nobody was left.
    pub fn is_overdue(&self) -> bool {
        let holds = self.is_escalated() && self.is_obligation() && self.is_open();
        holds || self.is_dead()
    }

    pub fn session(&self) -> Option<SessionKey> {
        match self.state {
            State::Offered { session, .. } | State::Accepted { session, .. } => Some(session),
            _ => None,
        }
    }

    pub fn offer(&mut self, session: SessionKey, now: Timestamp) {
        self.next_attempt();
        self.offered_at.get_or_insert(now);
        self.keep_run();
        self.state = State::Offered { session, at: now };
    }

    /// A session accepts it. A session that has acknowledged this fence before continues its run,
    /// which moves no deadline. `epoch` is that of the connection string that accepted it, if one
    /// did.
    pub fn accept(&mut self, session: SessionKey, epoch: Option<Timestamp>, now: Timestamp) {
        self.accepted_at.get_or_insert(now);
        self.epoch = epoch;
        self.retry = None;
        let Taken { at, life } = self.taken.take().unwrap_or(Taken { at: now, life: now });
        self.state = State::Accepted { session, at, life, gone: None };
    }

    /// A message was posted in its turn.
    pub fn spoke(&mut self, turn: Option<TurnRef>) {
        self.said = self.said.saturating_add(1);
        self.voice = turn.map_or(self.voice, |t| t.attempt.max(self.voice));
    }

    pub fn settle(&mut self, disposition: Disposition, now: Timestamp) {
        self.state = State::Settled { disposition, at: now };
    }

    /// The member defers it: nothing about it is due before `until`.
    pub fn defer(&mut self, until: Timestamp, now: Timestamp) {
        self.clock.deferrals = self.clock.deferrals.saturating_add(1);
        self.sleep(until, now);
    }

    /// The host defers it, for a reason of its own.
    pub fn sleep(&mut self, until: Timestamp, now: Timestamp) {
        self.clock.until = Some(until);
        self.reminders = 0;
        self.state = State::Deferred { at: now };
    }

    /// The host's reason has ended early. True if the delivery was asleep.
    pub fn awake(&mut self) -> bool {
        let slept = self.is_deferred();
        if slept {
            self.come_back();
        }
        slept
    }

    /// It waits to be offered again. Later messages of the run that deferred it or gave it up are
    /// stale.
    pub fn come_back(&mut self) {
        self.next_fence();
        self.said = 0;
        self.voice = 0;
        self.heard = false;
        self.retry = None;
        self.state = State::Waiting;
    }

    /// Whether the host withholds the right to speak: it is not offered, and nothing about it is
    /// due.
    pub fn stands_still(&self) -> bool {
        self.clock.withheld.is_some()
    }

    /// Withholds the right to speak or gives it back; the clock is stopped meanwhile. Returns
    /// whether that changed anything.
    pub fn withhold(&mut self, on: bool, now: Timestamp) -> bool {
        match (on, self.clock.withheld) {
            (true, None) => self.clock.withheld = Some(now),
            (false, Some(since)) => {
                self.clock.withheld = None;
                let stood = now.since(since).max(0);
                self.clock.stood_ms = self.clock.stood_ms.saturating_add(stood);
                if let State::Accepted { life, gone, .. } = &mut self.state {
                    *life = life.plus(stood);
                    *gone = gone.map(|_| now);
                }
                if let Some(taken) = &mut self.taken {
                    taken.life = taken.life.plus(stood);
                }
            }
            _ => return false,
        }
        true
    }

    /// The session has disconnected, or the host was down: a pending offer is void, and accepted
    /// work may still be resumed by the same session.
    pub fn interrupt(&mut self, now: Timestamp) {
        match &mut self.state {
            State::Offered { .. } => {
                self.state = State::Waiting;
                // The next connection may be another agent's, which has said nothing yet.
                self.heard = false;
                self.next_connection();
            }
            // A run that an endpoint has accepted continues there, whatever becomes of this session.
            State::Accepted { gone, .. } if !self.carried => *gone = gone.or(Some(now)),
            _ => {}
        }
    }
}

//! A delivery: one event on its way to one member that is to be told of it.
//!
//! A delivery costs no row until it must (design section 3): while it is fresh it lives here only, and
//! after a crash it is made again from the event's own `told`. Everything that time does to a delivery is
//! in [`Delivery::due`] and [`Delivery::fire`]; firing one that has moved on does nothing.
//!
//! An obligation (a `must_respond` delivery of an agent) has one holder and a fence. The fence rises
//! whenever the right to answer moves, so that what an older turn says can be told from what the present
//! one says.

mod attempts;
mod due;
mod open;
mod overdue;

use std::sync::Arc;

use crate::model::attention::{Decision, Policy, Rule, Told};
use crate::model::caller::TurnRef;
use crate::model::disposition::Disposition;
use crate::model::ids::{MemberKey, SessionKey, Timestamp};
pub use attempts::{Before, Taken};
pub use open::Open;

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No session of the member is connected, or the last offer came to nothing.
    Waiting,
    Offered {
        session: SessionKey,
        at: Timestamp,
    },
    /// A session has it and runs its turn; `life` is the last sign of it, and `gone` since when that
    /// session is not connected.
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
    /// Out of attempts or overdue: listed, and can be sent again.
    Dead {
        at: Timestamp,
    },
    /// The member has put it off; it is offered again at [`Clock::until`].
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

/// What an obligation's clock counts from besides the event's own time (design section 5, "Deadlines").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// How often the member has put it off.
    pub deferrals: u8,
    /// Until when it was put off last. The clock counts from there on.
    pub until: Option<Timestamp>,
    /// Since when the host itself withholds the right to speak: the clock stands still.
    pub withheld: Option<Timestamp>,
    /// How long it stood still before, in milliseconds.
    pub stood_ms: i64,
}

/// What the host knows of posts to an endpoint that failed: it outlives the host, and is noted after the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How many did, at least one.
    pub failed: u8,
    /// Nothing is posted before.
    pub until: Timestamp,
    /// The endpoint's, by its string: another one has failed at nothing yet.
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
    /// When the withheld body of a knock was pulled.
    pub retrieved_at: Option<Timestamp>,
    /// Messages said in this turn.
    pub said: u8,
    /// Which attempt's callback has spoken first: another's says the same again (webhook spec section 3). 0 is none.
    pub voice: u16,
    /// The run has said how it ended: nothing more comes of it.
    pub over: bool,
    /// The host itself carries it to an endpoint, and says what becomes of it: it is not offered again because
    /// that takes long, and its run is over once it has been quiet.
    pub carried: bool,
    /// Something has come by its callback.
    pub heard: bool,
    /// What was owed here is owed by somebody else now: its member may still answer, and holds no turn for it.
    pub moved_on: bool,
    /// Posts of it that failed since it was last taken or given up.
    pub retry: Option<Retry>,
    /// Redeliveries made because no answer came (design section 5, "Deadlines").
    pub reminders: u8,
    pub clock: Clock,
    /// How many of the attempts belong to an older fence, or to an older connection.
    pub before: Before,
    /// When the run of this fence began, while its delivery is offered again.
    pub taken: Option<Taken>,
    /// Which connection string the agent is behind that took it in this fence, by the string's epoch.
    pub epoch: Option<Timestamp>,
    /// What the member last said of it without a message: why it put it off, declined it or could not do it.
    #[redact(fixed = 3)]
    pub note: Option<Arc<str>>,
}

/// What time makes of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fired {
    /// Offer it again, if the member is there.
    Offer,
    /// The session that had it is not heard of: another may take it.
    Reassign,
    /// The deadline passed: the obligation moves on.
    Overdue,
    /// Nothing was owed, and nothing more is expected.
    Lapsed,
    /// Nothing was owed, it was worked on, and nothing more has come.
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

    /// Whether the member has put it off, so that it is not offered now.
    pub fn is_deferred(&self) -> bool {
        matches!(self.state, State::Deferred { .. })
    }

    /// Whether nobody is left who could be asked, or its endpoint does not take it.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, State::Dead { .. })
    }

    /// Whether the obligation came here from somebody who did not answer.
    pub fn is_escalated(&self) -> bool {
        self.decision.rule == Rule::Escalated
    }

    /// Whether an answer is owed here that was not given in time: somebody else did not, or nobody was left.
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

    /// A session has it. One that has acknowledged this fence before goes on with its run: that moves no deadline.
    /// `epoch` is of the connection string that took it, where one did.
    pub fn accept(&mut self, session: SessionKey, epoch: Option<Timestamp>, now: Timestamp) {
        self.accepted_at.get_or_insert(now);
        self.epoch = epoch;
        self.retry = None;
        let Taken { at, life } = self.taken.take().unwrap_or(Taken { at: now, life: now });
        self.state = State::Accepted { session, at, life, gone: None };
    }

    /// Something was said in its turn.
    pub fn spoke(&mut self, turn: Option<TurnRef>) {
        self.said = self.said.saturating_add(1);
        self.voice = turn.map_or(self.voice, |t| t.attempt.max(self.voice));
    }

    pub fn settle(&mut self, disposition: Disposition, now: Timestamp) {
        self.state = State::Settled { disposition, at: now };
    }

    /// Puts it off: nothing of it is due before `until`.
    pub fn defer(&mut self, until: Timestamp, now: Timestamp) {
        self.clock.deferrals = self.clock.deferrals.saturating_add(1);
        self.sleep(until, now);
    }

    /// It is put off by the host, for a reason of its own.
    pub fn sleep(&mut self, until: Timestamp, now: Timestamp) {
        self.clock.until = Some(until);
        self.reminders = 0;
        self.state = State::Deferred { at: now };
    }

    /// The reason is gone before its time: true when it slept.
    pub fn awake(&mut self) -> bool {
        let slept = self.is_deferred();
        if slept {
            self.come_back();
        }
        slept
    }

    /// It waits to be offered anew, and what the run that put it off, or gave it up, still says is stale.
    pub fn come_back(&mut self) {
        self.next_fence();
        self.said = 0;
        self.voice = 0;
        self.heard = false;
        self.retry = None;
        self.state = State::Waiting;
    }

    /// Whether the host withholds the right to speak: it is not offered, and nothing of it is due.
    pub fn stands_still(&self) -> bool {
        self.clock.withheld.is_some()
    }

    /// The host withholds the right to speak, or gives it back: meanwhile the clock stands still. Whether that
    /// changed anything.
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

    /// The session's connection is gone, or the host was: an offer under way is void, accepted work may
    /// still be taken up by the same session.
    pub fn interrupt(&mut self, now: Timestamp) {
        match &mut self.state {
            State::Offered { .. } => {
                self.state = State::Waiting;
                // Another may be behind the next connection, which has said nothing yet.
                self.heard = false;
                self.next_connection();
            }
            // What an endpoint has taken goes on there, whoever posts to it next.
            State::Accepted { gone, .. } if !self.carried => *gone = gone.or(Some(now)),
            _ => {}
        }
    }
}

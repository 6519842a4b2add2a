//! Which event goes into which turn, and when: the harness's whole judgement, pure.
//!
//! Sans-I/O: [`Turns::handle`] takes one [`Input`] and [`Turns::poll`] the time; both give [`Effect`]s to be
//! performed in order; [`Turns::due`] says when to poll next. Nothing in here waits, speaks or asks a clock.
//!
//! Invariants: one turn at a time per conversation and thread; what comes during a turn is one next turn,
//! however much it is; every delivery taken in ends in exactly one [`Step::Reply`] or [`Step::Settle`]; a
//! turn that has said something is never run again (C2A "Injection mode `buffered`", "Reliability", "Edits,
//! deletes, fragments"; design section 5).

mod arrive;
mod digests;
mod finish;
mod knocks;
mod lane;
mod start;
mod window;
mod withdraw;

use std::collections::{BTreeMap, HashMap};

use chorus_core::attention::compose::Settings;
use chorus_core::model::attention::{Mode, Policy};
use chorus_core::model::ids::Timestamp;
use chorus_wire::attention::deliver::Deliver;
use chorus_wire::attention::notifications::Digest;
use digests::HeldDigests;
use knocks::HeldKnocks;
use lane::{Lane, Waiting};
use window::Authors;

use crate::journal::Step;
use crate::options::Knocks;
use crate::runtime::End;

/// A run of the runtime begun this often for one event without a word is given up.
pub const ATTEMPTS: u32 = 3;
/// A run that owes an answer and ends without one this often has failed.
pub const SILENCES: u8 = 2;
/// Pause before the second attempt; each further one waits four times as long.
pub const RETRY_MS: i64 = 1_000;
/// After a restart of the harness, the host has this long to offer an open event again with a fresh token.
pub const RECOVERY_MS: i64 = 2_000;
/// A lost call to claim is made again after this.
pub const RECLAIM_MS: i64 = 2_000;

/// What the machine is set to.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The compose window.
    pub compose: Settings,
    pub knocks: Knocks,
    /// Turns that run at once.
    pub parallel: usize,
}

/// Where turns follow each other: a conversation, or one thread of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub conversation: String,
    pub thread: Option<String>,
}

/// Everything that can happen to the machine.
#[derive(Clone, Debug)]
pub enum Input {
    /// The host can be reached, or not. Without it no turn begins: its context could not be read, nor its
    /// reply be sent under a token that still holds. The machine starts without.
    Linked(bool),
    /// A delivery that is new to the journal.
    Delivered(Deliver),
    /// An open delivery was offered again: its token, and perhaps its content, are fresher.
    Refreshed(Deliver),
    /// A delivery found open in the journal at start. `attempts` turns were begun for it.
    Recovered {
        delivery: Deliver,
        attempts: u32,
    },
    /// The host withdrew a delivery: deleted, edited, or moved to somebody else.
    Cancelled {
        event: String,
        reason: String,
    },
    /// The author of something delivered here types, or has stopped.
    Typing {
        conversation: String,
        author: String,
        typing: bool,
    },
    /// What happened in a channel that the member follows.
    Digest(Box<Digest>),
    Claimed {
        event: String,
        answer: ClaimAnswer,
    },
    /// The run has said something that others see: a message, a reaction, progress. Nothing joins it any more.
    Seen {
        turn: u64,
    },
    /// Before the run it was seen that an earlier run of these events had acted already.
    ActedBefore {
        turn: u64,
    },
    /// A run has ended. `acted` when the host shows that the runtime itself has answered or reacted.
    Ended {
        turn: u64,
        end: End,
        acted: bool,
    },
}

/// What came of `chat.claim`.
#[derive(Clone, Debug)]
pub enum ClaimAnswer {
    /// Held: the event with its content and the turn's token.
    Held(Box<Deliver>),
    /// Another decides about it, or nobody may any more.
    Lost { note: String },
    /// The host could not be asked.
    Unreachable,
}

/// What is to be done. Records come first and are committed before the rest is performed.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Record(Step),
    Start(Box<Turn>),
    /// Stop the run by signal; it ends as [`End::Cancelled`] unless it was faster.
    Stop(u64),
    /// The same, for what joins the run; where it has said something that others see it goes on instead, and
    /// [`Input::Seen`] follows.
    Join(u64),
    /// Ask for the right to decide about the event.
    Claim(String),
}

/// One run of the runtime.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub id: u64,
    pub place: Place,
    /// What it is about, in the order in which it came. Never empty.
    pub batch: Vec<Deliver>,
    /// Knocks of the conversation that are only mentioned.
    pub knocks: Vec<Deliver>,
    /// What happened in channels that the member follows, oldest first.
    pub digests: Vec<Digest>,
    /// Index in `batch` of the event that is answered.
    pub anchor: usize,
    /// 1 for the first run of the batch's oldest event.
    pub attempt: u32,
    /// An earlier run may have acted without the harness knowing: look before running.
    pub look_first: bool,
}

impl Turn {
    /// The event that is answered.
    pub fn anchor(&self) -> Option<&Deliver> {
        self.batch.get(self.anchor)
    }

    /// Whether the event that is answered must be.
    pub fn owes_an_answer(&self) -> bool {
        self.anchor().is_some_and(|delivery| delivery.attention.policy == Policy::MustRespond)
    }
}

/// The machine.
pub struct Turns {
    rules: Rules,
    lanes: BTreeMap<Place, Lane>,
    /// The place of every turn that runs.
    running: HashMap<u64, Place>,
    /// Knocks whose claim is asked for, and when to ask again.
    claims: BTreeMap<String, (Deliver, Option<Timestamp>)>,
    held: HeldKnocks,
    digests: HeldDigests,
    authors: Authors,
    last_turn: u64,
    linked: bool,
}

impl Turns {
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            lanes: BTreeMap::new(),
            running: HashMap::new(),
            claims: BTreeMap::new(),
            held: HeldKnocks::default(),
            digests: HeldDigests::default(),
            authors: Authors::default(),
            last_turn: 0,
            linked: false,
        }
    }

    /// Takes one input and gives what follows from it at `now`, turns that may begin included.
    pub fn handle(&mut self, input: Input, now: Timestamp) -> Vec<Effect> {
        let mut out = Vec::new();
        match input {
            Input::Linked(linked) => self.linked = linked,
            Input::Delivered(delivery) => self.delivered(delivery, now, &mut out),
            Input::Refreshed(delivery) => self.refreshed(delivery, now, &mut out),
            Input::Recovered { delivery, attempts } => {
                self.recovered(delivery, attempts, now, &mut out);
            }
            Input::Cancelled { event, reason } => self.cancelled(&event, &reason, &mut out),
            Input::Typing { conversation, author, typing } => {
                self.authors.typing(&conversation, &author, typing, now);
            }
            Input::Digest(digest) => self.digests.push(*digest),
            Input::Claimed { event, answer } => self.claimed(&event, answer, now, &mut out),
            Input::Seen { turn } => self.seen(turn),
            Input::ActedBefore { turn } => self.acted_before(turn, &mut out),
            Input::Ended { turn, end, acted } => self.ended(turn, end, acted, now, &mut out),
        }
        self.begin(now, &mut out);
        out
    }

    /// Does what has become due.
    pub fn poll(&mut self, now: Timestamp) -> Vec<Effect> {
        let mut out = Vec::new();
        for (event, (_, again)) in &mut self.claims {
            if self.linked && again.is_some_and(|at| at <= now) {
                *again = None;
                out.push(Effect::Claim(event.clone()));
            }
        }
        self.begin(now, &mut out);
        out
    }

    /// When [`Turns::poll`] has something to do, if nothing else happens before.
    pub fn due(&self) -> Option<Timestamp> {
        let claims = self.claims.values().filter_map(|(_, again)| again.filter(|_| self.linked));
        let lanes = if self.may_begin() {
            self.lanes.values().filter_map(|lane| self.lane_due(lane)).min()
        } else {
            None
        };
        claims.chain(lanes).min()
    }

    /// Whether another turn may begin, if one is due.
    fn may_begin(&self) -> bool {
        self.linked && self.running.len() < self.rules.parallel
    }

    /// How many deliveries have not ended.
    pub fn open(&self) -> usize {
        let lanes = self.lanes.values().map(|lane| {
            lane.waiting.len() + lane.running.as_ref().map_or(0, |run| run.batch.len())
        });
        lanes.sum::<usize>() + self.claims.len() + self.held.unsettled()
    }

    /// Turns that run now.
    pub fn running(&self) -> impl Iterator<Item = u64> + '_ {
        self.running.keys().copied()
    }
}

/// The place a delivery belongs to.
pub fn place_of(delivery: &Deliver) -> Place {
    Place {
        conversation: delivery.conversation.id.clone().into_owned(),
        thread: delivery.conversation.thread_id.clone().map(|thread| thread.into_owned()),
    }
}

/// Whether only a knock was delivered, without the body.
pub fn is_knock(delivery: &Deliver) -> bool {
    delivery.content.is_none() || delivery.injection.mode == Mode::Notify
}

/// How much an event presses for an answer; the one that presses most is answered.
fn pressure(waiting: &Waiting) -> u8 {
    let knock = is_knock(&waiting.delivery);
    match (*waiting.delivery.attention.policy, waiting.claimed, knock) {
        (Policy::MustRespond, _, _) => 3,
        (_, true, _) => 2,
        (Policy::MayRespond, false, false) => 1,
        _ => 0,
    }
}

#[cfg(test)]
pub(crate) mod tests;

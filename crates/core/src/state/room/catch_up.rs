//! Brings a room up to date after other hosts have changed it.
//!
//! Invariant: afterwards the room equals a freshly loaded one. What is in the log is replayed. For
//! everything else the writing host has listed what it changed ([`Missed::open`]), or requires the
//! room to be loaded ([`Dirty::must_be_loaded_again`]).

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::sync::Arc;

use super::{Dirty, Room};
use crate::model::delivery::{Delivery, Open};
use crate::model::event::Event;
use crate::model::ids::{Seq, Timestamp};
use crate::model::limits;
use crate::model::turn::Turn;
use crate::state::directory::Directory;

/// What other hosts did in a room since it was last up to date.
#[derive(Clone, Debug, Default)]
pub struct Missed {
    /// The head's version.
    pub version: u64,
    /// What they logged, in order.
    pub events: Vec<Arc<Event>>,
    /// The state of the events whose deliveries or claims they changed.
    pub open: Vec<Standing>,
    /// The subjects whose turns they changed; none where nobody speaks or waits any more.
    pub turns: Vec<(Seq, Option<Turn>)>,
}

/// The state of an event according to its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Somebody owes something for it.
    Open(Open),
    /// Nobody owes anything for it any more.
    Closed(Open),
}

impl Dirty {
    /// The events whose obligations changed.
    pub fn standings(&self) -> impl Iterator<Item = Seq> {
        let closed = self.receipts.iter().map(|open| open.seq);
        self.pending.iter().chain(&self.reopened).copied().chain(closed)
    }
}

impl Room {
    /// Whether this directly follows the state here; otherwise the room must be loaded.
    pub fn follows(&self, missed: &Missed) -> bool {
        let events = &missed.events;
        let seqs = events.iter().map(|event| event.seq.0);
        let next = self.head.seq.0 + 1;
        let chained = events.last().is_none_or(|last| {
            let before = events.iter().rev().nth(1).map_or(self.head.hash, |event| event.hash);
            last.chain(&before) == last.hash
        });
        !self.is_dirty()
            && missed.version > self.head.version
            && seqs.eq(next..next + events.len() as u64)
            && chained
    }

    /// Applies what other hosts did, and returns the previous state of the changed events.
    pub fn catch_up(
        &mut self,
        missed: Missed,
        directory: &Directory,
        now: Timestamp,
    ) -> BTreeMap<Seq, Option<Open>> {
        for event in &missed.events {
            if let Some(idempotency) = event.idempotency {
                self.sent.put(idempotency.key, event.seq, event.at);
            }
            self.apply(event);
        }
        let Dirty { messages, .. } = std::mem::take(&mut self.dirty);
        // Only the latest state of these is known. Cursors may have moved.
        self.messages.retain(|seq, _| !messages.contains(seq));
        self.cursors.clear();
        self.turns.catch_up(missed.turns);
        let mut before = BTreeMap::new();
        for standing in missed.open {
            let (Standing::Open(open) | Standing::Closed(open)) = &standing;
            let seq = open.seq;
            let stood = self.open.remove(&seq);
            stood.iter().for_each(|open| self.unfile(open));
            before.insert(seq, stood);
            self.closed.retain(|open| open.seq != seq);
            match standing {
                Standing::Open(open) => self.stand(open, true, directory, now),
                Standing::Closed(open) => {
                    self.written.remove(&seq);
                    self.keep_closed(open);
                }
            }
        }
        self.head.version = missed.version;
        self.head.settled = self.head.seq;
        before
    }

    /// How a freshly loaded room differs from this one, as a message; none if they are equal.
    pub fn differs_from(&self, loaded: &Self) -> Option<String> {
        fn unlike<T: PartialEq + Debug>(what: &str, here: &T, there: &T) -> Option<String> {
            (here != there).then(|| format!("{what}: {here:?} is written {there:?}"))
        }
        let Self { conversation, head, roster, listeners, threads, open, gone, .. } = self;
        let newest: VecDeque<_> = self.tail.iter().rev().take(loaded.tail.len()).rev().collect();
        // Nothing is counted while nobody follows the conversation.
        let tally = |room: &Self| (!room.listeners.is_empty()).then(|| room.tally.clone());
        unlike("conversation", conversation, &loaded.conversation)
            .or_else(|| unlike("head", head, &loaded.head))
            .or_else(|| unlike("roster", roster, &loaded.roster))
            .or_else(|| unlike("listeners", listeners, &loaded.listeners))
            .or_else(|| unlike("threads", threads, &loaded.threads))
            .or_else(|| {
                open.iter().find_map(|(seq, o)| unlike("open", &Some(o), &loaded.open.get(seq)))
            })
            .or_else(|| unlike("open", &open.len(), &loaded.open.len()))
            .or_else(|| unlike("turns", &self.turns.held(), &loaded.turns.held()))
            .or_else(|| unlike("gone", gone, &loaded.gone))
            .or_else(|| unlike("tally", &tally(self), &tally(loaded)))
            .or_else(|| unlike("stimuli", &self.stimuli, &loaded.stimuli))
            .or_else(|| unlike("schedules", &self.schedules, &loaded.schedules))
            .or_else(|| unlike("tail", &newest, &loaded.tail.iter().collect()))
    }

    /// Restores an open event from its row. On a shared database, a delivery that is held by a
    /// connected session keeps its state; any other is offered again.
    pub(super) fn stand(
        &mut self,
        mut open: Open,
        shared: bool,
        everybody: &Directory,
        now: Timestamp,
    ) {
        open.stored = true;
        self.file(&mut open);
        let holds = |d: &Delivery| {
            let session = d.session().and_then(|s| everybody.sessions.get(&s));
            shared && session.is_some_and(|s| s.connected)
        };
        let row = open.clone();
        open.deliveries.iter_mut().filter(|d| !holds(d)).for_each(|d| d.interrupt(now));
        // Another host's recent time, by its own clock, is kept as it was written.
        open.set_back(if shared { now.plus(limits::CLOCK_SKEW_MS) } else { now });
        if shared {
            if row != open {
                self.unlike.insert(open.seq);
            }
            self.written.insert(row.seq, row);
        }
        self.open.insert(open.seq, open);
    }
}

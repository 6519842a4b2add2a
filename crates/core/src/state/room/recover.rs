//! Finds inconsistencies in a room's open state when a host restarts (channels spec "Persistence
//! and recovery").

use std::sync::Arc;

use super::Room;
use super::turns::takes_turns;
use crate::model::event::Event;
use crate::model::ids::{Seq, ThreadKey};
use crate::model::thread::Thread;
use crate::model::turn::{Lease, Turn};

impl Room {
    /// Records what is wrong with its log and how to fix it. It is found at each load, not stored.
    pub fn set_damaged(&mut self, damage: Option<Arc<str>>) {
        self.damaged = damage;
    }

    /// Events before this one are missing from the log: replay goes on with it.
    pub fn skip_to(&mut self, seq: Seq) {
        self.head.seq = Seq(seq.0 - 1);
    }

    /// Rebuilds a thread from these events of it and the start of this room's log. None when its
    /// opening is in neither.
    pub fn thread_of(&self, thread: ThreadKey, events: &[Arc<Event>]) -> Option<Thread> {
        let mut alone = Self::new((*self.conversation).clone());
        alone.threads.extend(self.threads.get(&thread).map(|found| (thread, found.clone())));
        events.iter().for_each(|event| alone.project(event));
        alone.threads.get(&thread).map(|found| Thread::clone(found))
    }

    /// Turns that contradict the open events: a lease of a finished run, or of a subject that is
    /// not in this room. Each comes with its replacement, or none where nobody speaks or waits.
    pub fn stale_turns(&self) -> Vec<(Seq, Option<Turn>)> {
        let runs = |subject: Seq, lease: &Lease| {
            let open = self.open.get(&lease.cause).filter(|open| open.subject == Some(subject));
            let delivery = open.and_then(|open| open.delivery(lease.member));
            delivery.is_some_and(takes_turns)
        };
        let mut stale = Vec::new();
        for (subject, turn) in self.turns.subjects() {
            let mut left = turn.clone();
            left.leases.retain(|lease| runs(subject, lease));
            // A member who has spoken may still be resting. Its host deletes the row once nobody
            // is.
            let rests = !left.spoke.is_empty();
            let live = rests || !left.is_idle() || self.turns.open(subject).next().is_some();
            if !live {
                stale.push((subject, None));
            } else if left != *turn {
                stale.push((subject, Some(left)));
            }
        }
        stale
    }
}

//! What of a room's open state does not fit, as a host finds it that comes back (channels spec "Persistence and
//! recovery").

use std::sync::Arc;

use super::Room;
use super::turns::takes_turns;
use crate::model::event::Event;
use crate::model::ids::{Seq, ThreadKey};
use crate::model::thread::Thread;
use crate::model::turn::{Lease, Turn};

impl Room {
    /// A thread as these events of it make it, from where the log of this room begins. None when its opening is in
    /// neither.
    pub fn thread_of(&self, thread: ThreadKey, events: &[Arc<Event>]) -> Option<Thread> {
        let mut alone = Self::new((*self.conversation).clone());
        alone.threads.extend(self.threads.get(&thread).map(|found| (thread, found.clone())));
        events.iter().for_each(|event| alone.project(event));
        alone.threads.get(&thread).map(|found| Thread::clone(found))
    }

    /// Turns that are not as what is open says: a lease of a run that is over, or of no subject of this room. What is
    /// to stand in their place, or nothing where nobody speaks or waits.
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
            // Who has spoken may rest still. Its host lets the row go once nobody does.
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

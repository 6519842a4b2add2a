//! How far the commits of a workspace are durable, where that is later than their being visible.
//!
//! A reader can see a commit that is not synced yet. It waits for the sync before it gives away what it has seen:
//! nobody is shown what a power cut could still undo.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::db::{Error, Result};

#[derive(Debug, Default)]
pub(crate) struct Durable {
    /// Commits that were begun.
    begun: AtomicU64,
    /// Commits that are durable: up to this one.
    reached: AtomicU64,
    waiting: Mutex<Waiting>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    readers: u32,
    /// The sync of a commit failed.
    failed: bool,
}

impl Durable {
    /// A commit is about to begin, and may be visible from now on. Its number.
    pub(crate) fn begin(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Commits up to this one are durable, or came to nothing.
    pub(crate) fn reached(&self, number: u64) {
        self.reached.fetch_max(number, Ordering::AcqRel);
        self.tell(|_| {});
    }

    /// The commits that are not durable will never be.
    pub(crate) fn fail(&self) {
        self.tell(|waiting| waiting.failed = true);
    }

    fn tell(&self, change: impl FnOnce(&mut Waiting)) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut waiting);
        if waiting.readers > 0 {
            self.moved.notify_all();
        }
    }

    /// Whether all that is visible is durable.
    pub(crate) fn is_reached(&self) -> bool {
        self.reached.load(Ordering::Acquire) >= self.begun.load(Ordering::Acquire)
    }

    /// Waits until all that was visible until now is durable.
    pub(crate) fn wait(&self) -> Result<()> {
        if self.is_reached() {
            return Ok(());
        }
        let seen = self.begun.load(Ordering::Acquire);
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.readers += 1;
        while self.reached.load(Ordering::Acquire) < seen && !waiting.failed {
            waiting = self.moved.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.readers -= 1;
        match self.reached.load(Ordering::Acquire) >= seen {
            true => Ok(()),
            false => Err(Error::Engine("a sync failed, and what is on disk is unknown".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    // covers: OPS-176
    #[test]
    fn reader_waits_for_what_it_may_have_seen_and_for_nothing_later() {
        let durable = Arc::new(Durable::default());
        assert!(durable.wait().is_ok());
        let (first, second) = (durable.begin(), durable.begin());
        let reader = std::thread::spawn({
            let durable = durable.clone();
            move || durable.wait().map(|()| durable.reached.load(Ordering::Acquire))
        });
        until_somebody_waits(&durable);
        durable.reached(first);
        durable.reached(second);
        assert_eq!(reader.join().unwrap().unwrap(), second);
        durable.begin();
        durable.fail();
        assert!(durable.wait().is_err(), "what was seen is not on disk");
    }

    fn until_somebody_waits(durable: &Durable) {
        while durable.waiting.lock().unwrap().readers == 0 {
            std::thread::yield_now();
        }
    }
}

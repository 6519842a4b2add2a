//! What was erased lately: what is encoded and still on its way to somebody is looked up here before it is
//! shown.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use chorus_core::model::ids::EventRef;
use hashlink::LruCache;

/// Events remembered: far more than are erased while something waits in a queue.
const EVENTS: usize = 65_536;

pub(crate) struct ErasedEvents {
    /// How often something was erased. While it never was, nobody waits for the lock.
    times: AtomicU64,
    events: Mutex<LruCache<EventRef, ()>>,
}

impl Default for ErasedEvents {
    fn default() -> Self {
        Self { times: AtomicU64::default(), events: Mutex::new(LruCache::new(EVENTS)) }
    }
}

impl ErasedEvents {
    pub(crate) fn put(&self, events: impl IntoIterator<Item = EventRef>) {
        let mut held = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        for at in events {
            held.insert(at, ());
        }
        self.times.fetch_add(1, Ordering::Release);
    }

    /// How often something was erased: what was made ready at another count is to be made anew.
    pub(crate) fn times(&self) -> u64 {
        self.times.load(Ordering::Acquire)
    }

    pub(crate) fn holds(&self, at: EventRef) -> bool {
        self.times() > 0
            && self.events.lock().unwrap_or_else(PoisonError::into_inner).peek(&at).is_some()
    }
}

#[cfg(test)]
mod tests {
    use chorus_core::model::ids::{ConversationKey, Seq};

    use super::*;

    #[test]
    fn the_newest_are_remembered() {
        let at = |n| EventRef { conversation: ConversationKey(1), seq: Seq(n) };
        let gone = ErasedEvents::default();
        assert!(!gone.holds(at(1)));
        gone.put((1..=EVENTS as u64 + 1).map(at));
        assert!(!gone.holds(at(1)), "the list is bounded");
        assert!(gone.holds(at(2)) && gone.holds(at(EVENTS as u64 + 1)));
    }
}

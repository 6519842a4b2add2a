//! Stopping without cutting anybody off: what is under way is answered, what comes new is told to come back.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use chorus_core::model::error::{Code, Refusal};

/// Requests under way, and whether new ones are still taken.
#[derive(Default)]
pub(crate) struct Drain {
    draining: AtomicBool,
    under_way: AtomicUsize,
}

/// A request under way; it has been answered when this is dropped.
pub(crate) struct UnderWay<'a>(&'a Drain);

impl Drain {
    pub(crate) fn begin(&self) {
        self.draining.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    pub(crate) fn under_way(&self) -> usize {
        self.under_way.load(Ordering::SeqCst)
    }

    /// Takes a request in; `always` is what is answered to the end.
    pub(crate) fn enter(&self, always: bool) -> Result<UnderWay<'_>, Refusal> {
        // Counted first: whoever waits for nobody to be under way either sees it or made it see the flag.
        self.under_way.fetch_add(1, Ordering::SeqCst);
        let entered = UnderWay(self);
        if self.is_draining() && !always {
            return Err(Refusal::new(
                Code::Unavailable,
                "the host is stopping; try again in a moment",
            ));
        }
        Ok(entered)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

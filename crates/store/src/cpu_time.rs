//! The time that a thread has had of a core.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// Zero where the system does not say.
pub fn of_this_thread() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

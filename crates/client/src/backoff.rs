//! How long a client waits before it tries again.

use std::time::Duration;

use chorus_wire::backoff::{Backoff, Jitter};

/// Half of a wait is chance, so that many agents whose host restarts do not all come back in the same moment.
const BACKOFF: Backoff = Backoff {
    first: Duration::from_millis(250),
    longest: Duration::from_secs(30),
    jitter: Jitter::Half,
};

/// The wait before attempt `attempt` (0 is the first retry). `random` is any number; all its bits count.
pub fn backoff(attempt: u32, random: u64) -> Duration {
    BACKOFF.wait(attempt, random)
}

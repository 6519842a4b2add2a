//! Until when a host may act for what it owns without asking the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// A host's lease, as it knows it itself.
///
/// It is counted on a clock that goes on while the process stands still, from the moment before the
/// renewal was sent: so it ends here no later than in the database, whoever's clock is right.
#[derive(Debug)]
pub struct Lease {
    until: AtomicI64,
}

/// Milliseconds of the clock that counts a suspended machine's sleep too.
pub(super) fn now() -> i64 {
    clock_gettime(ClockId::CLOCK_BOOTTIME)
        .map_or(i64::MAX, |time| time.tv_sec() * 1_000 + time.tv_nsec() / 1_000_000)
}

impl Lease {
    /// Of a place that one process has for itself, by a lock of the system's.
    pub fn unlimited() -> Arc<Self> {
        Arc::new(Self { until: AtomicI64::new(i64::MAX) })
    }

    /// One that is to be renewed first.
    pub(super) fn ended() -> Arc<Self> {
        Arc::new(Self { until: AtomicI64::new(0) })
    }

    /// Whether no other host can own by now what this one owned.
    pub fn holds(&self) -> bool {
        let until = self.until.load(Ordering::Acquire);
        until == i64::MAX || now() < until
    }

    pub(super) fn renew(&self, asked: i64, lease: Duration) {
        let lease = i64::try_from(lease.as_millis()).unwrap_or(i64::MAX);
        self.until.store(asked.saturating_add(lease), Ordering::Release);
    }

    pub(super) fn end(&self) {
        self.until.store(0, Ordering::Release);
    }
}

/// Milliseconds since the Unix epoch, by this machine's clock.
pub(super) fn unix_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

//! The one clock of a harness: wall time at its start, and from there on time that never goes back.

use std::time::{SystemTime, UNIX_EPOCH};

use chorus_core::model::ids::Timestamp;
use tokio::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    began: Timestamp,
    at: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let began = Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
        Self { began, at: Instant::now() }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.began.plus(i64::try_from(self.at.elapsed().as_millis()).unwrap_or(i64::MAX))
    }

    /// The moment at which [`Clock::now`] is `time`. A millisecond is rounded up, so that whoever waits for
    /// it does not wake before it.
    pub(crate) fn instant(&self, time: Timestamp) -> Instant {
        let ms = u64::try_from(time.since(self.began)).unwrap_or_default();
        self.at + Duration::from_millis(ms)
    }
}

//! How an endpoint is: whether it takes what is posted, and a breaker that lets it be while it does not.
//!
//! Closed: deliveries go out. After [`FAILURES`] posts in a row that failed it opens: nothing goes out for a while,
//! which doubles each time. Then one post tries; it closes with the first that is taken. What an endpoint refuses
//! (4xx) says that somebody is there, and counts as no failure.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chorus_core::model::ids::Timestamp;

/// Posts in a row that fail before an endpoint counts as down.
pub(super) const FAILURES: u32 = 5;
/// How long it is let be for the first time, and at most.
const REST: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(15 * 60));

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Breaker {
    #[default]
    Closed,
    /// Nothing goes out until then.
    Open { until: Timestamp },
    /// One post tries whether it is back.
    HalfOpen,
}

/// Whether an endpoint is there, as far as it was ever tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    #[default]
    NotTried,
    Reachable,
    Unreachable,
}

impl Reach {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NotTried => "not_tried",
            Self::Reachable => "reachable",
            Self::Unreachable => "unreachable",
        }
    }
}

/// As it is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub breaker: Breaker,
    pub failures: u32,
    pub waiting: usize,
    /// Whether it was looked what waits.
    is_known: bool,
    pub last_taken_at: Option<Timestamp>,
    pub last_error: Option<(Timestamp, String)>,
    /// When its agent answered to a test last.
    pub tried_at: Option<Timestamp>,
    /// How often the breaker opened since it last closed.
    opened: u32,
    /// What came of the newest post, and to the string of which epoch.
    reached: Option<(Timestamp, Reach)>,
}

#[derive(Default)]
pub(crate) struct Health(Mutex<Seen>);

impl Health {
    pub(crate) fn seen(&self) -> Seen {
        self.lock().clone()
    }

    pub(super) fn tried(&self, now: Timestamp) {
        self.lock().tried_at = Some(now);
    }

    /// Whether nothing waits to be posted; nobody knows of an endpoint that is let be.
    pub(super) fn is_idle(&self, now: Timestamp) -> bool {
        let seen = self.lock();
        seen.is_known
            && seen.waiting == 0
            && !matches!(seen.breaker, Breaker::Open { until } if until > now)
    }

    pub(super) fn waiting(&self, count: usize) {
        let mut seen = self.lock();
        (seen.waiting, seen.is_known) = (count, true);
    }

    /// What came of the newest post to the string of this epoch.
    pub(crate) fn reach(&self, epoch: Timestamp) -> Reach {
        self.lock()
            .reached
            .filter(|(of, _)| *of == epoch)
            .map_or(Reach::NotTried, |(_, reach)| reach)
    }

    /// A post to the string of this epoch, a delivery or a test, was taken or not.
    pub(crate) fn posted(&self, epoch: Timestamp, taken: bool) {
        let reach = if taken { Reach::Reachable } else { Reach::Unreachable };
        self.lock().reached = Some((epoch, reach));
    }

    /// A post was taken.
    pub(super) fn taken(&self, now: Timestamp) {
        let mut seen = self.lock();
        (seen.breaker, seen.failures, seen.opened) = (Breaker::Closed, 0, 0);
        seen.last_taken_at = Some(now);
    }

    /// What was posted is not wanted; the endpoint is there.
    pub(super) fn refused(&self, why: String, now: Timestamp) {
        let mut seen = self.lock();
        (seen.breaker, seen.failures, seen.opened) = (Breaker::Closed, 0, 0);
        seen.last_error = Some((now, why));
        seen.is_known = true;
    }

    /// A post failed: for how long the endpoint is to be let be, if it is. `random` is any number.
    pub(super) fn failed(&self, why: String, now: Timestamp, random: u64) -> Option<Duration> {
        let mut seen = self.lock();
        seen.failures = seen.failures.saturating_add(1);
        seen.last_error = Some((now, why));
        if seen.breaker == Breaker::Closed && seen.failures < FAILURES {
            return None;
        }
        let doubled = REST.0.saturating_mul(2u32.saturating_pow(seen.opened)).min(REST.1);
        // Up to a quarter more, so that those who went down together do not come back together.
        let quarter = u64::try_from(doubled.as_millis() / 4).unwrap_or(u64::MAX).max(1);
        let rest = doubled + Duration::from_millis(random % quarter);
        seen.opened = seen.opened.saturating_add(1);
        seen.breaker = Breaker::Open { until: now.plus(rest.as_millis() as i64) };
        Some(rest)
    }

    /// Its rest is over: one post tries.
    pub(super) fn try_again(&self) {
        let mut seen = self.lock();
        if matches!(seen.breaker, Breaker::Open { .. }) {
            seen.breaker = Breaker::HalfOpen;
        }
    }

    pub(super) fn is_half_open(&self) -> bool {
        self.lock().breaker == Breaker::HalfOpen
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: WHK-16
    #[test]
    fn who_stays_down_is_let_be_for_longer_and_longer() {
        let health = Health::default();
        let fail = || health.failed("down".to_owned(), Timestamp(0), 0);
        for _ in 1..FAILURES {
            assert_eq!(fail(), None);
        }
        assert_eq!(fail(), Some(Duration::from_secs(30)));
        health.try_again();
        assert_eq!(health.seen().breaker, Breaker::HalfOpen);
        // One post is enough to know that it is still down.
        assert_eq!(fail(), Some(Duration::from_secs(60)));
        for _ in 0..10 {
            health.try_again();
            assert!(fail().is_some_and(|rest| rest <= Duration::from_secs(15 * 60)));
        }
        health.try_again();
        health.taken(Timestamp(9));
        assert_eq!((health.seen().breaker, health.seen().failures), (Breaker::Closed, 0));
        assert_eq!(fail(), None, "it begins anew");
    }

    #[test]
    fn a_refusal_says_that_somebody_is_there() {
        let health = Health::default();
        for _ in 0..FAILURES - 1 {
            health.failed("down".to_owned(), Timestamp(0), 0);
        }
        health.refused("HTTP 400".to_owned(), Timestamp(1));
        assert_eq!(health.failed("down".to_owned(), Timestamp(2), 0), None);
        assert!(health.seen().last_error.is_some_and(|(_, why)| why == "down"));
    }
}

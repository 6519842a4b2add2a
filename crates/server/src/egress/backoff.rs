//! When to try again: exponential with full jitter, and not before the other side asked for.

use std::time::{Duration, SystemTime};

use chorus_wire::backoff::{Backoff, Jitter};

/// No wait is longer than five minutes: who talks in a channel is not to come back to yesterday's questions.
const BACKOFF: Backoff = Backoff {
    first: Duration::from_secs(1),
    longest: Duration::from_secs(5 * 60),
    jitter: Jitter::Full,
};
/// The longest wait that the other side can ask for.
pub(crate) const ASKED_AT_MOST: Duration = Duration::from_secs(60 * 60);

/// How long to wait after `tries` that failed. `random` is any number. What the other side asked for comes on top, so that
/// those who were told the same do not come back together.
pub(crate) fn backoff(tries: u32, random: u64, after: Option<Duration>) -> Duration {
    let wait = BACKOFF.wait(tries.saturating_sub(1), random);
    after.unwrap_or_default().min(ASKED_AT_MOST).saturating_add(wait)
}

/// What a `Retry-After` asks for (RFC 9110, section 10.2.3): seconds, or a date in any of the forms that HTTP has.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    let asked = if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // Too many digits are many seconds.
        Duration::from_secs(value.parse().unwrap_or(u64::MAX))
    } else {
        httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default()
    };
    Some(asked.min(ASKED_AT_MOST))
}

//! When to try again: exponential with full jitter, and not before the other side asked for.

use std::time::{Duration, SystemTime};

/// The first wait is at most this long, each further one at most twice the one before.
const FIRST: Duration = Duration::from_secs(1);
/// And none is longer: who talks in a channel is not to come back to yesterday's questions.
const LONGEST: Duration = Duration::from_secs(5 * 60);
/// The longest wait that the other side can ask for.
pub(crate) const ASKED_AT_MOST: Duration = Duration::from_secs(60 * 60);

/// How long to wait after `tries` that failed. `random` is any number: the wait is anything up to the bound, so that those who
/// failed together do not come back together. What the other side asked for comes on top, for the same reason.
pub(crate) fn backoff(tries: u32, random: u64, after: Option<Duration>) -> Duration {
    let doubled = FIRST.saturating_mul(2u32.saturating_pow(tries.saturating_sub(1)));
    let bound = u64::try_from(doubled.min(LONGEST).as_millis()).unwrap_or(u64::MAX);
    // The upper half of the product is below the bound, and as even as the number.
    let share = (u128::from(random) * (u128::from(bound) + 1)) >> 64;
    let jitter = Duration::from_millis(u64::try_from(share).unwrap_or(bound));
    after.unwrap_or_default().min(ASKED_AT_MOST).saturating_add(jitter)
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

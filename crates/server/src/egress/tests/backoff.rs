//! How long to wait.

use std::time::{Duration, SystemTime};

use crate::egress::backoff;
use crate::egress::backoff::{ASKED_AT_MOST, retry_after};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn the_wait_is_anything_up_to_a_bound_that_doubles() {
    for (tries, bound) in [
        (0, SECOND),
        (1, SECOND),
        (2, 2 * SECOND),
        (3, 4 * SECOND),
        (9, 256 * SECOND),
        (10, 300 * SECOND),
        (1_000, 300 * SECOND),
        (u32::MAX, 300 * SECOND),
    ] {
        assert_eq!(backoff(tries, 0, None), Duration::ZERO, "{tries}");
        assert_eq!(backoff(tries, u64::MAX, None), bound, "{tries}");
        assert_eq!(backoff(tries, u64::MAX / 2, None), bound / 2, "{tries}");
    }
}

#[test]
fn nobody_comes_back_before_the_time_that_was_asked_for() {
    let minute = Some(60 * SECOND);
    assert_eq!(backoff(1, 0, minute), 60 * SECOND);
    assert_eq!(backoff(3, u64::MAX, minute), 64 * SECOND);
    assert_eq!(backoff(1, u64::MAX, Some(Duration::MAX)), ASKED_AT_MOST + SECOND);
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    for (value, asked) in [
        ("0", Some(Duration::ZERO)),
        ("120", Some(120 * SECOND)),
        (" 120 ", Some(120 * SECOND)),
        ("3601", Some(ASKED_AT_MOST)),
        ("99999999999999999999999999", Some(ASKED_AT_MOST)),
        ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60 * SECOND)),
        ("Sunday, 06-Nov-94 08:50:37 GMT", Some(60 * SECOND)),
        ("Sun Nov  6 08:50:37 1994", Some(60 * SECOND)),
        ("Sun, 06 Nov 1994 08:48:37 GMT", Some(Duration::ZERO)),
        ("Fri, 31 Dec 9999 23:59:59 GMT", Some(ASKED_AT_MOST)),
        ("", None),
        ("-1", None),
        ("+1", None),
        ("1.5", None),
        ("soon", None),
        ("Sun, 06 Nov 1994", None),
    ] {
        assert_eq!(retry_after(value, now), asked, "{value:?}");
    }
}

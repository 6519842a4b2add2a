//! How long to wait before trying again: it doubles, is capped, and half of it is chance, so that many
//! agents whose host restarts do not all come back in the same moment.

use std::time::Duration;

const FIRST_MS: u64 = 250;
const LONGEST_MS: u64 = 30_000;

/// The wait before attempt `attempt` (0 is the first retry). `random` is any number; all its bits count.
pub fn backoff(attempt: u32, random: u64) -> Duration {
    let whole = FIRST_MS.saturating_mul(1 << attempt.min(16)).min(LONGEST_MS);
    let half = whole / 2;
    Duration::from_millis(half + random % (whole - half + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_doubles_up_to_half_a_minute() {
        let least = |attempt| backoff(attempt, 0).as_millis();
        let starts: Vec<_> = (0..10).map(least).collect();
        assert_eq!(starts, [125, 250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
        assert_eq!(backoff(0, 125).as_millis(), 250);
    }

    proptest! {
        #[test]
        fn any_attempt_waits_and_none_waits_long(attempt: u32, random: u64) {
            let wait = backoff(attempt, random).as_millis();
            prop_assert!((125..=30_000).contains(&wait), "{wait}");
        }
    }
}

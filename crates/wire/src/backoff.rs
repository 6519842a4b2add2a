//! How long either side waits before it tries again: exponential, capped, and with jitter, so that many who failed
//! together do not come back together.

use std::time::Duration;

/// Waits that double from `first` up to `longest`.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    pub first: Duration,
    pub longest: Duration,
    pub jitter: Jitter,
}

/// How much of a wait is chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// All of it: anything from nothing to the whole wait.
    Full,
    /// Its upper half.
    Half,
}

impl Backoff {
    /// The wait before retry `retry`; 0 is the first. `random` is any number; all its bits count.
    pub const fn wait(&self, retry: u32, random: u64) -> Duration {
        let doubled = self.first.saturating_mul(2u32.saturating_pow(retry)).as_millis();
        let longest = self.longest.as_millis();
        let whole = if doubled < longest { doubled } else { longest };
        let least = match self.jitter {
            Jitter::Full => 0,
            Jitter::Half => whole / 2,
        };
        // The upper half of the product is below the span, and as even as the number.
        let chance = (random as u128 * (whole - least + 1)) >> 64;
        Duration::from_millis((least + chance) as u64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HALF: Backoff = Backoff {
        first: Duration::from_millis(250),
        longest: Duration::from_secs(30),
        jitter: Jitter::Half,
    };
    const FULL: Backoff = Backoff { jitter: Jitter::Full, ..HALF };

    #[test]
    fn waits_double_up_to_the_longest() {
        let range =
            |retry| (HALF.wait(retry, 0).as_millis(), HALF.wait(retry, u64::MAX).as_millis());
        let ranges: Vec<_> = (0..9).map(range).collect();
        assert_eq!(
            ranges,
            [
                (125, 250),
                (250, 500),
                (500, 1000),
                (1000, 2000),
                (2000, 4000),
                (4000, 8000),
                (8000, 16_000),
                (15_000, 30_000),
                (15_000, 30_000)
            ]
        );
    }

    proptest! {
        #[test]
        fn no_wait_is_longer_than_the_longest(retry: u32, random: u64) {
            let half = HALF.wait(retry, random).as_millis();
            prop_assert!((125..=30_000).contains(&half), "{half}");
            prop_assert!(FULL.wait(retry, random) <= FULL.longest);
        }
    }
}

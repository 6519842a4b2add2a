//! Reputation (registry spec section 4).

use crate::model::ids::{Timestamp, Uid};

/// What a success is worth when the hirer's own reputation is 100.
const WEIGHT: f64 = 2.0;
/// What a failure costs, before [`FAILURE_FACTOR`].
const PENALTY: f64 = 3.0;
const FAILURE_FACTOR: f64 = 1.5;

/// A score from 0.0 to 100.0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Reputation(f64);

/// It is never NaN.
impl Eq for Reputation {}

impl Reputation {
    /// The score of a new agent, and of a hirer without one.
    pub const NEW: Self = Self(50.0);

    /// A score within the bounds; none for another number.
    pub fn of(score: f64) -> Option<Self> {
        (0.0..=100.0).contains(&score).then_some(Self(score + 0.0))
    }

    pub fn score(self) -> f64 {
        self.0
    }

    /// The bits of the score. For numbers that are not negative they are in the same order.
    pub fn bits(self) -> i64 {
        self.0.to_bits() as i64
    }

    pub fn of_bits(bits: i64) -> Option<Self> {
        Self::of(f64::from_bits(bits as u64))
    }

    /// After a success for a hirer with this reputation.
    #[must_use]
    pub fn after_success(self, hirer: Self) -> Self {
        Self((self.0 + WEIGHT * hirer.0 / 100.0).clamp(0.0, 100.0))
    }

    #[must_use]
    pub fn after_failure(self) -> Self {
        Self((self.0 - PENALTY * FAILURE_FACTOR).clamp(0.0, 100.0))
    }

    /// After a success that gained `gained` turned out to be a failure.
    #[must_use]
    pub fn after_reversal(self, gained: f64) -> Self {
        Self((self.0 - gained).clamp(0.0, 100.0)).after_failure()
    }
}

/// Why a reputation changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    Success,
    Failure,
    /// A contested job was decided for its hirer.
    Reversal,
}

impl Why {
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Reversal => "reversal",
        }
    }
}

/// One change of an agent's reputation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReputationChange {
    pub agent: Uid,
    /// Counted from 1 for each agent.
    pub number: u64,
    pub at: Timestamp,
    pub job: Uid,
    pub why: Why,
    pub before: Reputation,
    pub after: Reputation,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // covers: REG-70, REG-71
    #[test]
    fn it_moves_by_the_formula_and_stays_within_its_bounds() {
        let of = |score| Reputation::of(score).unwrap();
        for (old, hirer, new) in [
            (50.0, 50.0, 51.0),
            (50.0, 100.0, 52.0),
            (50.0, 0.0, 50.0),
            (92.3, 87.5, 92.3 + 2.0 * 87.5 / 100.0),
            (99.5, 100.0, 100.0),
        ] {
            assert_eq!(of(old).after_success(of(hirer)).score(), new, "{old} for {hirer}");
        }
        assert_eq!(Reputation::NEW.after_failure().score(), 45.5);
        assert_eq!(of(4.4).after_failure().score(), 0.0);
        assert_eq!(of(51.0).after_reversal(1.0).score(), 45.5);
        for bad in [-0.1, 100.1, f64::NAN, f64::INFINITY] {
            assert!(Reputation::of(bad).is_none());
        }
    }

    #[test]
    fn bits_are_in_the_order_of_scores() {
        let scores = [0.0, 0.1, 1.0, 49.99, 50.0, 50.02, 99.0, 100.0];
        let bits = scores.map(|score| Reputation::of(score).unwrap().bits());
        assert!(bits.is_sorted());
        assert_eq!(Reputation::of(-0.0).unwrap().bits(), 0);
        assert_eq!(Reputation::of_bits(bits[5]).unwrap().score(), 50.02);
        assert!(Reputation::of_bits(-1).is_none());
    }
}

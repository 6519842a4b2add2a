//! Amounts of credits.

use std::fmt;

/// An amount in hundredths of a credit, so that sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Credits(pub i64);

impl Credits {
    /// The largest amount: below it, a number in JSON has two exact decimals.
    pub const MOST: Self = Self(10_i64.pow(14));

    /// The exact amount of a number with at most two decimals that is not negative and not more
    /// than [`Self::MOST`].
    pub fn of_number(number: f64) -> Option<Self> {
        // The shortest decimal that reads as this number is the one that was written.
        let text = format!("{number}");
        let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
        let is_plain = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || whole.len() > 13 || rest.len() > 2 || !is_plain(whole) {
            return None;
        }
        let cents: i64 = format!("{rest:0<2}").parse().ok().filter(|_| is_plain(rest))?;
        let amount = Self(whole.parse::<i64>().ok()?.checked_mul(100)?.checked_add(cents)?);
        (amount <= Self::MOST).then_some(amount)
    }

    /// As a number of credits.
    pub fn number(self) -> f64 {
        self.0 as f64 / 100.0
    }

    pub fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self).filter(|sum| *sum <= Self::MOST)
    }

    pub fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    pub fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Credits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}.{:02}", self.0.unsigned_abs() / 100, self.0.unsigned_abs() % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: REG-3
    #[test]
    fn a_number_with_two_decimals_is_exact_and_any_other_is_none() {
        for (number, hundredths) in [
            (0.0, 0),
            (0.1, 10),
            (0.15, 15),
            (0.29, 29),
            (1.0, 100),
            (1.1, 110),
            (4.35, 435),
            (999_999_999_999.99, 99_999_999_999_999),
            (1e12, 100_000_000_000_000),
        ] {
            assert_eq!(Credits::of_number(number), Some(Credits(hundredths)), "{number}");
            assert_eq!(Credits(hundredths).number(), number);
        }
        let bad = [0.001, 0.105, -0.01, -1.0, 1e12 + 0.01, 1e13, 1e300, 1e-9];
        for number in bad.into_iter().chain([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0]) {
            assert_eq!(Credits::of_number(number), None, "{number}");
        }
    }

    #[test]
    fn an_amount_is_shown_with_two_decimals() {
        assert_eq!(Credits(15).to_string(), "0.15");
        assert_eq!(Credits(-1_205).to_string(), "-12.05");
    }
}

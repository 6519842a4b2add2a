//! Times as the wire has them: `2026-06-02T19:10:00.000Z`.

use serde_json::Value;

/// Milliseconds of the epoch.
pub(super) fn millis(of: &Value) -> Result<i64, String> {
    let wrong = || format!("{of} is no time");
    let text = of.as_str().ok_or_else(wrong)?;
    let number = |range: std::ops::Range<usize>| {
        text.get(range).and_then(|part| part.parse::<i64>().ok()).ok_or_else(wrong)
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let seconds = (number(11..13)? * 60 + number(14..16)?) * 60 + number(17..19)?;
    Ok((days(year, month, day) * 86_400 + seconds) * 1_000 + number(20..23)?)
}

/// Days since 1970-01-01, in the Gregorian calendar: years begin in March, so that the day that some have is the last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let of_era = (year % 400) * 365 + (year % 400) / 4 - (year % 400) / 100 + of_year;
    year / 400 * 146_097 + of_era - 719_468
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::millis;

    #[test]
    fn times_are_read() {
        for (text, expected) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-03-01T00:00:00.001Z", 951_868_800_001),
            ("2024-02-29T12:30:15.250Z", 1_709_209_815_250),
            ("2026-06-02T19:10:00.000Z", 1_780_427_400_000),
        ] {
            assert_eq!(millis(&json!(text)), Ok(expected), "{text}");
        }
        assert!(millis(&json!("soon")).is_err() && millis(&json!(5)).is_err());
    }
}

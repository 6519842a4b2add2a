//! Times as they are on the wire: `2026-06-02T19:10:00.000Z`.

use serde_json::Value;

/// Milliseconds since the epoch.
pub(super) fn millis(of: &Value) -> Result<i64, String> {
    let time = of.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    time.map(jiff::Timestamp::as_millisecond).ok_or_else(|| format!("{of} is not a time"))
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

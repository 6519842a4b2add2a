//! Times are written in one form and read in no other.

use chorus_core::model::ids::Timestamp;
use chorus_wire::time::{format, parse};
use proptest::prelude::*;

#[test]
fn known_times() {
    for (text, ms) in [
        ("1970-01-01T00:00:00.000Z", 0),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2026-06-02T19:10:00.000Z", 1_780_427_400_000),
        ("2000-02-29T12:00:00.500Z", 951_825_600_500),
        ("0000-01-01T00:00:00.000Z", -62_167_219_200_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ] {
        assert_eq!(format(Timestamp(ms)), text);
        assert_eq!(parse(text), Some(Timestamp(ms)), "{text}");
    }
}

#[test]
fn a_fraction_may_be_absent_or_finer() {
    let whole = parse("2026-06-02T19:10:00Z");
    assert_eq!(whole, Some(Timestamp(1_780_427_400_000)));
    for (text, milli) in [("00.0Z", 0), ("00.5Z", 500), ("00.07Z", 70), ("00.123999999Z", 123)] {
        let time = parse(&format!("2026-06-02T19:10:{text}"));
        assert_eq!(time, whole.map(|t| t.plus(milli)), "{text}");
    }
}

#[test]
fn anything_else_is_no_time() {
    for text in [
        "",
        "Z",
        "2026-06-02",
        "2026-06-02T19:10:00",
        "2026-06-02T19:10:00+00:00",
        "2026-06-02T19:10:00z",
        "2026-06-02 19:10:00Z",
        "2026-06-02T19:10:00.Z",
        "2026-06-02T19:10:00.1234567890Z",
        "2026-06-02T19:10:00.12aZ",
        "2026-06-02T19:10:00,5Z",
        "2026-06-02T24:00:00Z",
        "2026-06-02T19:60:00Z",
        "2026-06-02T19:10:60Z",
        "2026-13-02T19:10:00Z",
        "2026-00-02T19:10:00Z",
        "2026-06-31T19:10:00Z",
        "2025-02-29T19:10:00Z",
        "1900-02-29T19:10:00Z",
        "2026-06-00T19:10:00Z",
        "+026-06-02T19:10:00Z",
        "2026-06-02T19:10:00Z ",
        "２026-06-02T19:10:00Z",
        "12026-06-02T19:10:00Z",
    ] {
        assert_eq!(parse(text), None, "{text:?}");
    }
}

proptest! {
    #[test]
    fn every_time_reads_back(ms in -62_167_219_200_000i64..=253_402_300_799_999) {
        let text = format(Timestamp(ms));
        prop_assert_eq!(parse(&text), Some(Timestamp(ms)), "{}", text);
        prop_assert_eq!(text.len(), 24);
    }

    #[test]
    fn any_number_is_shown_and_any_text_is_read_without_panic(ms: i64, text: String) {
        prop_assert!(parse(&format(Timestamp(ms))).is_some());
        let _ = parse(&text);
    }

    #[test]
    fn the_text_sorts_as_the_time_does(a in 0i64..4_000_000_000_000, b in 0i64..4_000_000_000_000) {
        prop_assert_eq!(a.cmp(&b), format(Timestamp(a)).cmp(&format(Timestamp(b))));
    }
}

#[test]
fn a_time_to_come_is_a_time_or_a_span() {
    use chorus_wire::time::{Until, span};
    let now = Timestamp(1_000);
    for (text, ms) in [("90s", 91_000), ("15m", 901_000), ("24h", 86_401_000), ("7d", 604_801_000)]
    {
        assert_eq!(Until::read(text).map(|u| u.from(now)), Some(Timestamp(ms)), "{text}");
    }
    let at = Until::read("2026-06-02T19:10:00Z").map(|u| u.from(now));
    assert_eq!(at, parse("2026-06-02T19:10:00Z"));
    for bad in ["", "s", "0m", "-5m", "5", "1.5h", "5 m", "m5", "9999999999s", "tomorrow", "1é"] {
        assert_eq!(Until::read(bad), None, "{bad}");
    }
    assert_eq!(span("999999999d"), Some(999_999_999 * 86_400_000));
}

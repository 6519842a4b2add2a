//! Times are written in exactly one form, and read in that form with up to nine decimals.

use chorus_core::model::ids::Timestamp;
use chorus_wire::time::{format, parse};
use proptest::prelude::*;

#[test]
fn times_are_written_with_milliseconds_and_read_back() {
    for (text, ms) in [
        ("1970-01-01T00:00:00.000Z", 0),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2026-06-02T19:10:00.000Z", 1_780_427_400_000),
        ("2000-02-29T12:00:00.500Z", 951_825_600_500),
        ("2000-03-01T00:00:00.001Z", 951_868_800_001),
        ("2024-02-29T12:30:15.250Z", 1_709_209_815_250),
        ("1900-02-28T23:59:59.999Z", -2_203_891_200_001),
        ("1900-03-01T00:00:00.000Z", -2_203_891_200_000),
        ("0000-02-29T00:00:00.000Z", -62_162_121_600_000),
        ("0000-01-01T00:00:00.000Z", -62_167_219_200_000),
        ("9999-12-30T22:00:01.000Z", 253_402_207_201_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ] {
        assert_eq!(format(Timestamp(ms)), text);
        assert_eq!(parse(text), Some(Timestamp(ms)), "{text}");
    }
}

#[test]
fn times_outside_four_digit_years_are_written_as_the_nearest_inside() {
    for (ms, text) in [
        (-62_167_219_200_001, "0000-01-01T00:00:00.000Z"),
        (i64::MIN, "0000-01-01T00:00:00.000Z"),
        (253_402_300_800_000, "9999-12-31T23:59:59.999Z"),
        (i64::MAX, "9999-12-31T23:59:59.999Z"),
    ] {
        assert_eq!(format(Timestamp(ms)), text);
    }
}

#[test]
fn a_fraction_may_be_absent_or_finer_than_milliseconds() {
    for (whole, seconds) in
        [("2026-06-02T19:10", 1_780_427_400), ("1965-01-01T00:00", -157_766_400)]
    {
        for (rest, ms) in [
            ("00Z", 0),
            ("00.0Z", 0),
            ("00.5Z", 500),
            ("00.07Z", 70),
            ("00.123Z", 123),
            ("00.1239Z", 123),
            ("00.123999999Z", 123),
            ("00.000999999Z", 0),
            ("59Z", 59_000),
            ("59.999999999Z", 59_999),
        ] {
            let text = format!("{whole}:{rest}");
            assert_eq!(parse(&text), Some(Timestamp(seconds * 1_000 + ms)), "{text}");
        }
    }
}

#[test]
fn other_forms_of_a_time_are_refused() {
    for text in [
        "",
        "Z",
        "é",
        "2026-06-02",
        "2026-06-02T19:10:00",
        "2026-06-02T19:10:00.000",
        "2026-06-02T19:10Z",
        "2026-06-02T19Z",
        "2026-06-02T19:10:00+00:00",
        "2026-06-02T19:10:00-00:00",
        "2026-06-02T19:10:00+00:00Z",
        "2026-06-02T19:10:00Z[UTC]",
        "2026-06-02T19:10:00[UTC]Z",
        "2026-06-02T19:10:00z",
        "2026-06-02t19:10:00Z",
        "2026-06-02 19:10:00Z",
        "20260602T191000Z",
        "2026-06-02T191000.00Z",
        "2026-153T19:10:00.00Z",
        "2026-W23-2T19:10:00Z",
        "2026-06-02T19:10:00.Z",
        "2026-06-02T19:10:00.1234567890Z",
        "2026-06-02T19:10:00.12aZ",
        "2026-06-02T19:10:00.-12Z",
        "2026-06-02T19:10:00.1.2Z",
        "2026-06-02T19:10:00,5Z",
        "2026-06-02T19:10:00..5Z",
        "2026-06-02T19:10:005Z",
        "2026-06-02T24:00:00Z",
        "2026-06-02T19:60:00Z",
        "2026-06-02T19:10:60Z",
        "2026-06-30T23:59:60Z",
        "2026-06-30T23:59:60.5Z",
        "2026-06-02T19:10:61Z",
        "2026-13-02T19:10:00Z",
        "2026-00-02T19:10:00Z",
        "2026-06-31T19:10:00Z",
        "2026-02-30T19:10:00Z",
        "2025-02-29T19:10:00Z",
        "1900-02-29T19:10:00Z",
        "2026-06-00T19:10:00Z",
        "2026-06-32T19:10:00Z",
        "+026-06-02T19:10:00Z",
        "-026-06-02T19:10:00Z",
        "+002026-06-02T19:10:00Z",
        "-000001-06-02T19:10:00Z",
        "2026-6-02T19:10:00.00Z",
        "2026-+6-02T19:10:00Z",
        " 2026-06-02T19:10:00Z",
        "2026-06-02T19:10:00Z ",
        "2026-06-02T19:10:00 Z",
        "２026-06-02T19:10:00Z",
        "2026-06-02T19:10:0é.5Z",
        "12026-06-02T19:10:00Z",
    ] {
        assert_eq!(parse(text), None, "{text:?}");
    }
}

proptest! {
    #[test]
    fn every_time_is_read_back_from_its_text(ms in -62_167_219_200_000i64..=253_402_300_799_999) {
        let text = format(Timestamp(ms));
        prop_assert_eq!(parse(&text), Some(Timestamp(ms)), "{}", text);
        prop_assert_eq!(text.len(), 24);
    }

    #[test]
    fn any_number_can_be_written_and_any_text_is_read_without_panic(ms: i64, text: String) {
        prop_assert!(parse(&format(Timestamp(ms))).is_some());
        let _ = parse(&text);
    }

    /// Mutations of a good text that stay close to the form, where a lenient reader would go wrong.
    #[test]
    fn a_text_is_a_time_only_when_writing_it_gives_it_back(
        text in "[0-9+-]{1,2}[0-9]{3}[-0]?[0-9]{2}[-W]?[0-9]{2}[Tt ][0-9]{2}[:0]?[0-9]{2}:?[0-6][0-9]\\.[0-9]{3}[Zz]",
    ) {
        if let Some(time) = parse(&text) {
            prop_assert_eq!(format(time), text);
        }
    }

    #[test]
    fn texts_sort_in_the_order_of_their_times(a in 0i64..4_000_000_000_000, b in 0i64..4_000_000_000_000) {
        prop_assert_eq!(a.cmp(&b), format(Timestamp(a)).cmp(&format(Timestamp(b))));
    }
}

#[test]
fn until_is_a_time_or_a_span() {
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

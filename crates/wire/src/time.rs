//! Times on the wire: ISO 8601, UTC, milliseconds, `2026-06-02T19:10:00.000Z`.
//!
//! Written always with three decimals; read with none or up to nine (what is finer than a millisecond is
//! dropped), and only with `Z`: an offset is refused, since a stored time has none. Years 0000 to 9999.

use std::borrow::Cow;

use chorus_core::model::ids::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

const DAY_MS: i64 = 86_400_000;
/// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z, the times that four digits of year can say.
const FIRST: i64 = -62_167_219_200_000;
const LAST: i64 = 253_402_300_799_999;

/// The text of a time. One outside the years 0000 to 9999 is shown as the nearest inside.
pub fn format(time: Timestamp) -> String {
    let ms = time.0.clamp(FIRST, LAST);
    let (year, month, day) = civil(ms.div_euclid(DAY_MS));
    let of_day = ms.rem_euclid(DAY_MS);
    let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
    let (second, milli) = (of_day / 1000 % 60, of_day % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Reads a time; none when the text is anything but a real time in the one form.
pub fn parse(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if bytes.len() < 20 || separators.iter().any(|(at, b)| bytes[*at] != *b) {
        return None;
    }
    let year = digits(&bytes[0..4])?;
    let (month, day) = (digits(&bytes[5..7])?, digits(&bytes[8..10])?);
    let (hour, minute, second) =
        (digits(&bytes[11..13])?, digits(&bytes[14..16])?, digits(&bytes[17..19])?);
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let milli = fraction(&bytes[19..])?;
    let of_day = ((hour * 60 + minute) * 60 + second) * 1000 + milli;
    Some(Timestamp(days(year, month, day) * DAY_MS + of_day))
}

/// Milliseconds in what follows the seconds: `Z`, or a dot, one to nine digits and `Z`.
fn fraction(rest: &[u8]) -> Option<i64> {
    let rest = rest.strip_suffix(b"Z")?;
    let Some((b'.', decimals)) = rest.split_first() else {
        return rest.is_empty().then_some(0);
    };
    if decimals.is_empty() || decimals.len() > 9 {
        return None;
    }
    digits(decimals)?;
    let milli = decimals.iter().chain(b"00").take(3);
    Some(milli.fold(0, |n, b| n * 10 + i64::from(b - b'0')))
}

fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01. Years are counted from March, so that the leap day is the last of its year, in
/// eras of 400 years, which all have the same 146,097 days.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The reverse of [`days`]: year, month, day.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Milliseconds of a span written `90s`, `15m`, `24h` or `7d`; none when it is anything else, or nothing.
pub fn span(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let ms = match unit {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => DAY_MS,
        _ => return None,
    };
    if number.len() > 9 {
        return None;
    }
    digits(number.as_bytes()).filter(|n| *n > 0)?.checked_mul(ms)
}

/// A time to come: a time of the day it is, or a span from now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    At(Timestamp),
    /// In so many milliseconds.
    In(i64),
}

impl Until {
    /// Reads either form.
    pub fn read(text: &str) -> Option<Self> {
        parse(text).map(Self::At).or_else(|| span(text).map(Self::In))
    }

    pub fn from(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(time) => time,
            Self::In(ms) => now.plus(ms),
        }
    }
}

impl serde::Serialize for Until {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::At(time) => out.serialize_str(&format(*time)),
            Self::In(ms) => out.collect_str(&format_args!("{}s", ms / 1_000)),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Until {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(input)?;
        Self::read(&text).ok_or_else(|| {
            serde::de::Error::custom(
                "a time to come is written 2026-06-02T19:10:00.000Z, or as a span: 90s, 15m, 24h, 7d",
            )
        })
    }
}

/// The schema of a time: `#[schemars(with = "crate::time::Iso")]`.
pub struct Iso;

impl JsonSchema for Iso {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

/// `#[serde(with = "time::iso")]` for a [`Timestamp`].
pub mod iso {
    use super::{Timestamp, format, parse};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::borrow::Cow;

    pub fn serialize<S: Serializer>(time: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&format(*time))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Timestamp, D::Error> {
        let text = Cow::<str>::deserialize(input)?;
        parse(&text).ok_or_else(|| D::Error::custom("a time is written 2026-06-02T19:10:00.000Z"))
    }
}

/// `#[serde(with = "time::iso_option")]` for an optional [`Timestamp`].
pub mod iso_option {
    use super::{Timestamp, iso};
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(time: &Option<Timestamp>, out: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => iso::serialize(time, out),
            None => out.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Timestamp>, D::Error> {
        #[derive(Deserialize)]
        struct Iso(#[serde(with = "iso")] Timestamp);
        Ok(Option::<Iso>::deserialize(input)?.map(|iso| iso.0))
    }
}

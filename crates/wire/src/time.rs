//! Times on the wire: ISO 8601, UTC, milliseconds, `2026-06-02T19:10:00.000Z`.
//!
//! A time is always written with three decimals. It is read with none, or with up to nine, of which
//! those beyond the third are dropped. Only `Z` is accepted, no offset, because a stored time has
//! none. Years are 0000 to 9999. The calendar is jiff's; its parser accepts more forms than this
//! one, so the form is checked first.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use chorus_core::model::ids::Timestamp;
use jiff::SignedDuration;
use jiff::civil::DateTime;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const DAY_MS: i64 = 86_400_000;
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
/// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z: the range of a four-digit year.
const FIRST: i64 = -62_167_219_200_000;
const LAST: i64 = 253_402_300_799_999;
/// A time up to its seconds, with `0` for each digit.
const FORM: &str = "0000-00-00T00:00:00";

/// Writes a time. A time outside the years 0000 to 9999 is written as the nearest one inside.
pub fn format(time: Timestamp) -> String {
    let since_epoch = SignedDuration::from_millis(time.0.clamp(FIRST, LAST));
    // `DateTime` ends at 9999-12-31; `jiff::Timestamp` ends a day earlier.
    format!("{:.3}Z", EPOCH.saturating_add(since_epoch))
}

/// Reads a time. Returns none unless the text is an existing time in the form above.
pub fn parse(text: &str) -> Option<Timestamp> {
    let (seconds, fraction) = text.strip_suffix('Z')?.split_at_checked(FORM.len())?;
    let mut pairs = FORM.bytes().zip(seconds.bytes());
    let well_formed =
        pairs.all(|(form, b)| if form == b'0' { b.is_ascii_digit() } else { b == form });
    // jiff reads a leap second as the second before it.
    if !well_formed || seconds.ends_with(":60") {
        return None;
    }
    let time: DateTime = seconds.parse().ok()?;
    let ms = i64::try_from(time.duration_since(EPOCH).as_millis()).ok()?;
    Some(Timestamp(ms + milliseconds(fraction)?))
}

/// Reads what stands between the seconds and the `Z`: nothing, or a dot and one to nine digits.
fn milliseconds(fraction: &str) -> Option<i64> {
    if fraction.is_empty() {
        return Some(0);
    }
    let decimals = fraction.strip_prefix('.')?.as_bytes();
    if decimals.is_empty() || decimals.len() > 9 {
        return None;
    }
    digits(decimals)?;
    let first_three = decimals.iter().chain(b"00").take(3);
    Some(first_three.fold(0, |n, b| n * 10 + i64::from(b - b'0')))
}

fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
}

/// Reads a span such as `90s`, `15m`, `24h` or `7d` as milliseconds; none if it is anything else,
/// or zero.
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

/// A future time: an absolute time, or a span from now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    At(Timestamp),
    /// This many milliseconds from now.
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

impl Serialize for Until {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::At(time) => out.serialize_str(&format(*time)),
            Self::In(ms) => out.collect_str(&format_args!("{}s", ms / 1_000)),
        }
    }
}

impl<'de> Deserialize<'de> for Until {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(input)?;
        Self::read(&text).ok_or_else(|| {
            D::Error::custom(
                "invalid time: expected the form 2026-06-02T19:10:00.000Z, or a span such as 30m or 7d",
            )
        })
    }
}

/// A time as a field: its text in JSON.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub Timestamp);

impl From<Timestamp> for Time {
    fn from(time: Timestamp) -> Self {
        Self(time)
    }
}

impl Deref for Time {
    type Target = Timestamp;

    fn deref(&self) -> &Timestamp {
        &self.0
    }
}

impl PartialEq<Timestamp> for Time {
    fn eq(&self, other: &Timestamp) -> bool {
        self.0 == *other
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&format(self.0))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(input)?;
        let time = parse(&text).map(Self);
        time.ok_or_else(|| {
            D::Error::custom("invalid time: expected the form 2026-06-02T19:10:00.000Z")
        })
    }
}

impl JsonSchema for Time {
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

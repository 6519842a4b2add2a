//! Cron expressions: five fields, minute, hour, day of the month, month, day of the week.
//!
//! The usual syntax: `*`, numbers, ranges, steps, lists, and names of months and days. Sunday is 0
//! or 7. If both day fields are restricted, either is enough. Times are local wall-clock times. A
//! time that is skipped in spring fires later by the skipped amount. A time that occurs twice in
//! autumn fires once, the first time, unless it fires in every hour.

use std::sync::LazyLock;

use jiff::Timestamp as Instant;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::model::ids::Timestamp;

/// Compiled into the program, so that no decision depends on the machine's files.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Days searched for the next time: every calendar day occurs within eight years (29 February may
/// be absent that long).
const DAYS: usize = 8 * 366 + 2;

/// The hours of a field without a restriction.
const EVERY_HOUR: u64 = (1 << 24) - 1;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A parsed expression in a time zone.
#[derive(Clone, Debug)]
pub struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether both day fields are restricted.
    either: bool,
    zone: TimeZone,
}

impl Cron {
    /// Parses an expression, or returns what is wrong with it.
    pub fn parse(expression: &str, zone: &str) -> Result<Self, String> {
        let zone = ZONES.get(zone).map_err(|_| format!("unknown time zone {zone:?}"))?;
        let fields: Vec<&str> = expression.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            let what = "minute, hour, day of the month, month, day of the week";
            return Err(format!("a cron expression has five fields: {what}"));
        };
        let weekdays = field("day of the week", weekday, 0, 7, &WEEKDAYS)?;
        Ok(Self {
            minutes: field("minute", minute, 0, 59, &[])?,
            hours: field("hour", hour, 0, 23, &[])?,
            days: field("day of the month", day, 1, 31, &[])?,
            months: field("month", month, 1, 12, &MONTHS)?,
            // Sunday is 7 too.
            weekdays: (weekdays | weekdays >> 7) & 0x7f,
            either: !day.starts_with('*') && !weekday.starts_with('*'),
            zone,
        })
    }

    /// The next time after this one; none if it never occurs.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let instant = Instant::from_millisecond(after.0).ok()?;
        let today = self.zone.to_datetime(instant).date();
        // A time that the clock skips may fall on the next day.
        let from = today.yesterday().unwrap_or(today);
        let days = from.series(jiff::Span::new().days(1)).take(DAYS);
        days.filter(|date| self.is_on(*date)).find_map(|date| self.within(date, after))
    }

    fn is_on(&self, date: Date) -> bool {
        let day = has(self.days, date.day() as u8);
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset() as u8);
        let on_day = if self.either { day || weekday } else { day && weekday };
        has(self.months, date.month() as u8) && on_day
    }

    /// The first of its times on a day that is later than `after`. A skipped time comes later, so
    /// wall-clock order and real order differ.
    fn within(&self, date: Date, after: Timestamp) -> Option<Timestamp> {
        let hours = (0..24).filter(|hour| has(self.hours, *hour));
        let minutes = |hour| (0..60).filter(|m| has(self.minutes, *m)).map(move |m| (hour, m));
        let times = hours.flat_map(minutes).filter_map(|(hour, minute)| {
            let wall = Time::new(hour as i8, minute as i8, 0, 0).ok()?;
            let instant = self.zone.to_ambiguous_timestamp(DateTime::from_parts(date, wall));
            // An expression for every hour also fires in a repeated hour.
            let again = (self.hours == EVERY_HOUR).then(|| instant.later());
            Some([Some(instant.compatible()), again])
        });
        let times = times.flatten().flatten().filter_map(Result::ok);
        times.map(|time| Timestamp(time.as_millisecond())).filter(|time| *time > after).min()
    }
}

fn has(set: u64, value: u8) -> bool {
    set >> value & 1 == 1
}

/// Parses one field into a bit set.
fn field(what: &str, text: &str, least: u8, most: u8, names: &[&str]) -> Result<u64, String> {
    let wrong = || format!("invalid {what} {text:?}: expected {least} to {most}");
    let value = |text: &str| -> Result<u8, String> {
        let lower = text.to_ascii_lowercase();
        if let Some(at) = names.iter().position(|name| *name == lower) {
            return Ok(least + at as u8);
        }
        let plain = !text.is_empty() && text.len() <= 2 && text.bytes().all(|b| b.is_ascii_digit());
        let number = plain.then(|| text.parse().ok()).flatten();
        number.filter(|n| (least..=most).contains(n)).ok_or_else(wrong)
    };
    let mut set = 0;
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => {
                let step = Some(step).filter(|s| s.len() <= 2).and_then(|s| s.parse::<u8>().ok());
                (range, step.filter(|step| *step > 0).ok_or_else(wrong)?)
            }
            None => (part, 1),
        };
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (least, most),
            Some((first, last)) => (value(first)?, value(last)?),
            // `5/10` begins at 5.
            None if part.contains('/') => (value(range)?, most),
            None => (value(range)?, value(range)?),
        };
        if first > last {
            return Err(wrong());
        }
        set |= (first..=last).step_by(step.into()).fold(0, |set, value| set | 1 << value);
    }
    Ok(set)
}

#![allow(clippy::unwrap_used)]

use super::*;
use crate::codec;

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
}

/// The next times of an expression, in UTC.
fn times(cron: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
    let cron = Cron::parse(cron, zone).unwrap();
    let mut after = at(after);
    let next = |_| {
        after = cron.next(after)?;
        Some(jiff::Timestamp::from_millisecond(after.0).unwrap().to_string())
    };
    (0..count).map_while(next).collect()
}

// covers: CHN-156
#[test]
fn times_are_those_of_the_zones_clocks() {
    assert_eq!(
        times("0 9 * * mon-fri", "Europe/Oslo", "2026-11-20T09:00:00Z", 2),
        ["2026-11-23T08:00:00Z", "2026-11-24T08:00:00Z"]
    );
    assert_eq!(
        times("*/20 8-9 1,15 * *", "UTC", "2026-11-30T23:59:59Z", 4),
        [
            "2026-12-01T08:00:00Z",
            "2026-12-01T08:20:00Z",
            "2026-12-01T08:40:00Z",
            "2026-12-01T09:00:00Z"
        ]
    );
    // If both day fields are given, either is enough; Sunday is 0 and 7.
    assert_eq!(
        times("0 0 13 * 5", "UTC", "2026-11-07T00:00:00Z", 3),
        ["2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z", "2026-11-27T00:00:00Z"]
    );
    assert_eq!(
        times("5/25 0 * * 7", "UTC", "2026-11-22T00:05:00Z", 2),
        ["2026-11-22T00:30:00Z", "2026-11-22T00:55:00Z"]
    );
    assert_eq!(times("0 0 29 feb *", "UTC", "2096-03-01T00:00:00Z", 1), ["2104-02-29T00:00:00Z"]);
    assert_eq!(times("0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z", 1), [""; 0]);
}

// covers: CHN-156
#[test]
fn a_skipped_time_comes_later_and_a_repeated_one_once() {
    // 29 March 2026 has no 02:30 in Berlin, and 25 October has it twice.
    assert_eq!(
        times("30 2 * * *", "Europe/Berlin", "2026-03-28T02:00:00Z", 2),
        ["2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"]
    );
    assert_eq!(
        times("30 2 * * *", "Europe/Berlin", "2026-10-24T01:00:00Z", 2),
        ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
    );
    assert_eq!(
        times("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:31:00Z", 3),
        ["2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z", "2026-03-29T02:00:00Z"]
    );
    // An expression for every hour also fires in the repeated one.
    assert_eq!(
        times("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 3),
        ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"]
    );
    // On Lord Howe half an hour is skipped: 02:15 comes at 02:45, after 02:35.
    assert_eq!(
        times("15,35 2 * * *", "Australia/Lord_Howe", "2026-10-03T10:00:00Z", 3),
        ["2026-10-03T15:35:00Z", "2026-10-03T15:45:00Z", "2026-10-04T15:15:00Z"]
    );
    // A query within the gap still finds it.
    assert_eq!(
        times("30 2 * * *", "Europe/Berlin", "2026-03-29T01:10:00Z", 1),
        ["2026-03-29T01:30:00Z"]
    );
}

#[test]
fn what_is_no_expression_is_refused() {
    for wrong in [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
    ] {
        assert!(Cron::parse(wrong, "UTC").is_err(), "{wrong:?}");
    }
    for wrong in ["a", "1-", "-1", "5-1", "*/0", "*/x", "1,,2", "+1", "1/100", "٣"] {
        assert!(Cron::parse(&format!("{wrong} * * * *"), "UTC").is_err(), "{wrong:?}");
    }
    assert!(Cron::parse("* * * * *", "Mars/Olympus").is_err());
    assert!(Cron::parse("* * * * *", "../etc/passwd").is_err());
}

#[test]
fn an_interval_counts_from_when_it_was_made() {
    let every = When::Every(60_000);
    let made = Timestamp(1_000);
    assert_eq!(every.next(made, Timestamp(1_000)), Some(Timestamp(61_000)));
    assert_eq!(every.next(made, Timestamp(60_999)), Some(Timestamp(61_000)));
    assert_eq!(every.next(made, Timestamp(61_000)), Some(Timestamp(121_000)));
    assert_eq!(every.next(made, Timestamp(0)), Some(Timestamp(61_000)));
    assert!(When::Every(59_999).check(made).is_err() && every.check(made).is_ok());
}

fn blank(salt: u8) -> Schedule {
    Schedule {
        chain: None,
        uid: Uid(1),
        when: When::Every(60_000),
        source: MemberKey(1),
        maker: MemberKey(1),
        thread: None,
        text: "?".into(),
        title: "?".into(),
        targets: Vec::new(),
        progress_key: None,
        initiative_key: None,
        created_at: Timestamp(0),
        paused: false,
        next_at: None,
        fired: 0,
        firings: Vec::new(),
        salt: [salt; 16],
    }
}

#[test]
fn firings_have_salts_of_their_own_that_only_the_schedule_gives() {
    let of = blank;
    let salts = [of(1).salt_of(Uid(2)), of(1).salt_of(Uid(3)), of(2).salt_of(Uid(2)), [0; 16]];
    for (n, salt) in salts.iter().enumerate() {
        assert!(!salts[..n].contains(salt));
    }
}

// covers: CHN-159
#[test]
fn of_very_many_firings_those_that_are_not_over_are_known_the_longest() {
    let mut schedule = blank(1);
    for n in 0..100 {
        let how = if n % 10 == 0 { Fired::Open } else { Fired::Failed };
        schedule.fire(Firing { at: Timestamp(n), stimulus: Uid(n as u128), how });
        assert!(schedule.firings.len() <= limits::SCHEDULE_FIRINGS);
        assert!(schedule.firings.is_sorted_by_key(|f| f.at), "the last one last");
    }
    let open = schedule.firings.iter().filter(|f| f.how == Fired::Open).map(|f| f.at.0);
    assert_eq!(open.collect::<Vec<_>>(), (0..100).step_by(10).collect::<Vec<_>>());
    assert_eq!((schedule.firings.len(), schedule.fired), (limits::SCHEDULE_FIRINGS, 100));
    for n in 100..200 {
        schedule.fire(Firing { at: Timestamp(n), stimulus: Uid(n as u128), how: Fired::Open });
        assert!(schedule.firings.len() <= limits::SCHEDULE_FIRINGS);
    }
}

#[test]
fn a_row_reads_back_with_its_firings_and_as_it_was_written_first() {
    let mut schedule = blank(1);
    for n in 0..4 {
        let bytes = codec::schedule(&schedule);
        assert_eq!(codec::read_schedule(&bytes), Ok(schedule.clone()), "{n} firings");
        // A row with one firing equals the older format, which stored only one.
        let before = bytes.len() - 16;
        assert_eq!(bytes[before..] == [1; 16], n < 2);
        for cut in 0..bytes.len() {
            let cut_row = codec::read_schedule(&bytes[..cut]);
            assert!(cut_row.is_err() || cut_row.is_ok_and(|s| s.firings.len() == 1), "{cut}");
        }
        let how = Fired::ALL[n];
        schedule.fire(Firing { at: Timestamp(n as i64), stimulus: Uid(n as u128), how });
    }
}

// covers: CHN-345
#[test]
fn a_new_expression_keeps_the_clocks_and_new_clocks_the_expression() {
    let cron = |expression: &str, zone: &str| When::Cron {
        expression: expression.into(),
        zone: zone.into(),
    };
    let (oslo, every) = (cron("0 9 * * *", "Europe/Oslo"), When::Every(60_000));
    let patch = |every_ms, cron: Option<&str>, zone: Option<&str>| SchedulePatch {
        every_ms,
        cron: cron.map(Into::into),
        zone: zone.map(Into::into),
        ..SchedulePatch::default()
    };
    let noon = Some("0 12 * * *");
    for (old, patch, expect) in [
        (&oslo, patch(None, None, None), Some(None)),
        (&oslo, patch(None, noon, None), Some(Some(cron("0 12 * * *", "Europe/Oslo")))),
        (&oslo, patch(None, noon, Some("UTC")), Some(Some(cron("0 12 * * *", "UTC")))),
        (&oslo, patch(None, None, Some("UTC")), Some(Some(cron("0 9 * * *", "UTC")))),
        (&oslo, patch(Some(60_000), None, None), Some(Some(every.clone()))),
        (&oslo, patch(Some(60_000), noon, None), None),
        (&oslo, patch(Some(60_000), None, Some("UTC")), None),
        (&every, patch(None, noon, None), Some(Some(cron("0 12 * * *", "UTC")))),
        (&every, patch(None, None, Some("UTC")), None),
    ] {
        assert_eq!(patch.when(old).ok(), expect, "{old:?} {patch:?}");
    }
}

//! Every transition of a wake.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::codec;

const START: Timestamp = Timestamp(1_000_000);
const ROOM: ConversationKey = ConversationKey(7);

fn at(ms: i64) -> Timestamp {
    START.plus(ms)
}

fn place(seq: u64) -> WakeThread {
    WakeThread { conversation: ROOM, thread: None, through_seq: Seq(seq), sent_seq: Seq(0) }
}

fn event(seq: u64) -> EventRef {
    EventRef { conversation: ROOM, seq: Seq(seq) }
}

fn pending() -> Wake {
    let mut wake = Wake::open(Uid(1), SessionKey(3), MemberKey(2), None, START);
    wake.add(place(5), START);
    wake
}

fn handed() -> Wake {
    let mut wake = pending();
    wake.hand(START);
    wake
}

fn report(result: ReportResult) -> Report {
    Report {
        fence: 1,
        lane: Some(Lane::Pty),
        result,
        why: None,
        evidence: None,
        deferred_until: None,
        lines: None,
    }
}

const NOTHING: Left = Left { told: false, untold: false };
const TOLD: Left = Left { told: true, untold: false };
const UNTOLD: Left = Left { told: false, untold: true };

fn running() -> Wake {
    let mut wake = handed();
    let step = wake.report(&report(ReportResult::Confirmed), TOLD, at(1));
    assert_eq!(step, Ok(Step::Confirmed));
    wake
}

/// A wake, what is reported of it, what is owed then, and what comes of it.
type Case = (fn() -> Wake, ReportResult, Left, Result<Step, Stale>, WakeState);

/// What each report does in each state in which the runner has the wake.
#[test]
fn each_report_has_its_step_and_state() {
    use ReportResult::{Confirmed, Deferred, Ended, Exhausted, Failed, Unknown, Working};
    use WakeState as S;
    let deferred = || {
        let mut wake = handed();
        wake.report(&report(Deferred), TOLD, at(1)).unwrap();
        wake
    };
    let cases: [Case; 21] = [
        (handed, Working, TOLD, Ok(Step::Lives), S::Handed),
        (running, Working, TOLD, Ok(Step::Lives), S::Running),
        (deferred, Working, TOLD, Ok(Step::Lives), S::Handed),
        (handed, Deferred, TOLD, Ok(Step::Deferred), S::Deferred),
        (deferred, Deferred, TOLD, Ok(Step::Deferred), S::Deferred),
        (running, Deferred, TOLD, Err(Stale::State), S::Running),
        (handed, Failed, TOLD, Ok(Step::Tried), S::Handed),
        (deferred, Failed, TOLD, Ok(Step::Tried), S::Handed),
        (running, Failed, TOLD, Ok(Step::Tried), S::Handed),
        (handed, Unknown, TOLD, Ok(Step::Tried), S::Handed),
        (handed, Confirmed, TOLD, Ok(Step::Confirmed), S::Running),
        (deferred, Confirmed, TOLD, Ok(Step::Confirmed), S::Running),
        (running, Confirmed, TOLD, Ok(Step::Confirmed), S::Running),
        (running, Ended, NOTHING, Ok(Step::Ended(Outcome::Answered)), S::Done),
        (handed, Ended, NOTHING, Ok(Step::Ended(Outcome::Answered)), S::Done),
        (running, Ended, TOLD, Ok(Step::Again), S::Pending),
        (running, Ended, UNTOLD, Ok(Step::Again), S::Pending),
        (handed, Ended, UNTOLD, Ok(Step::Again), S::Pending),
        (handed, Exhausted, TOLD, Ok(Step::Ended(Outcome::WakeFailed)), S::Dead),
        (running, Exhausted, TOLD, Ok(Step::Ended(Outcome::WakeFailed)), S::Dead),
        (pending, Working, TOLD, Err(Stale::State), S::Pending),
    ];
    for (make, result, left, step, state) in cases {
        let mut wake = make();
        let before = wake.state;
        assert_eq!(wake.report(&report(result), left, at(2)), step, "{before:?} {result:?}");
        assert_eq!(wake.state, state, "{before:?} {result:?}");
    }
}

#[test]
fn a_report_with_an_old_fence_changes_nothing() {
    let mut wake = handed();
    wake.take_back(at(1));
    wake.hand(at(2));
    let before = wake.clone();
    for result in ReportResult::ALL {
        assert_eq!(wake.report(&report(result), TOLD, at(3)), Err(Stale::Fence), "{result:?}");
    }
    assert_eq!(wake, before);
    assert_eq!(wake.fence, 2);
}

#[test]
fn a_report_that_comes_again_after_the_end_changes_nothing() {
    let mut wake = running();
    wake.report(&report(ReportResult::Ended), NOTHING, at(2)).unwrap();
    let before = wake.clone();
    for result in ReportResult::ALL {
        assert_eq!(wake.report(&report(result), TOLD, at(3)), Ok(Step::Repeated), "{result:?}");
    }
    assert_eq!(wake, before);
}

#[test]
fn without_a_report_for_45_seconds_it_is_taken_back_and_handed_again() {
    let mut wake = handed();
    let lease = at(limits::WAKE_LEASE_MS);
    assert_eq!(wake.due(true), Some(lease));
    assert_eq!(wake.fire(true, at(limits::WAKE_LEASE_MS - 1)), None);
    assert_eq!(wake.fire(true, lease), Some(Fired::TakenBack));
    assert_eq!((wake.fence, wake.state), (2, WakeState::Pending));
    assert_eq!(wake.fire(true, lease), Some(Fired::Hand));
    wake.hand(lease);
    assert_eq!((wake.fence, wake.state), (2, WakeState::Handed));
}

#[test]
fn each_report_extends_the_lease() {
    let mut wake = handed();
    wake.report(&report(ReportResult::Working), TOLD, at(15_000)).unwrap();
    assert_eq!(wake.lease_until, Some(at(15_000 + limits::WAKE_LEASE_MS)));
    let until = at(40_000);
    let typing = Report { deferred_until: Some(until), ..report(ReportResult::Deferred) };
    wake.report(&typing, TOLD, at(20_000)).unwrap();
    assert_eq!(wake.deferred_until, Some(until));
    assert_eq!(wake.lease_until, Some(until.plus(limits::WAKE_LEASE_MS)));
}

#[test]
fn a_person_defers_it_for_a_minute_at_a_time() {
    let mut wake = handed();
    let typing = Report { deferred_until: Some(at(999_999)), ..report(ReportResult::Deferred) };
    wake.report(&typing, TOLD, at(1)).unwrap();
    assert_eq!(wake.deferred_until, Some(at(1 + limits::WAKE_DEFER_MS)));
    assert!(!wake.is_blocked_by_person(at(limits::WAKE_DEFER_MS)));
    assert!(wake.is_blocked_by_person(at(1 + limits::WAKE_DEFER_MS)));
    wake.report(&report(ReportResult::Confirmed), TOLD, at(2)).unwrap();
    assert!(!wake.is_blocked_by_person(at(1 + limits::WAKE_DEFER_MS)), "it runs");
}

#[test]
fn when_no_lane_served_because_a_person_typed_it_is_tried_again_in_a_minute() {
    let mut wake = handed();
    let typed =
        Report { why: Some(HUMAN_INPUT.into()), lane: None, ..report(ReportResult::Exhausted) };
    assert_eq!(wake.report(&typed, TOLD, at(1)), Ok(Step::Later));
    assert_eq!((wake.state, wake.fence), (WakeState::Pending, 2));
    assert_eq!(wake.due(true), Some(at(1 + limits::WAKE_AGAIN_MS)));
    assert!(wake.is_blocked_by_person(at(1 + limits::WAKE_DEFER_MS)));
    assert_eq!(wake.fire(true, at(1 + limits::WAKE_AGAIN_MS)), Some(Fired::Hand));
}

#[test]
fn without_a_runner_for_four_minutes_it_is_given_up() {
    let mut wake = pending();
    let end = at(limits::WAKE_RUNNER_MS);
    assert_eq!(wake.due(false), Some(end));
    assert_eq!(wake.fire(false, at(limits::WAKE_RUNNER_MS - 1)), None);
    assert_eq!(wake.fire(false, end), Some(Fired::NoRunner));
    wake.end(Outcome::NoRunner, end);
    assert_eq!((wake.state, wake.due(false)), (WakeState::Dead, None));
}

#[test]
fn a_runner_that_stops_reporting_is_no_runner() {
    let mut reported = handed();
    reported.report(&report(ReportResult::Working), TOLD, START).unwrap();
    for (mut wake, lost) in [(handed(), START), (reported, at(limits::WAKE_LEASE_MS))] {
        let (mut now, mut taken_back) = (START, 0);
        while wake.is_open() {
            now = wake.due(true).unwrap().max(now);
            assert!(now.since(START) < 2 * limits::WAKE_RUNNER_MS, "it goes on for ever");
            match wake.fire(true, now) {
                Some(Fired::Hand) => wake.hand(now),
                Some(Fired::TakenBack) => taken_back += 1,
                Some(Fired::NoRunner) => wake.end(Outcome::NoRunner, now),
                other => panic!("{other:?}"),
            }
        }
        assert!(now.since(lost) >= limits::WAKE_RUNNER_MS);
        assert!(taken_back >= limits::WAKE_RUNNER_MS / limits::WAKE_LEASE_MS);
    }
}

// covers: THR-537
#[test]
fn a_lane_that_fails_three_times_in_a_quarter_of_an_hour_is_skipped() {
    let mut wake = handed();
    for n in 0..3 {
        assert!(wake.skip.is_empty(), "after {n} failures");
        wake.report(&report(ReportResult::Failed), TOLD, at(n)).unwrap();
    }
    assert_eq!(wake.skip, [Lane::Pty]);
    let later = |ms| Wake::open(Uid(2), SessionKey(3), MemberKey(2), Some(&wake), at(ms));
    assert_eq!(later(60_000).skip, [Lane::Pty], "the next wake knows");
    assert!(later(limits::WAKE_FAILURES_MS + 1).skip.is_empty());
    // Failures that are further apart do not add up.
    let mut wake = handed();
    for n in 0..3 {
        let when = at(n * limits::WAKE_FAILURES_MS / 2);
        wake.report(&report(ReportResult::Failed), TOLD, when).unwrap();
    }
    assert!(wake.skip.is_empty());
}

#[test]
fn no_progress_twice_skips_the_lane_and_three_times_gives_up() {
    let mut wake = running();
    let turn = |wake: &mut Wake, lane, ms| {
        let fence = wake.fence;
        let of = |result| Report { fence, lane: Some(lane), ..report(result) };
        if wake.state == WakeState::Pending {
            wake.hand(at(ms));
            wake.report(&of(ReportResult::Confirmed), TOLD, at(ms)).unwrap();
        }
        // The lane is known from the confirmation.
        let ended = Report { lane: None, ..of(ReportResult::Ended) };
        wake.report(&ended, TOLD, at(ms)).unwrap()
    };
    assert_eq!(turn(&mut wake, Lane::Pty, 1), Step::Again);
    assert_eq!((wake.no_progress, wake.skip.len(), wake.fence), (1, 0, 2));
    assert_eq!(turn(&mut wake, Lane::Pty, 2), Step::Again);
    assert_eq!((wake.no_progress, &*wake.skip), (2, &[Lane::Pty][..]));
    assert_eq!(turn(&mut wake, Lane::Resume, 3), Step::Ended(Outcome::NoProgress));
    assert_eq!(wake.state, WakeState::Dead);
}

#[test]
fn another_lane_without_progress_is_not_skipped_yet() {
    let mut wake = running();
    wake.report(&report(ReportResult::Ended), TOLD, at(1)).unwrap();
    wake.hand(at(2));
    let other = |result| Report { fence: 2, lane: Some(Lane::Resume), ..report(result) };
    wake.report(&other(ReportResult::Confirmed), TOLD, at(3)).unwrap();
    wake.report(&other(ReportResult::Ended), TOLD, at(4)).unwrap();
    assert_eq!((wake.no_progress, wake.skip.len()), (2, 0));
}

#[test]
fn mail_that_came_during_the_turn_is_not_held_against_it() {
    let mut wake = running();
    for n in 0..9 {
        let fence = wake.fence;
        let of = |result| Report { fence, ..report(result) };
        wake.report(&of(ReportResult::Ended), UNTOLD, at(n)).unwrap();
        wake.hand(at(n));
        let fence = wake.fence;
        wake.report(&Report { fence, ..report(ReportResult::Confirmed) }, TOLD, at(n)).unwrap();
    }
    assert_eq!((wake.no_progress, wake.is_open()), (0, true));
}

#[test]
fn more_mail_raises_up_to_where_and_is_told_at_most_every_five_seconds() {
    let mut wake = running();
    assert!(!wake.add(place(4), at(2)), "it is covered already");
    assert!(wake.add(place(9), at(2)));
    assert!(wake.covers(event(9), None) && !wake.has_sent(event(9), None));
    assert!(!wake.covers(event(9), Some(ThreadKey(1))), "another thread");
    assert_eq!(wake.due(true), Some(at(limits::WAKE_MAIL_MS)));
    assert_eq!(wake.due(false), wake.lease_until, "nobody to tell");
    assert_eq!(wake.fire(true, at(limits::WAKE_MAIL_MS)), Some(Fired::Mail));
    wake.sent(at(limits::WAKE_MAIL_MS));
    assert!(wake.has_sent(event(9), None) && !wake.has_unsent());
    assert_eq!((wake.fence, wake.threads.len()), (1, 1));
}

#[test]
fn it_names_so_many_places_and_no_more() {
    let mut wake = pending();
    for n in 0..2 * limits::WAKE_THREADS as u64 {
        wake.add(WakeThread { thread: Some(ThreadKey(n)), ..place(n + 1) }, START);
    }
    assert_eq!(wake.threads.len(), limits::WAKE_THREADS);
}

#[test]
fn wakes_about_a_thread_are_counted_for_a_minute() {
    let mut one = pending();
    (0..4).for_each(|n| one.hand(at(n * 1_000)));
    let mut other = Wake { uid: Uid(2), session: SessionKey(4), ..pending() };
    other.hand(at(2_000));
    let elsewhere = Wake { threads: vec![], ..one.clone() };
    let anothers = Wake { member: MemberKey(9), ..one.clone() };
    let all =
        [one.clone(), other, Wake { uid: Uid(3), ..elsewhere }, Wake { uid: Uid(4), ..anothers }];
    let all = all.map(Arc::new);
    let woken = |now| Wake::count_woken(all.iter(), &one, &place(0), now);
    assert_eq!(woken(at(5_000)), (5, Some(at(60_000))));
    assert_eq!(woken(at(60_000)), (4, Some(at(61_000))));
    assert_eq!(woken(at(99_000)), (0, None));
}

#[test]
fn after_a_restart_the_runner_has_time_to_come_back() {
    let hours = 3 * 3_600_000;
    let mut wake = running();
    wake.after_start(at(hours));
    assert_eq!(wake.due(false), Some(at(hours + limits::WAKE_LEASE_MS)));
    assert_eq!(wake.fence, 1);
    let mut wake = pending();
    wake.after_start(at(hours));
    assert_eq!(wake.due(false), Some(at(hours + limits::WAKE_RUNNER_MS)));
}

#[test]
fn a_clock_that_is_set_back_makes_nothing_due_too_late() {
    let mut wake = running();
    wake.add(place(9), at(2));
    wake.set_back(Timestamp(50));
    assert!(wake.due(true).unwrap() <= Timestamp(50).plus(limits::WAKE_MAIL_MS));
    assert!(wake.opened_at == Timestamp(50) && wake.changed_at == Timestamp(50));
}

#[test]
fn names_are_read_as_they_are_written() {
    for lane in Lane::ALL {
        assert_eq!(Lane::from_name(lane.name()), Some(lane));
    }
    for result in ReportResult::ALL {
        assert_eq!(ReportResult::from_name(result.name()), Some(result));
    }
    assert_eq!((Lane::from_name("fax"), ReportResult::from_name("")), (None, None));
}

/// What may happen to a wake.
#[derive(Clone, Debug)]
enum Input {
    Report { report: Report, left: Left },
    Mail { thread: u64, seq: u64 },
    Time { connected: bool },
    Back,
    Restart,
}

fn inputs() -> impl Strategy<Value = (Input, i64)> {
    let left = (any::<bool>(), any::<bool>()).prop_map(|(told, untold)| Left { told, untold });
    let lanes = proptest::option::of(select(&Lane::ALL[..]));
    let why = proptest::option::of(select(vec!["human_input", "gone"]));
    let report = (0..4_u32, lanes, select(&ReportResult::ALL[..]), why, any::<i16>()).prop_map(
        |(behind, lane, result, why, until)| Report {
            fence: behind,
            lane,
            result,
            why: why.map(Into::into),
            evidence: None,
            deferred_until: Some(at(until.into())),
            lines: None,
        },
    );
    let input = prop_oneof![
        6 => (report, left).prop_map(|(report, left)| Input::Report { report, left }),
        2 => (0..40_u64, 0..40_u64).prop_map(|(thread, seq)| Input::Mail { thread, seq }),
        3 => any::<bool>().prop_map(|connected| Input::Time { connected }),
        1 => Just(Input::Back),
        1 => Just(Input::Restart),
    ];
    (input, 0..60_000_i64)
}

proptest! {
    #[test]
    fn whatever_happens_a_wake_stays_whole(
        all in proptest::collection::vec(inputs(), 0..120),
    ) {
        let mut wake = pending();
        let mut now = START;
        for (input, later) in all {
            now = now.plus(later);
            let before = wake.clone();
            match input {
                Input::Report { report, left } => {
                    // Mostly the present fence.
                    let fence = wake.fence.saturating_sub(report.fence / 3);
                    let stale = fence != wake.fence;
                    let reported = wake.report(&Report { fence, ..report }, left, now);
                    prop_assert_eq!(reported == Err(Stale::Fence), stale);
                    if reported.is_err() {
                        prop_assert_eq!(&wake, &before);
                    }
                }
                Input::Mail { thread, seq } if wake.is_open() => {
                    let thread = Some(ThreadKey(thread));
                    wake.add(WakeThread { thread, ..place(seq) }, now);
                }
                Input::Mail { .. } => {}
                Input::Time { connected } => match wake.fire(connected, now) {
                    Some(Fired::Hand) => wake.hand(now),
                    Some(Fired::Mail) => wake.sent(now),
                    Some(Fired::NoRunner) => wake.end(Outcome::NoRunner, now),
                    Some(Fired::TakenBack) | None => {}
                },
                Input::Back if wake.is_out() => wake.sent(now),
                Input::Back => {}
                Input::Restart => wake.after_start(now),
            }
            prop_assert!(wake.fence >= before.fence, "a fence never falls");
            prop_assert_eq!(wake.is_open(), wake.outcome.is_none());
            prop_assert!(before.is_open() || wake.outcome == before.outcome, "an end is final");
            prop_assert_eq!(wake.lease_until.is_some(), wake.is_out());
            prop_assert_eq!(wake.due(true).is_some(), wake.is_open());
            prop_assert_eq!(wake.due(false).is_some(), wake.is_open());
            prop_assert!(wake.no_progress <= limits::WAKE_NO_PROGRESS);
            prop_assert!(wake.attempts.len() <= limits::WAKE_ATTEMPTS);
            prop_assert!(wake.failures.len() <= limits::WAKE_ATTEMPTS);
            prop_assert!(wake.threads.len() <= limits::WAKE_THREADS);
            prop_assert!(wake.threads.iter().all(|place| place.sent_seq <= place.through_seq));
            prop_assert_eq!(codec::read_wake(&codec::wake(&wake)), Ok(wake.clone()));
        }
    }
}

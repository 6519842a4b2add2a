//! What runners report of wakes, and what becomes of the mail.

use chorus_core::commands::NotDone;
use chorus_core::commands::wakes::ReportWake;
use chorus_core::model::attention::{Directedness, Rule};
use chorus_core::model::caller::By;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::ids::Uid;
use chorus_core::model::limits;
use chorus_core::model::wake::{Lane, Outcome, ReportResult, WakeState};

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, code};
use crate::wakes::{is_taken_up, report, sleeping};

// covers: THR-517
#[test]
fn two_turns_without_an_answer_skip_the_lane_and_a_third_tells_the_person() {
    let (mut house, _) = sleeping();
    let event = house.says(ALICE, "@scout can you look?");
    for turn in 1..=3_u8 {
        let sent = house.wakes.pop().unwrap();
        assert_eq!(sent.wake.skip.contains(&Lane::CodexSocket), turn == 3, "turn {turn}");
        house.reports(&sent, ReportResult::Confirmed).unwrap();
        let ended =
            ReportWake { lines: Some("> done".into()), ..report(&sent, ReportResult::Ended) };
        let wake = house.run(house.by(SCOUT), ended).unwrap();
        assert_eq!(wake.no_progress, turn);
        assert_eq!(wake.is_open(), turn < 3);
    }
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Failed));
    let wake = house.ws.directory().wakes.values().next().unwrap();
    assert_eq!(wake.outcome, Some(Outcome::NoProgress));
    assert_eq!(wake.lines.as_deref(), Some("> done"));
    let open = house.open(event).unwrap();
    assert!(
        open.deliveries.iter().any(|d| d.member == BOB && d.is_escalated()),
        "a person owes it"
    );
}

// covers: THR-518
#[test]
fn what_no_lane_could_wake_is_told_to_whoever_asked() {
    let mut house = House::asleep();
    house.run_program(SCOUT, None);
    let event = house.post(ALICE, Say::to(house.pair, "can you look?")).unwrap();
    let sent = house.woken();
    for lane in [Lane::CodexSocket, Lane::Pty] {
        let failed = ReportWake { lane: Some(lane), ..report(&sent, ReportResult::Failed) };
        house.run(house.by(SCOUT), failed).unwrap();
    }
    let wake = house.reports(&sent, ReportResult::Exhausted).unwrap();
    assert_eq!(wake.outcome, Some(Outcome::WakeFailed));
    assert_eq!(wake.attempts.len(), 3);
    assert!(house.delivery(event, SCOUT).unwrap().is_dead());
    let said = house.log.events.values().filter_map(|e| e.change.message());
    let told: Vec<_> = said.filter(|m| m.text.contains("could not be woken")).collect();
    assert_eq!(told.len(), 1, "alice reads it in the conversation");
}

// covers: THR-519
#[test]
fn while_a_person_types_the_wake_waits_and_goes_on() {
    let (mut house, runner) = sleeping();
    let event = house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    for _ in 0..6 {
        let deferred_until = Some(house.now.plus(5_000));
        let typing = ReportWake { deferred_until, ..report(&sent, ReportResult::Deferred) };
        let wake = house.run(house.by(SCOUT), typing).unwrap();
        assert_eq!((wake.state, wake.deferred_until), (WakeState::Deferred, deferred_until));
        house.pass(5_000);
    }
    house.reports(&sent, ReportResult::Confirmed).unwrap();
    assert!(is_taken_up(&house, event, runner));
}

// covers: THR-520, ATT-476
#[test]
fn an_agent_whose_person_typed_all_the_time_is_tried_again_in_a_minute() {
    let (mut house, _) = sleeping();
    house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    let why = Some("human_input".into());
    let typed = ReportWake { why, lane: None, ..report(&sent, ReportResult::Exhausted) };
    let wake = house.run(house.by(SCOUT), typed).unwrap();
    assert_eq!((wake.state, wake.fence), (WakeState::Pending, 2));
    house.pass(limits::WAKE_AGAIN_MS - 1_000);
    assert!(house.wakes.is_empty());
    house.pass(1_000);
    assert_eq!(house.woken().wake.fence, 2);
}

// covers: THR-522
#[test]
fn mail_that_comes_during_the_turn_is_told_to_the_runner_and_wakes_again() {
    let (mut house, runner) = sleeping();
    let first = house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    house.reports(&sent, ReportResult::Confirmed).unwrap();
    house.pass(limits::WAKE_MAIL_MS);
    let second = house.says(ALICE, "@scout and at the logs?");
    let more = house.woken();
    assert!(more.again && more.wake.fence == 1 && more.prompt.contains("and at the logs?"));
    house.dispose(SCOUT, first, Disposition::Responded).unwrap();
    // The runner did not get it into the turn.
    let wake = house.reports(&sent, ReportResult::Ended).unwrap();
    assert_eq!((wake.state, wake.no_progress, wake.fence), (WakeState::Handed, 0, 2));
    let next = house.woken();
    house.reports(&next, ReportResult::Confirmed).unwrap();
    assert!(is_taken_up(&house, second, runner));
}

// covers: THR-525
#[test]
fn reports_of_others_and_bad_reports_change_nothing() {
    let (mut house, _) = sleeping();
    house.run_program(REVIEWER, None);
    house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    let reviewer = house.by(REVIEWER);
    let confirmed = || report(&sent, ReportResult::Confirmed);
    assert_eq!(code(house.run(reviewer, confirmed())), Code::NotFound);
    let elsewhere = By { session: None, ..house.by(SCOUT) };
    assert_eq!(code(house.run(elsewhere, confirmed())), Code::NotFound);
    let scout = house.by(SCOUT);
    let unknown = ReportWake { wake: Uid(9), ..confirmed() };
    assert_eq!(code(house.run(scout, unknown)), Code::NotFound);
    let bad = [
        ReportWake { lane: None, ..confirmed() },
        ReportWake { lines: Some("x".repeat(limits::WAKE_LINES_BYTES + 1).into()), ..confirmed() },
        ReportWake { why: Some("x".repeat(limits::WAKE_WHY_BYTES + 1).into()), ..confirmed() },
        ReportWake { resume_id: Some("a\nb".into()), ..confirmed() },
    ];
    for bad in bad {
        assert_eq!(code(house.run(scout, bad)), Code::ValidationError);
    }
    assert_eq!(*house.wake(&sent), *sent.wake);
}

#[test]
fn a_learned_resume_id_stays_with_the_session() {
    let (mut house, runner) = sleeping();
    house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    let resume_id = Some("0199-abcd".into());
    let learned = ReportWake { resume_id, ..report(&sent, ReportResult::Working) };
    house.run(house.by(SCOUT), learned).unwrap();
    house.disconnect(SCOUT);
    house.run_program(SCOUT, Some(runner));
    let session = &house.ws.directory().sessions[&runner];
    assert_eq!(session.resume_id.as_deref(), Some("0199-abcd"));
    assert_eq!(session.folder.as_deref(), Some("/home/alice/app"));
}

// covers: THR-529
#[test]
fn an_erased_message_takes_the_last_lines_along() {
    let (mut house, _) = sleeping();
    let event = house.says(ALICE, "@scout is this right: secret?");
    let sent = house.woken();
    let lines = Some("secret".into());
    let confirmed = ReportWake { lines, ..report(&sent, ReportResult::Confirmed) };
    house.run(house.by(SCOUT), confirmed).unwrap();
    let reason = chorus_core::model::event::Reason::Secret;
    let erase = chorus_core::commands::messages::Erase { message: event, reason };
    house.run(house.by(ALICE), erase).unwrap();
    assert_eq!(house.wake(&sent).lines, None);
}

// covers: THR-512
#[test]
fn what_may_be_left_unanswered_is_put_away_with_the_turn() {
    let told = |house: &mut House| {
        let aside = Say::to(house.ops, "@scout the build is red").meant(Directedness::Ambient);
        let aside = house.post(ALICE, aside).unwrap();
        let asked = house.says(ALICE, "@scout can you look?");
        let sent = house.wakes.pop().unwrap();
        house.reports(&sent, ReportResult::Confirmed).unwrap();
        assert!(house.delivery(aside, SCOUT).unwrap().state.is_running());
        (aside, asked, sent)
    };
    let (mut house, _) = sleeping();
    let (aside, asked, sent) = told(&mut house);
    house.dispose(SCOUT, asked, Disposition::Responded).unwrap();
    house.reports(&sent, ReportResult::Ended).unwrap();
    assert_eq!(house.disposition(aside, SCOUT), Some(Disposition::Acknowledged));
    let (mut house, _) = sleeping();
    let (aside, _, sent) = told(&mut house);
    house.reports(&sent, ReportResult::Exhausted).unwrap();
    assert_eq!(house.disposition(aside, SCOUT), Some(Disposition::Ignored));
}

// covers: THR-512
#[test]
fn an_agent_that_was_woken_counts_as_busy() {
    let (mut house, _) = sleeping();
    house.run_program(REVIEWER, None);
    house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    house.reports(&sent, ReportResult::Confirmed).unwrap();
    let event = house.says(BOB, "@helpers can one of you look?");
    let selected = house.decision(event, REVIEWER).map(|decision| decision.rule);
    assert_eq!(selected, Some(Rule::RoleMention));
}

// covers: THR-512
#[test]
fn what_a_prompt_quotes_in_private_is_not_carried_elsewhere() {
    let (mut house, _) = sleeping();
    house.post(ALICE, Say::to(house.pair, "@scout is the plan secret?")).unwrap();
    house.woken();
    let by = house.by(SCOUT);
    let held = house.try_run(by, Say::to(house.ops, "alice has a plan").0);
    assert!(matches!(held, Err(NotDone::AwaitsApproval(_))), "{held:?}");
}

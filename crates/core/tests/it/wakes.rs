//! Waking: what waits for a sleeping agent, its wake, and the reports of its runner.

use std::sync::Arc;

use chorus_core::commands::directory::OpenSession;
use chorus_core::commands::wakes::ReportWake;
use chorus_core::model::caller::By;
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::delivery::State;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, SessionKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::wake::{Lane, Outcome, OutgoingWake, ReportResult, Wake, WakeState};
use chorus_core::queries;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, code};

impl House {
    /// A runner of the agent connects, or connects again.
    pub fn run_program(&mut self, member: MemberKey, again: Option<SessionKey>) -> SessionKey {
        let uid = again.map(|session| self.ws.directory().sessions[&session].uid);
        let by = By { session: None, ..self.by(member) };
        let open = OpenSession {
            uid,
            runtime: "codex_cli".into(),
            resumable: true,
            runner: true,
            folder: Some("/home/alice/app".into()),
            ..OpenSession::default()
        };
        self.run(by, open).expect("a runner may connect").key
    }

    /// The one wake that was sent since last asked.
    pub fn woken(&mut self) -> Arc<OutgoingWake> {
        assert_eq!(self.wakes.len(), 1, "one wake: {:?}", self.wakes);
        self.wakes.remove(0)
    }

    pub fn reports(
        &mut self,
        sent: &OutgoingWake,
        result: ReportResult,
    ) -> Result<Arc<Wake>, Refusal> {
        let by = By { session: Some(sent.session), ..self.by(sent.wake.member) };
        self.run(by, report(sent, result))
    }

    pub fn wake(&self, sent: &OutgoingWake) -> Arc<Wake> {
        self.ws.directory().wakes[&sent.wake.uid].clone()
    }
}

pub fn report(sent: &OutgoingWake, result: ReportResult) -> ReportWake {
    ReportWake {
        wake: sent.wake.uid,
        fence: sent.wake.fence,
        lane: Some(Lane::CodexSocket),
        result,
        why: None,
        evidence: Some("turn 7".into()),
        deferred_until: None,
        resume_id: None,
        lines: None,
    }
}

/// A house in which scout sleeps behind a runner.
fn sleeping() -> (House, SessionKey) {
    let mut house = House::asleep();
    let runner = house.run_program(SCOUT, None);
    (house, runner)
}

fn is_taken_up(house: &House, event: Uid, runner: SessionKey) -> bool {
    let state = house.delivery(event, SCOUT).expect("it was told").state;
    matches!(state, State::Accepted { session, gone: None, .. } if session == runner)
}

// covers: THR-510a
#[test]
fn mail_that_must_be_answered_wakes_a_sleeping_agent() {
    let (mut house, runner) = sleeping();
    let event = house.says(ALICE, "@scout can you look at CI?");
    let sent = house.woken();
    assert_eq!((sent.session, sent.again, sent.wake.fence), (runner, false, 1));
    assert_eq!(sent.wake.state, WakeState::Handed);
    assert_eq!(sent.threads.len(), 1);
    assert_eq!(sent.threads[0].conversation, house.ops);
    assert_eq!(sent.threads[0].through_seq, house.event(event).seq.0);
    assert!(sent.prompt.contains("can you look at CI?"), "{}", sent.prompt);
    assert!(house.offers(SCOUT).is_empty(), "nothing is offered to a runner");
    assert_eq!(house.delivery(event, SCOUT).unwrap().state, State::Waiting);
}

// covers: THR-511
#[test]
fn a_runner_is_offered_nothing_however_it_asks() {
    let (mut house, runner) = sleeping();
    let event = house.says(ALICE, "@scout can you look?");
    let owed = queries::Owed { session: runner, limit: 9 };
    assert!(house.run(house.by(SCOUT), owed.clone()).unwrap().offers.is_empty());
    house.pass(130_000);
    assert!(house.offers(SCOUT).is_empty(), "reminders offer nothing either");
    // What it runs is not offered again when it comes back.
    let sent = house.wakes.last().cloned().unwrap();
    house.reports(&sent, ReportResult::Confirmed).unwrap();
    house.disconnect(SCOUT);
    house.run_program(SCOUT, Some(runner));
    assert!(is_taken_up(&house, event, runner));
    assert!(house.run(house.by(SCOUT), owed).unwrap().offers.is_empty());
    assert!(house.offers(SCOUT).is_empty());
}

// covers: THR-510b
#[test]
fn a_connected_session_is_offered_the_mail_and_no_runner_is_woken() {
    let (mut house, _) = sleeping();
    house.connect(SCOUT);
    house.says(ALICE, "@scout can you look?");
    assert_eq!(house.offers(SCOUT).len(), 1);
    assert!(house.wakes.is_empty());
}

// covers: THR-510c
#[test]
fn what_needs_no_answer_wakes_nobody() {
    let (mut house, _) = sleeping();
    for text in ["all is green", "thanks @scout!", "fyi: the build is done"] {
        house.says(ALICE, text);
    }
    house.says(ALICE, "@reviewer can you look?");
    assert!(house.wakes.is_empty(), "{:?}", house.wakes);
}

// covers: THR-512
#[test]
fn what_a_confirmed_wake_covers_is_held_by_the_session() {
    let (mut house, runner) = sleeping();
    let event = house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    let wake = house.reports(&sent, ReportResult::Confirmed).unwrap();
    assert_eq!(wake.state, WakeState::Running);
    assert!(is_taken_up(&house, event, runner));
    assert_eq!(house.delivery(event, SCOUT).unwrap().attempt, 1);
    // Signs of life move the deadline, as in every run.
    for _ in 0..40 {
        house.pass(15_000);
        house.reports(&sent, ReportResult::Working).unwrap();
    }
    assert!(is_taken_up(&house, event, runner), "ten minutes later");
    let answer = Say::to(house.ops, "it is green").answering(event);
    house.post(SCOUT, answer).unwrap();
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
    let wake = house.reports(&sent, ReportResult::Ended).unwrap();
    assert_eq!((wake.state, wake.outcome), (WakeState::Done, Some(Outcome::Answered)));
}

// covers: THR-513
#[test]
fn a_thousand_messages_make_one_wake() {
    let (mut house, _) = sleeping();
    for n in 0..1_000 {
        house.now = house.now.plus(60);
        house.says(if n % 2 == 0 { ALICE } else { BOB }, &format!("@scout what of {n}?"));
    }
    let open = house.ws.directory().wakes.values().filter(|wake| wake.is_open()).count();
    assert_eq!((house.ws.directory().wakes.size(), open), (1, 1));
    house.pass(limits::WAKE_MAIL_MS);
    let sent = house.wakes.last().cloned().unwrap();
    assert_eq!(
        sent.threads[0].through_seq,
        house.ws.room(sent.wake.threads[0].conversation).unwrap().head().seq.0
    );
    assert!(house.wakes.len() <= 20, "told of it {} times", house.wakes.len());
    assert!(house.wakes[1..].iter().all(|sent| sent.again && sent.wake.fence == 1));
    assert!(sent.prompt.len() <= limits::WAKE_PROMPT_BYTES);
}

// covers: THR-514
#[test]
fn a_wake_that_is_not_acknowledged_is_taken_back_and_sent_again() {
    let (mut house, _) = sleeping();
    house.says(ALICE, "@scout can you look?");
    let first = house.woken();
    house.pass(limits::WAKE_LEASE_MS - 1_000);
    assert!(house.wakes.is_empty());
    house.pass(1_000);
    let second = house.woken();
    assert_eq!((second.wake.uid, second.wake.fence, second.again), (first.wake.uid, 2, false));
    assert_eq!(code(house.reports(&first, ReportResult::Confirmed)), Code::Conflict);
    house.reports(&second, ReportResult::Working).unwrap();
    house.pass(limits::WAKE_LEASE_MS - 1_000);
    assert!(house.wakes.is_empty(), "the report extended the lease");
}

// covers: THR-515
#[test]
fn a_runner_that_comes_back_gets_the_same_wake_again() {
    let (mut house, runner) = sleeping();
    house.says(ALICE, "@scout can you look?");
    let first = house.woken();
    house.reports(&first, ReportResult::Confirmed).unwrap();
    house.disconnect(SCOUT);
    house.pass(10_000);
    house.run_program(SCOUT, Some(runner));
    let again = house.woken();
    assert_eq!((again.wake.uid, again.wake.fence, again.again), (first.wake.uid, 1, true));
    house.reports(&again, ReportResult::Working).unwrap();
}

#[test]
fn what_waited_while_no_runner_was_there_wakes_the_next_one() {
    let mut house = House::asleep();
    let event = house.says(ALICE, "@scout can you look?");
    assert!(house.wakes.is_empty());
    let runner = house.run_program(SCOUT, None);
    let sent = house.woken();
    house.reports(&sent, ReportResult::Confirmed).unwrap();
    assert!(is_taken_up(&house, event, runner));
}

// covers: THR-516
#[test]
fn without_a_runner_for_five_minutes_a_wake_is_a_dead_letter() {
    let (mut house, _) = sleeping();
    house.disconnect(SCOUT);
    house.pass(60_000);
    let event = house.says(ALICE, "@scout can you look?");
    assert!(house.wakes.is_empty());
    let uid = *house.ws.directory().wakes.keys().next().expect("it waits for the runner");
    house.pass(limits::WAKE_RUNNER_MS);
    let wake = &house.ws.directory().wakes[&uid];
    assert!(!wake.is_open(), "{wake:?}");
    assert!(!house.delivery(event, SCOUT).unwrap().is_obligation(), "it moved on");
}

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

// covers: THR-520
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

// covers: THR-521
#[test]
fn an_agent_is_woken_about_one_thread_ten_times_a_minute_at_most() {
    let (mut house, _) = sleeping();
    house.says(ALICE, "@scout can you look?");
    let mut turns = 0;
    while let Some(sent) = house.wakes.pop() {
        turns += 1;
        house.reports(&sent, ReportResult::Confirmed).unwrap();
        house.says(BOB, "@scout and this?");
        let of_alice: Vec<Uid> = house.log.events.values().map(|e| e.uid).collect();
        for event in of_alice {
            let _ = house.dispose(SCOUT, event, Disposition::Responded);
        }
        house.reports(&sent, ReportResult::Ended).unwrap();
    }
    assert_eq!(turns, limits::WAKES_PER_MINUTE);
    house.pass(60_000);
    assert_eq!(house.wakes.len(), 1, "later it is woken again");
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

#[test]
fn mail_of_several_places_is_one_wake() {
    let (mut house, _) = sleeping();
    house.says(ALICE, "@scout can you look?");
    house.post(ALICE, Say::to(house.pair, "and here?")).unwrap();
    let other = house.conversation("other", ConversationKind::Channel, vec![ALICE, SCOUT]);
    house.post(ALICE, Say::to(other, "@scout and there?")).unwrap();
    house.pass(limits::WAKE_MAIL_MS);
    let sent = house.wakes.pop().unwrap();
    let places: Vec<Uid> = sent.threads.iter().map(|place| place.conversation).collect();
    assert_eq!(places, [house.ops, house.pair, other]);
}

// covers: THR-523
#[test]
fn after_a_restart_of_the_host_the_wake_goes_on_where_it_was() {
    let (mut house, runner) = sleeping();
    let event = house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    house.reports(&sent, ReportResult::Confirmed).unwrap();
    house.restart();
    house.pass(10_000);
    house.run_program(SCOUT, Some(runner));
    let again = house.woken();
    assert_eq!((again.wake.fence, again.again), (1, true), "one turn, not two");
    assert!(is_taken_up(&house, event, runner));
    house.reports(&again, ReportResult::Working).unwrap();
    // A runner that does not come back loses it.
    house.restart();
    house.pass(limits::WAKE_LEASE_MS);
    assert_eq!(house.wake(&sent).fence, 2);
}

// covers: THR-524
#[test]
fn a_runner_that_does_not_come_back_loses_what_it_had_taken_up() {
    let (mut house, runner) = sleeping();
    let event = house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    house.reports(&sent, ReportResult::Confirmed).unwrap();
    house.disconnect(SCOUT);
    house.pass(limits::SESSION_GONE_MS);
    assert_eq!(house.delivery(event, SCOUT).unwrap().state, State::Waiting);
    house.run_program(SCOUT, Some(runner));
    let next = house.woken();
    assert_eq!((next.wake.uid, next.wake.fence, next.again), (sent.wake.uid, 2, false));
}

#[test]
fn a_wake_for_which_nothing_is_left_ends_by_itself() {
    let (mut house, _) = sleeping();
    let event = house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    house.delete(ALICE, event).unwrap();
    house.pass(limits::WAKE_LEASE_MS);
    assert_eq!(house.wake(&sent).outcome, Some(Outcome::Obsolete));
    assert!(house.wakes.is_empty());
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

#[test]
fn a_workspace_keeps_a_hundred_ended_wakes() {
    let (mut house, _) = sleeping();
    for n in 0..limits::WAKES_ENDED + 5 {
        house.now = house.now.plus(10_000);
        let event = house.says(ALICE, &format!("@scout what of {n}?"));
        let sent = house.woken();
        house.reports(&sent, ReportResult::Confirmed).unwrap();
        house.dispose(SCOUT, event, Disposition::Responded).unwrap();
        house.reports(&sent, ReportResult::Ended).unwrap();
    }
    assert_eq!(house.ws.directory().wakes.size(), limits::WAKES_ENDED);
}

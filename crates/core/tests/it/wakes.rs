//! Waking: what waits for a sleeping agent, its wake, and the reports of its runner.

use std::sync::Arc;

use chorus_core::commands::directory::OpenSession;
use chorus_core::commands::wakes::ReportWake;
use chorus_core::commands::{deliveries, stimuli};
use chorus_core::model::attention::Directedness;
use chorus_core::model::caller::By;
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::delivery::State;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, SessionKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::member::SessionStatus;
use chorus_core::model::requests::NewStimulus;
use chorus_core::model::stimulus::StimulusKind;
use chorus_core::model::wake::{Lane, Outcome, OutgoingWake, ReportResult, Wake, WakeState};
use chorus_core::queries;

use crate::house::{ALICE, BOB, House, SCOUT, Say, code};
use crate::stimuli::idea;

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

    pub fn session_status(&self, session: SessionKey) -> SessionStatus {
        self.ws.directory().sessions[&session].status_at(self.now)
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
pub fn sleeping() -> (House, SessionKey) {
    let mut house = House::asleep();
    let runner = house.run_program(SCOUT, None);
    (house, runner)
}

pub fn is_taken_up(house: &House, event: Uid, runner: SessionKey) -> bool {
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
    let aside = Say::to(house.ops, "@scout can you look?").meant(Directedness::Ambient);
    let event = house.post(ALICE, aside).unwrap();
    assert!(house.delivery(event, SCOUT).is_some(), "it is told, and may answer");
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
    assert!(house.delivery(event, SCOUT).unwrap().is_obligation(), "it has not moved on");
    assert_eq!(house.session_status(runner), SessionStatus::Active);
    let answer = Say::to(house.ops, "it is green").answering(event);
    house.post(SCOUT, answer).unwrap();
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
    let wake = house.reports(&sent, ReportResult::Ended).unwrap();
    assert_eq!((wake.state, wake.outcome), (WakeState::Done, Some(Outcome::Answered)));
    assert_eq!(house.session_status(runner), SessionStatus::Idle);
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
fn without_a_runner_for_four_minutes_a_wake_is_a_dead_letter() {
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
    // It was away for longer than a lease.
    house.now = house.now.plus(120_000);
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

// covers: THR-510d
#[test]
fn a_report_that_something_is_finished_wakes_nobody() {
    let (mut woken, mut slept) = (0, 0);
    for kind in StimulusKind::ALL {
        let (mut house, _) = sleeping();
        let new = NewStimulus { kind, targets: vec![SCOUT], ..idea(&house, "can you look?") };
        let asked = house.run(house.by(ALICE), stimuli::Stimulate(new));
        house.pass(3_000);
        let said =
            house.log.events.values().find(|e| e.actor == ALICE && e.change.message().is_some());
        let (Ok(_), Some(said)) = (asked, said) else { continue };
        let waits = house.delivery(said.uid, SCOUT).is_some_and(|d| d.is_obligation());
        match kind.is_completion() {
            _ if !waits => {}
            true => slept += usize::from(house.wakes.is_empty()),
            false => woken += usize::from(!house.wakes.is_empty()),
        }
        assert!(!waits || house.wakes.is_empty() == kind.is_completion(), "{kind:?}");
    }
    assert!(woken > 0 && slept > 0, "{woken} woke, {slept} did not");
}

#[test]
fn a_session_that_takes_offers_again_is_not_woken_any_more() {
    let (mut house, runner) = sleeping();
    house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    house.disconnect(SCOUT);
    house.reconnect(SCOUT, runner);
    assert_eq!(house.wake(&sent).outcome, Some(Outcome::Obsolete));
    assert_eq!(house.offers(SCOUT).len(), 1);
}

// covers: THR-512
#[test]
fn mail_of_which_the_runner_was_not_told_is_not_taken_up() {
    let (mut house, runner) = sleeping();
    let first = house.says(ALICE, "@scout can you look?");
    let second = house.says(BOB, "@scout and at this?");
    let sent = house.woken();
    house.reports(&sent, ReportResult::Confirmed).unwrap();
    assert!(is_taken_up(&house, first, runner));
    assert_eq!(house.delivery(second, SCOUT).unwrap().state, State::Waiting);
    house.pass(limits::WAKE_MAIL_MS);
    let more = house.woken();
    house.reports(&more, ReportResult::Confirmed).unwrap();
    assert!(is_taken_up(&house, second, runner));
}

// covers: THR-522
#[test]
fn what_a_wake_had_no_room_for_opens_the_next_one() {
    let (mut house, _) = sleeping();
    let mut events = Vec::new();
    for n in 0..=limits::WAKE_THREADS {
        let members = vec![ALICE, SCOUT];
        let place = house.conversation(&format!("place {n}"), ConversationKind::Channel, members);
        events.push(house.post(ALICE, Say::to(place, "@scout can you look?")).unwrap());
    }
    house.pass(limits::WAKE_MAIL_MS);
    let sent = house.wakes.pop().unwrap();
    house.wakes.clear();
    assert_eq!(sent.threads.len(), limits::WAKE_THREADS);
    house.reports(&sent, ReportResult::Confirmed).unwrap();
    let last = events.pop().unwrap();
    for event in events {
        house.dispose(SCOUT, event, Disposition::Responded).unwrap();
    }
    assert!(!house.reports(&sent, ReportResult::Ended).unwrap().is_open());
    let next = house.woken();
    assert_ne!(next.wake.uid, sent.wake.uid);
    let place = house.event(last).conversation;
    assert_eq!(next.wake.threads.iter().map(|t| t.conversation).collect::<Vec<_>>(), [place]);
}

#[test]
fn what_the_agent_deferred_is_told_again_when_it_comes_back() {
    let (mut house, _) = sleeping();
    let event = house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    house.reports(&sent, ReportResult::Confirmed).unwrap();
    let until = Some(house.now.plus(20_000));
    let defer = deliveries::Defer { event, until, reason: None };
    house.run(house.by(SCOUT), defer).unwrap();
    house.pass(15_000);
    house.reports(&sent, ReportResult::Working).unwrap();
    assert!(house.wakes.is_empty());
    house.pass(5_000);
    let again = house.woken();
    assert_eq!((again.wake.uid, again.again), (sent.wake.uid, true));
}

//! `trigger_participant`: somebody asks that an agent be woken.

use chorus_core::commands::directory::{
    CloseSession, Heartbeat, IssueToken, RevokeToken, SessionName,
};
use chorus_core::commands::wakes::{ReportWake, Trigger, TriggerResult, Triggered};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::delivery::State;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Hash;
use chorus_core::model::ids::{MemberKey, Timestamp, Uid};
use chorus_core::model::limits;
use chorus_core::model::member::SessionStatus;
use chorus_core::model::token::Asked;
use chorus_core::model::wake::{ReportResult, WakeState};

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER, code};
use crate::wakes::{report, sleeping};

fn trigger(thread: Uid) -> Trigger {
    Trigger {
        thread,
        target: "scout".into(),
        reason: "new_unread_messages".into(),
        prompt: Some("Read the new messages and post a status update.".into()),
        force: false,
    }
}

fn triggers(house: &mut House, by: MemberKey) -> Result<Triggered, Refusal> {
    let thread = house.ops;
    house.run(house.by(by), trigger(thread))
}

/// Scout sleeps behind a runner, and something is unread in `#ops`.
fn unread() -> House {
    let mut house = House::asleep();
    house.run_program(SCOUT, None);
    house.says(ALICE, "the build is red");
    house
}

// covers: THR-530
#[test]
fn an_agent_with_unread_messages_is_woken() {
    let mut house = unread();
    let done = triggers(&mut house, BOB).unwrap();
    assert_eq!(done.result, TriggerResult::Triggered);
    let sent = house.woken();
    assert_eq!(done.wake.unwrap().uid, sent.wake.uid);
    assert!(sent.prompt.contains("post a status update") && sent.prompt.contains("asked_by: bob"));
    assert!(sent.prompt.contains("the build is red"), "{}", sent.prompt);
    assert!(done.summary.contains("the build is red"));
    house.reports(&sent, ReportResult::Confirmed).unwrap();
    let again = triggers(&mut house, BOB).unwrap();
    assert_eq!(again.result, TriggerResult::Running);
    assert!(house.woken().again);
    let wake = house.reports(&sent, ReportResult::Ended).unwrap();
    assert_eq!(wake.state, WakeState::Done, "nothing is owed");
}

// covers: THR-531
#[test]
fn nothing_unread_wakes_nobody() {
    let mut house = unread();
    house.says(SCOUT, "I have seen it");
    let done = triggers(&mut house, BOB).unwrap();
    assert_eq!((done.result, done.wake), (TriggerResult::NothingUnread, None));
    assert!(house.wakes.is_empty());
    house.connect(WRITER);
    house.says(ALICE, "the build is green");
    house.connect(SCOUT);
    let done = triggers(&mut house, BOB).unwrap();
    assert_eq!((done.result, done.wake), (TriggerResult::Awake, None), "it is connected");
}

// covers: THR-532
#[test]
fn a_thread_is_read_by_its_own_seqs() {
    let mut house = unread();
    let root = house.says(ALICE, "about the deploy");
    let open = chorus_core::model::requests::OpenThread {
        home: house.ops.into(),
        root: Some(root),
        title: "Deploy".into(),
        kind: Default::default(),
        owner: None,
        participants: vec![SCOUT],
        idempotency: None,
    };
    let thread = house.run(house.by(ALICE), open);
    let thread = thread.unwrap().thread.uid;
    let post = Say::to(house.ops, "look here").in_thread(thread);
    house.post(ALICE, post.clone()).unwrap();
    house.post(BOB, post).unwrap();
    house.wakes.clear();
    let done = house.run(house.by(BOB), trigger(thread)).unwrap();
    assert_eq!(done.result, TriggerResult::Triggered);
    let sent = house.wakes.pop().unwrap();
    let place = sent.threads.iter().find(|place| place.thread == Some(thread)).unwrap();
    assert_eq!((place.through_seq, place.read_seq, &*place.title), (2, 0, "Deploy"));
    assert!(sent.prompt.contains("since_seq 0"), "{}", sent.prompt);
}

// covers: THR-533
#[test]
fn each_refusal_has_its_code_and_changes_nothing() {
    let mut house = unread();
    let thread = house.ops;
    let cases = [
        (ALICE, Trigger { target: "nobody".into(), ..trigger(thread) }, Code::NotFound),
        (ALICE, Trigger { target: "bob".into(), ..trigger(thread) }, Code::NotFound),
        (ALICE, Trigger { target: "reviewer".into(), ..trigger(house.pair) }, Code::NotFound),
        (ALICE, trigger(Uid(9)), Code::NotFound),
        (BOB, trigger(house.pair), Code::NotFound),
        (SCOUT, trigger(thread), Code::ValidationError),
        (ALICE, Trigger { target: "writer".into(), ..trigger(thread) }, Code::WakeFailed),
        (REVIEWER, Trigger { force: true, ..trigger(thread) }, Code::InsufficientAuthority),
        (ALICE, Trigger { reason: "a\nb".into(), ..trigger(thread) }, Code::ValidationError),
        (
            ALICE,
            Trigger { prompt: Some("x".repeat(limits::WAKE_ASKED_BYTES + 1)), ..trigger(thread) },
            Code::PayloadTooLarge,
        ),
    ];
    for (who, asked, expected) in cases {
        let by = house.by(who);
        let what = format!("{} by {who}", asked.target);
        assert_eq!(code(house.run(by, asked)), expected, "{what}");
    }
    assert!(house.wakes.is_empty() && house.ws.directory().wakes.size() == 0);
}

// covers: THR-534
#[test]
fn a_program_that_only_reports_itself_is_unmanaged() {
    let mut house = unread();
    let heartbeat = Heartbeat {
        member: None,
        session: SessionName::read("sess_rv_12"),
        runtime: "codex_cli".into(),
        resumable: true,
        status: SessionStatus::Idle,
    };
    house.run(By { session: None, ..house.by(REVIEWER) }, heartbeat).unwrap();
    let asked = Trigger { target: "reviewer".into(), ..trigger(house.ops) };
    assert_eq!(code(house.run(house.by(ALICE), asked)), Code::UnmanagedRuntime);
}

// covers: THR-535
#[test]
fn a_person_who_types_for_a_minute_is_a_collision_unless_an_operator_insists() {
    let mut house = unread();
    triggers(&mut house, BOB).unwrap();
    let sent = house.woken();
    let typing = |house: &mut House| {
        let deferred_until = Some(house.now.plus(5_000));
        let typing = ReportWake { deferred_until, ..report(&sent, ReportResult::Deferred) };
        house.run(house.by(SCOUT), typing).unwrap();
    };
    typing(&mut house);
    let done = triggers(&mut house, BOB).unwrap();
    assert_eq!(done.result, TriggerResult::Deferred);
    assert!(done.wake.unwrap().deferred_until.is_some());
    for _ in 0..12 {
        house.pass(5_000);
        typing(&mut house);
    }
    assert_eq!(code(triggers(&mut house, BOB)), Code::HumanInputCollision);
    house.wakes.clear();
    let forced = Trigger { force: true, ..trigger(house.ops) };
    house.run(house.by(ALICE), forced).unwrap();
    assert!(house.woken().wake.force);
}

// covers: THR-536
#[test]
fn one_thread_of_one_agent_is_triggered_ten_times_a_minute() {
    let mut house = unread();
    for n in 0..limits::WAKES_PER_MINUTE {
        triggers(&mut house, BOB).unwrap_or_else(|why| panic!("{n}: {why}"));
    }
    assert_eq!(code(triggers(&mut house, BOB)), Code::RateLimited);
    house.now = house.now.plus(60_000);
    triggers(&mut house, BOB).unwrap();
}

#[test]
fn a_wake_that_somebody_asked_for_covers_what_is_owed_too() {
    let mut house = unread();
    let event = house.says(ALICE, "@scout can you look?");
    house.wakes.clear();
    triggers(&mut house, BOB).unwrap();
    let sent = house.woken();
    house.reports(&sent, ReportResult::Confirmed).unwrap();
    assert!(house.delivery(event, SCOUT).unwrap().state.is_running());
    house.dispose(SCOUT, event, Disposition::Responded).unwrap();
    house.reports(&sent, ReportResult::Ended).unwrap();
    assert_eq!(house.wake(&sent).state, WakeState::Done);
}

// covers: OPS-621
#[test]
fn a_runner_without_a_valid_token_is_woken_no_more() {
    let (mut house, runner) = sleeping();
    let uid = house.ws.directory().sessions[&runner].uid;
    let issue = |jti: &str, session| {
        IssueToken(Asked {
            jti: jti.into(),
            member: SCOUT,
            authority: Authority::Worker,
            session,
            expires: Timestamp(i64::MAX / 2),
            kid: "k".into(),
            proof: Hash::default(),
        })
    };
    for (jti, session) in [("first", Some(uid)), ("second", Some(uid)), ("other", None)] {
        house.run(house.by(ALICE), issue(jti, session)).unwrap();
    }
    let revoke = |jti: &str| RevokeToken { jti: jti.into(), expires: Timestamp(i64::MAX / 2) };
    house.run(house.by(ALICE), revoke("first")).unwrap();
    let event = house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    // It was its last token: the wake ends, and no further mail wakes the runner.
    house.run(house.by(ALICE), revoke("second")).unwrap();
    assert_eq!(house.wake(&sent).state, WakeState::Done);
    house.says(ALICE, "@scout and at this?");
    house.pass(60_000);
    assert!(house.wakes.is_empty(), "{:?}", house.wakes);
    assert_eq!(house.delivery(event, SCOUT).unwrap().state, State::Waiting);
    // The mail waits for whoever comes.
    house.run_program(SCOUT, None);
    let prompt = house.woken().prompt.clone();
    assert!(prompt.contains("can you look?"), "{prompt}");
}

// covers: ATT-475
#[test]
fn what_a_living_runner_has_in_hand_does_not_fail_with_a_dead_one() {
    let (mut house, first) = sleeping();
    let event = house.says(ALICE, "@scout can you look?");
    let sent = house.woken();
    house.reports(&sent, ReportResult::Confirmed).unwrap();
    let second = house.run_program(SCOUT, None);
    house.run(By::host(), CloseSession { session: first }).unwrap();
    // The mail comes back, and the other runner gets a wake of its own, which it keeps.
    let mut theirs = None;
    for _ in 0..40 {
        house.pass(10_000);
        theirs = house.wakes.drain(..).find(|sent| sent.session == second).or(theirs);
        if let Some(theirs) = &theirs {
            house.reports(theirs, ReportResult::Working).unwrap();
        }
    }
    assert!(theirs.is_some() && !house.wake(&sent).is_open());
    assert_eq!(house.delivery(event, SCOUT).unwrap().state, State::Waiting);
}

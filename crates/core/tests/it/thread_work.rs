//! The work of threads, and what of them is shown in the feed.

use std::sync::Arc;

use chorus_core::codec;
use chorus_core::commands::messages;
use chorus_core::commands::threads::{self, ThreadState};
use chorus_core::model::caller::By;
use chorus_core::model::conversation::Conversation;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::{Change, Reason};
use chorus_core::model::ids::{EventRef, Uid};
use chorus_core::model::limits;
use chorus_core::model::requests::OpenThread;
use chorus_core::model::thread::work::{Binding, BindingKind, Report, WorkChange, WorkStatus};
use chorus_core::model::thread::{Thread, ThreadKind, ThreadStatus};
use chorus_core::state::room::Room;
use proptest::prelude::*;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, code};

fn thread(house: &mut House, root: Option<Uid>) -> Uid {
    let opening = OpenThread {
        home: house.ops.into(),
        root,
        title: "deploy".into(),
        kind: ThreadKind::Conversation,
        owner: None,
        participants: vec![SCOUT],
        idempotency: None,
    };
    given(house.run(house.by(ALICE), opening)).uid
}

fn given(done: Result<ThreadState, Refusal>) -> Arc<Thread> {
    done.expect("it is allowed").thread
}

fn work(
    house: &mut House,
    by: By,
    thread: Uid,
    change: WorkChange,
) -> Result<ThreadState, Refusal> {
    house.run(by, threads::ChangeWork { thread, change: Box::new(change) })
}

fn status(status: WorkStatus) -> WorkChange {
    WorkChange { status: Some(status), ..WorkChange::default() }
}

fn report(key: &str, text: &str) -> WorkChange {
    let progress = Report { key: key.into(), text: text.into(), percent: Some(10) };
    WorkChange { progress: Some(progress), ..WorkChange::default() }
}

fn initiative(key: &str) -> WorkChange {
    WorkChange { initiative_key: Some(Some(key.into())), ..WorkChange::default() }
}

fn close(house: &mut House, thread: Uid, to: ThreadStatus) -> Result<ThreadState, Refusal> {
    let (status, reason) = (Some(to), "so".into());
    house.run(
        house.by(ALICE),
        threads::ChangeThread { thread, status, owner: None, reason, summary: None, note: None },
    )
}

// covers: CHN-60, CHN-61
#[test]
fn how_far_the_work_is_goes_forward_only_and_apart_from_the_threads_status() {
    let mut house = House::new();
    let deploy = thread(&mut house, None);
    let (scout, bob) = (house.by(SCOUT), house.by(BOB));
    let shown = given(work(&mut house, scout, deploy, status(WorkStatus::Reviewing)));
    assert_eq!((shown.work.status, shown.status), (WorkStatus::Reviewing, ThreadStatus::Active));
    let before = house.fingerprint();
    assert_eq!(code(work(&mut house, bob, deploy, status(WorkStatus::Active))), Code::Conflict);
    given(work(&mut house, bob, deploy, status(WorkStatus::Reviewing)));
    assert_eq!(house.fingerprint(), before, "the same again is nothing");
    close(&mut house, deploy, ThreadStatus::Resolved).unwrap();
    let shown = given(work(&mut house, bob, deploy, status(WorkStatus::Superseded)));
    assert_eq!((shown.work.status, shown.status), (WorkStatus::Superseded, ThreadStatus::Resolved));
}

// covers: CHN-62
#[test]
fn progress_wakes_nobody_and_is_no_message() {
    let mut house = House::new();
    let deploy = thread(&mut house, None);
    for n in 0..20 {
        let scout = house.by(SCOUT);
        let shown = given(work(&mut house, scout, deploy, report("build", &format!("{n} of 20"))));
        assert_eq!((shown.work.progress.len(), shown.last_seq, shown.unattended), (1, 0, 0));
    }
    for agent in [SCOUT, REVIEWER] {
        assert_eq!(house.offers(agent).len(), 0);
    }
}

// covers: CHN-63
#[test]
fn an_undertaking_has_one_live_thread() {
    let mut house = House::new();
    let (one, two) = (thread(&mut house, None), thread(&mut house, None));
    let alice = house.by(ALICE);
    given(work(&mut house, alice, one, initiative("release-2")));
    let before = house.fingerprint();
    assert_eq!(code(work(&mut house, alice, two, initiative("release-2"))), Code::Conflict);
    assert_eq!(house.fingerprint(), before);
    given(work(&mut house, alice, one, status(WorkStatus::Completed)));
    given(work(&mut house, alice, two, initiative("release-2")));
}

// covers: CHN-64, CHN-66
#[test]
fn work_is_bounded_and_a_closed_threads_stays_as_it_is() {
    let mut house = House::new();
    let deploy = thread(&mut house, None);
    let alice = house.by(ALICE);
    let bind = |n: usize| {
        let all = (0..n).map(|n| Binding { kind: BindingKind::Run, id: n.to_string().into() });
        WorkChange { bind: all.collect(), ..WorkChange::default() }
    };
    given(work(&mut house, alice, deploy, bind(limits::WORK_BINDINGS)));
    for n in 0..limits::WORK_PROGRESS {
        given(work(&mut house, alice, deploy, report(&n.to_string(), "begun")));
    }
    let before = house.fingerprint();
    let long = "x".repeat(limits::PROGRESS_BYTES + 1);
    for (bad, expect) in [
        (bind(limits::WORK_BINDINGS + 1), Code::ValidationError),
        (report("one more", "begun"), Code::ValidationError),
        (report("0", &long), Code::PayloadTooLarge),
        (report("0", " "), Code::ValidationError),
        (report("two\nlines", "begun"), Code::ValidationError),
        (initiative(""), Code::ValidationError),
        (initiative(&"k".repeat(limits::KEY_BYTES + 1)), Code::ValidationError),
    ] {
        assert_eq!(code(work(&mut house, alice, deploy, bad.clone())), expect, "{bad:?}");
    }
    close(&mut house, deploy, ThreadStatus::Closed).unwrap();
    assert_eq!(code(work(&mut house, alice, deploy, report("0", "more"))), Code::Conflict);
    let stranger = house.add_member("stranger", chorus_core::model::member::MemberKind::Agent);
    let by = house.by(stranger);
    assert_eq!(code(work(&mut house, by, deploy, report("0", "mine"))), Code::NotFound);
    assert!(house.fingerprint() > before, "but for the closing");
}

// covers: CHN-67
#[test]
fn a_run_whose_turn_was_taken_back_says_nothing_of_the_work() {
    let mut house = House::new();
    let deploy = thread(&mut house, None);
    let asked = Say::to(house.ops, "@scout can you build it?").in_thread(deploy);
    house.post(ALICE, asked).unwrap();
    let offer = house.take(SCOUT);
    let turn = house.in_turn(&offer);
    given(work(&mut house, turn, deploy, report("build", "begun")));
    // Its session is gone for so long that the turn goes to the next one.
    house.disconnect(SCOUT);
    house.pass(limits::SESSION_GONE_MS + 1_000);
    house.connect(SCOUT);
    assert_eq!(code(work(&mut house, turn, deploy, report("build", "late"))), Code::StaleTurn);
}

// covers: CHN-71, CHN-74
#[test]
fn a_message_is_promoted_once_and_its_erasure_takes_the_note_along() {
    let mut house = House::new();
    let root = house.says(ALICE, "the deploy");
    let deploy = thread(&mut house, Some(root));
    let said = house.post(BOB, Say::to(house.ops, "it is out").in_thread(deploy)).unwrap();
    let promote =
        |message: Uid, note: Option<&str>| threads::Promote { message, note: note.map(Into::into) };
    let bob = house.by(BOB);
    let shown = given(house.run(bob, promote(said, Some("my words"))));
    assert_eq!(shown.work.promoted.len(), 1);
    let before = house.fingerprint();
    given(house.run(bob, promote(said, Some("again"))));
    assert_eq!(code(house.run(bob, promote(root, None))), Code::ValidationError);
    assert_eq!(house.fingerprint(), before);
    let erase = messages::Erase { message: said, reason: Reason::Request };
    house.run(house.by(ALICE), erase).unwrap();
    let noted = house.log.events.values().filter(|e| matches!(e.change, Change::Promoted(_)));
    assert!(noted.clone().count() == 1 && noted.clone().all(|e| e.is_erased()), "the note is gone");
    let gone = house.post(BOB, Say::to(house.ops, "never mind").in_thread(deploy)).unwrap();
    house.delete(BOB, gone).unwrap();
    assert_eq!(code(house.run(bob, promote(gone, None))), Code::Conflict);
}

// covers: CHN-72
#[test]
fn what_came_of_a_thread_is_said_when_something_has() {
    let mut house = House::new();
    let deploy = thread(&mut house, None);
    let sum = |status, text: &str| threads::ChangeThread {
        thread: deploy,
        status,
        owner: None,
        reason: "".into(),
        summary: Some(text.into()),
        note: None,
    };
    let alice = house.by(ALICE);
    let before = house.fingerprint();
    assert_eq!(code(house.run(alice, sum(None, "it is out"))), Code::Conflict);
    assert_eq!(
        code(house.run(alice, sum(Some(ThreadStatus::Blocked), "it is out"))),
        Code::Conflict
    );
    assert_eq!(
        code(house.run(alice, sum(Some(ThreadStatus::Resolved), "  "))),
        Code::ValidationError
    );
    assert_eq!(house.fingerprint(), before);
    let shown = given(house.run(alice, sum(Some(ThreadStatus::Resolved), "it is out")));
    assert_eq!(shown.work.summary.as_ref().map(|s| &*s.text), Some("it is out"));
    let shown = given(house.run(alice, sum(None, "it is out, and works")));
    assert_eq!(shown.work.summary.as_ref().map(|s| &*s.text), Some("it is out, and works"));
}

/// The room as its log alone makes it.
fn replayed(house: &House, conversation: &Conversation) -> Room {
    let mut room = Room::new(conversation.clone());
    let from = EventRef { conversation: conversation.key, seq: Default::default() };
    let events = house.log.events.range(from..);
    for (_, event) in events.take_while(|(at, _)| at.conversation == conversation.key) {
        let body = codec::body(&event.change);
        assert_eq!(codec::read_body(event.change.code(), &body).as_ref(), Ok(&event.change));
        room.apply(event);
    }
    room
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // covers: CHN-65
    #[test]
    fn the_log_gives_the_same_work(steps in prop::collection::vec((0_u8..8, 0_u8..3, 0_usize..2), 1..40)) {
        let mut house = House::new();
        let threads = [thread(&mut house, None), thread(&mut house, None)];
        for (what, key, at) in steps {
            let (by, thread) = (house.by(if at == 0 { SCOUT } else { ALICE }), threads[at]);
            let binding = Binding { kind: BindingKind::ALL[usize::from(key)], id: "x".into() };
            let step = usize::from(key);
            let key: Arc<str> = format!("key {key}").into();
            let change = match what {
                0 => status(WorkStatus::ALL[step]),
                1 => report(&key, "so far"),
                2 => report(&key, "further"),
                3 => WorkChange { forget: vec![key], ..WorkChange::default() },
                4 => WorkChange { bind: vec![binding], ..WorkChange::default() },
                5 => WorkChange { unbind: vec![binding], topic_kind: Some(Some(key)), ..WorkChange::default() },
                6 => initiative(&key),
                _ => WorkChange { initiative_key: Some(None), owner_session: Some(by.session), ..WorkChange::default() },
            };
            // What is refused changes nothing, so that the log still gives the same.
            let _ = work(&mut house, by, thread, change);
        }
        let room = house.ws.rooms().find(|r| r.conversation().uid == house.ops).unwrap();
        let again = replayed(&house, room.conversation());
        prop_assert_eq!(again.threads(), room.threads());
        for thread in room.threads().values() {
            let bytes = codec::work(&thread.work);
            prop_assert_eq!(codec::read_work(&bytes), Ok((*thread.work).clone()));
        }
    }
}

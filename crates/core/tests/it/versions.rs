//! A message is one subject in all its versions, and a thread that is closed leaves nothing owed in it.

use chorus_core::commands::threads;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::ids::Uid;
use chorus_core::model::requests::OpenThread;
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use chorus_core::queries;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, code};

/// The root of the thread that an event is in.
fn root_of(house: &House, uid: Uid) -> Option<Uid> {
    let event = house.event(uid);
    let room = house.ws.room(event.conversation).expect("a room");
    let root = room.thread(event.thread?)?.root?;
    room.tail().iter().find(|e| e.seq == root).map(|e| e.uid)
}

fn thread_of(house: &House, uid: Uid) -> Uid {
    let event = house.event(uid);
    let room = house.ws.room(event.conversation).expect("a room");
    room.threads()[&event.thread.expect("in a thread")].uid
}

fn close(house: &mut House, by: chorus_core::model::caller::By, thread: Uid) {
    let (status, reason) = (Some(ThreadStatus::Closed), "done".into());
    let close =
        threads::ChangeThread { thread, status, owner: None, reason, summary: None, note: None };
    house.run(by, close).expect("it may be closed");
}

// covers: CHN-351
#[test]
fn an_answer_to_any_version_goes_into_the_messages_thread() {
    for restarted in [false, true] {
        let mut house = House::with_subjects();
        let event = house.says(ALICE, "@scout @reviewer A?");
        house.take(SCOUT);
        house.edit(ALICE, event, "@scout @reviewer B, is it so?").expect("its author");
        if restarted {
            house.pass(3_000);
            house.restart();
            house.connect(SCOUT);
            house.connect(REVIEWER);
        }
        let first = house.take(SCOUT);
        assert!(house.offers(REVIEWER).is_empty(), "its turn comes");
        let turns = queries::Turns { conversation: house.ops };
        let turns = house.run(house.by(ALICE), turns).expect("turns");
        assert_eq!(turns.iter().map(|t| t.root).collect::<Vec<_>>(), [event], "one subject");
        let said = house.reply(&first, "it is so").expect("asked");
        assert_eq!(root_of(&house, said), Some(event));
        let second = house.take(REVIEWER);
        assert!(second.channel.is_some(), "a turn of the subject");
        let more = house.reply(&second, "so it is").expect("asked");
        assert_eq!(thread_of(&house, more), thread_of(&house, said));
        // After the answers too.
        house.edit(ALICE, event, "@scout C, what do you say?").expect("its author");
        // A person has changed what both have answered: one has the turn at once, and does not rest first.
        let mut offers = house.offers(SCOUT);
        offers.extend(house.offers(REVIEWER));
        let [again] = &offers[..] else { panic!("one has the turn: {offers:?}") };
        house.accept(again).expect("offered");
        let again = house.reply(again, "C is fine").expect("shown");
        assert_eq!(thread_of(&house, again), thread_of(&house, said));
    }
}

// covers: CHN-352
#[test]
fn closing_a_thread_ends_what_is_owed_there() {
    let mut house = House::with_subjects();
    let event = house.says(BOB, "@scout @reviewer can you look at the build?");
    let first = house.take(SCOUT);
    let said = house.reply(&first, "it is green").expect("asked");
    let held = house.take(REVIEWER);
    let thread = thread_of(&house, said);
    let asked = house.post(BOB, Say::to(house.ops, "@scout and the deploy?").in_thread(thread));
    let asked = asked.expect("a person");
    house.cancelled.clear();
    let by = house.by(BOB);
    close(&mut house, by, thread);
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
    for (event, member) in [(event, REVIEWER), (asked, SCOUT)] {
        assert_eq!(house.disposition(event, member), Some(Disposition::Superseded));
        let delivery = house.delivery(event, member).expect("told");
        assert_eq!(delivery.note.as_deref(), Some("the thread was closed"));
    }
    let told: Vec<_> = house.cancelled.iter().map(|c| (c.event, c.member)).collect();
    assert_eq!(told, [(event, REVIEWER)], "who has it is told");
    assert_eq!(code(house.reply(&held, "I agree")), Code::StaleTurn);
    // What is said there in other words asks nobody either.
    let edit = house.edit(BOB, event, "@scout can you look at the tests?").expect("its author");
    assert!(house.attention(edit).told.is_empty());
    house.offers(SCOUT);
    house.pass(3_600_000);
    assert!(house.offers(SCOUT).is_empty() && house.delivery(asked, ALICE).is_none());
}

// covers: CHN-352
#[test]
fn who_closes_the_thread_it_was_asked_in_has_done_it() {
    let mut house = House::new();
    let opening = OpenThread {
        home: house.ops.into(),
        root: None,
        title: "build".into(),
        kind: ThreadKind::Workflow,
        owner: Some(SCOUT),
        participants: vec![SCOUT],
        idempotency: None,
    };
    let thread = house.run(house.by(ALICE), opening).expect("a thread").thread;
    let say = Say::to(house.ops, "@scout please close this").in_thread(thread.uid);
    let event = house.post(BOB, say).expect("a person");
    let offer = house.take(SCOUT);
    house.cancelled.clear();
    let by = house.in_turn(&offer);
    close(&mut house, by, thread.uid);
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Acknowledged));
    assert!(house.cancelled.is_empty(), "its run goes on to its end");
}

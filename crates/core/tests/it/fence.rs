//! Section 12: nothing is changed in a turn that its caller does not hold any more, whatever the call is.

use std::sync::Arc;

use chorus_core::commands::{
    approvals, assets, conversations, deliveries, messages, stimuli, threads,
};
use chorus_core::model::asset::Media;
use chorus_core::model::caller::{By, TurnRef};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::event::Message;
use chorus_core::model::ids::{Seq, Uid};
use chorus_core::model::limits;
use chorus_core::model::offer::Offer;
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::{OpenThread, SettingsPatch};
use chorus_core::model::thread::work::WorkChange;
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use chorus_core::queries;

use crate::boxed::{Boxed, boxed};
use crate::house::{ALICE, House, SCOUT, Say, code, refusal};
use crate::stimuli::idea;

fn message(text: &str) -> Message {
    Message { text: text.into(), ..Message::default() }
}

/// Everything a run may ask for that changes something, about an event and a thread.
fn writing(house: &House, event: Uid, own: Uid, thread: Uid) -> Vec<Boxed> {
    let (conversation, reason): (Uid, Arc<str>) = (house.ops, "".into());
    let session = house.by(SCOUT).session.expect("connected");
    let say = Say::to(conversation, "it is green").answering(event).0;
    vec![
        boxed(say.clone()),
        boxed(messages::CloseRun(say)),
        boxed(messages::EmitOutput { message: message("it is green") }),
        boxed(messages::Edit { message: own, content: message("I have found two bugs") }),
        boxed(messages::Delete { message: own }),
        boxed(messages::React { message: event, signal: Signal::Seen, detail: None, on: true }),
        boxed(messages::React { message: event, signal: Signal::Working, detail: None, on: true }),
        boxed(OpenThread {
            home: conversation.into(),
            root: None,
            title: "deploys".into(),
            kind: ThreadKind::Workflow,
            owner: None,
            participants: Vec::new(),
            idempotency: None,
        }),
        boxed(threads::ChangeThread {
            thread,
            status: Some(ThreadStatus::Resolved),
            owner: None,
            reason,
            summary: None,
            note: None,
        }),
        boxed(threads::ChangeWork {
            thread,
            change: Box::new(WorkChange {
                topic_kind: Some(Some("ci".into())),
                ..Default::default()
            }),
        }),
        boxed(threads::Promote { message: event, note: None }),
        boxed(stimuli::Stimulate(idea(house, "shall we look at the queue?"))),
        boxed(assets::KeepAsset {
            hash: [3; 32],
            name: "log.txt".into(),
            media: Media::Text,
            bytes: 3,
            data: Arc::from(&b"red"[..]),
        }),
        boxed(conversations::SetCursor { conversation, read: Seq(1) }),
        boxed(conversations::AckThread { thread, read: Seq(1) }),
        boxed(deliveries::Claim { event }),
        boxed(deliveries::Release { event }),
        boxed(deliveries::Dispose { event, disposition: Disposition::Acknowledged, note: None }),
        boxed(deliveries::Defer { event, until: Some(house.now.plus(60_000)), reason: None }),
        boxed(deliveries::CancelDelivery { event, attempt: None }),
        boxed(conversations::Leave { conversation, thread: None, member: SCOUT }),
        boxed(deliveries::Life { session }),
        boxed(deliveries::Progress { event: None }),
        boxed(deliveries::Progress { event: Some(event) }),
        boxed(approvals::MayCall { tool: "chat.react".into(), arguments: "{}".into() }),
    ]
}

/// An offer to scout that it has taken, with a message of its own and a thread beside it.
fn taken(house: &mut House) -> (Offer, Uid, Uid) {
    house.says(ALICE, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    let own = house.reply(&offer, "at it").expect("asked");
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
    let event = house.says(ALICE, "@scout can you look at the deploy?");
    let offers = house.offers(SCOUT);
    let offer = offers.into_iter().find(|o| o.entry.event.uid == event).expect("offered");
    house.accept(&offer).expect("an offer");
    (offer, own, thread.uid)
}

// covers: ATT-340, ATT-91, ATT-129
#[test]
fn nothing_is_changed_in_a_turn_whose_fence_is_not_the_newest() {
    let mut house = House::new();
    let (offer, own, thread) = taken(&mut house);
    let stale = house.in_turn(&offer);
    // Its session is gone for a minute: the right to answer goes on to the next.
    house.disconnect(SCOUT);
    house.connect(SCOUT);
    house.pass(limits::SESSION_GONE_MS + 1_000);
    let event = offer.entry.event.uid;
    let held = house.delivery(event, SCOUT).expect("its own").fence;
    assert!(held > offer.fence, "{held}");
    let stale = By { session: house.by(SCOUT).session, ..stale };
    for (n, command) in writing(&house, event, own, thread).iter().enumerate() {
        let before = house.fingerprint();
        let shown = format!("{n}: {}", command.name);
        let refused = refusal(command.run(&mut house, stale).expect_err(&shown));
        assert_eq!(refused.code, Code::StaleTurn, "{shown}");
        assert_eq!(house.fingerprint(), before, "{shown}");
    }
    // It may still look.
    let conversation = house.ops;
    for question in [
        boxed(queries::Standing { event }),
        boxed(queries::Turns { conversation }),
        boxed(queries::Waiting { member: Some(SCOUT), limit: 10 }),
        boxed(deliveries::Retrieve { event }),
    ] {
        question.run(&mut house, stale).expect("reading is not refused");
    }
}

// covers: ATT-340
#[test]
fn nothing_is_changed_in_a_turn_that_was_withdrawn() {
    for how in ["edited", "deleted", "done"] {
        let mut house = House::new();
        let (offer, own, thread) = taken(&mut house);
        let (event, stale) = (offer.entry.event.uid, house.in_turn(&offer));
        match how {
            "edited" => drop(house.edit(ALICE, event, "never mind, all of you")),
            "deleted" => drop(house.delete(ALICE, event)),
            _ => drop(house.react(ALICE, event, Signal::Done)),
        }
        assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Superseded), "{how}");
        for (n, command) in writing(&house, event, own, thread).iter().enumerate() {
            let before = house.fingerprint();
            let shown = format!("{how}, {n}: {}", command.name);
            let refused = refusal(command.run(&mut house, stale).expect_err(&shown));
            assert_eq!(refused.code, Code::StaleTurn, "{shown}");
            assert_eq!(house.fingerprint(), before, "{shown}");
        }
    }
}

// covers: ATT-341, ATT-108
#[test]
fn what_was_said_before_a_turn_was_taken_back_is_given_again_under_its_key() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    let say = |house: &House, key| Say::to(house.ops, "green").answering(event).under(key, key);
    let turn = house.in_turn(&offer);
    let (sent, _) = house.post_as(turn, say(&house, 1)).expect("asked");
    let taken_back = turn.turn.map(|turn| TurnRef { fence: 0, ..turn });
    let stale = By { turn: taken_back, ..turn };
    assert_eq!(house.post_as(stale, say(&house, 1)).expect("it was taken"), (sent, true));
    assert_eq!(code(house.post_as(stale, say(&house, 2))), Code::StaleTurn);
    let other = Say::to(house.ops, "red").answering(event).under(1, 9);
    assert_eq!(code(house.post_as(stale, other)), Code::IdempotencyConflict);
}

// covers: ATT-108, THR-17
#[test]
fn what_was_said_before_its_channel_was_archived_is_given_again_under_its_key() {
    let mut house = House::new();
    let say = Say::to(house.ops, "the build is green").under(1, 1);
    let (sent, _) = house.post_as(house.by(ALICE), say.clone()).expect("may speak");
    let settings = SettingsPatch { archived: Some(true), ..SettingsPatch::default() };
    let archive = conversations::ChangeConversation { conversation: house.ops, settings };
    house.run(house.by(ALICE), archive).expect("an operator");
    assert_eq!(house.post_as(house.by(ALICE), say).expect("it was taken"), (sent, true));
    for (key, payload, refused) in [(1, 2, Code::IdempotencyConflict), (2, 2, Code::Conflict)] {
        let other = Say::to(house.ops, "it is red").under(key, payload);
        assert_eq!(code(house.post_as(house.by(ALICE), other)), refused);
    }
}

// covers: ATT-345
#[test]
fn what_a_harness_cancels_moves_on_when_it_was_owed_and_is_ignored_else() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at the build?");
    house.take(SCOUT);
    let cancel = |event| deliveries::CancelDelivery { event, attempt: None };
    house.run(house.by(SCOUT), cancel(event)).expect("its own");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Failed));
    let moved = house.open(event).expect("listed still").deliveries.len();
    assert!(moved > 1, "somebody else is asked");
    let again = house.run(house.by(SCOUT), cancel(event)).expect("again");
    assert_eq!(again.map(|disposed| disposed.disposition), Some(Disposition::Failed));

    let nod = house.says(ALICE, "@scout thanks, that was it");
    if house.delivery(nod, SCOUT).is_some_and(|d| d.attempt > 0) {
        house.run(house.by(SCOUT), cancel(nod)).expect("its own");
        assert_eq!(house.disposition(nod, SCOUT), Some(Disposition::Ignored));
    }
    let elsewhere = house.says(ALICE, "@reviewer can you look at the docs?");
    assert_eq!(code(house.run(house.by(SCOUT), cancel(elsewhere))), Code::Conflict);
}

// covers: ATT-344
#[test]
fn progress_without_an_event_is_that_of_the_run_begun_last() {
    let mut house = House::new();
    let by = house.by(SCOUT);
    let progress = |event| deliveries::Progress { event };
    assert_eq!(code(house.run(by, progress(None))), Code::Conflict, "nothing is under way");
    let first = house.says(ALICE, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    let in_turn = house.in_turn(&offer);
    house.pass(10_000);
    let say = Say::to(house.pair, "and can you look at the deploy?");
    let second = house.post(ALICE, say).expect("people may speak");
    house.take(SCOUT);
    let mut at = |by, event| {
        let working = house.run(by, progress(event)).expect("its own");
        (working.event, working.conversation.uid)
    };
    assert_eq!(at(by, None).0, second);
    assert_eq!(at(by, Some(first)).0, first);
    assert_eq!(at(in_turn, None).0, first, "the turn's own");
}

// covers: ATT-350
#[test]
fn what_is_owed_comes_in_the_order_in_which_it_was_said_over_all_conversations() {
    let mut house = House::asleep();
    let mut said = Vec::new();
    for n in 0..6 {
        let place = if n % 2 == 0 { house.pair } else { house.ops };
        let say = Say::to(place, &format!("@scout can you look at build {n}?"));
        said.push(house.post(ALICE, say).expect("people may speak"));
        house.pass(1_000);
    }
    house.connect(SCOUT);
    let offered: Vec<Uid> = house.offers(SCOUT).iter().map(|o| o.entry.event.uid).collect();
    assert_eq!(offered, said);
}

// covers: ATT-91
#[test]
fn nothing_is_changed_in_a_turn_whose_run_has_said_how_it_ended() {
    use Disposition::{Acknowledged, Failed, Ignored, Responded};
    for how in [Acknowledged, Responded, Failed, Ignored] {
        let mut house = House::new();
        let event = house.says(ALICE, "@scout can you look at the build?");
        let offer = house.take(SCOUT);
        let by = house.in_turn(&offer);
        let dispose = deliveries::Dispose { event, disposition: how, note: None };
        house.run(by, dispose.clone()).expect("its own");
        let before = house.delivery(event, SCOUT).cloned();
        assert_eq!(code(house.reply(&offer, "one more word")), Code::StaleTurn, "{how:?}");
        let (signal, detail) = (Signal::Agree, None);
        let react = messages::React { message: event, signal, detail, on: true };
        for command in [boxed(react), boxed(deliveries::Claim { event })] {
            assert_eq!(code(command.run(&mut house, by)), Code::StaleTurn, "{how:?}");
        }
        house.run(by, dispose).expect("said twice it is said once");
        assert_eq!(house.delivery(event, SCOUT).cloned(), before);
    }
}

// covers: ATT-91
#[test]
fn what_is_sent_again_may_be_answered_again() {
    let mut house = House::new();
    let pair = house.pair;
    let event = house.post(ALICE, Say::to(pair, "can you look at the build?")).expect("said");
    let offer = house.take(SCOUT);
    let dispose = deliveries::Dispose { event, disposition: Disposition::Failed, note: None };
    house.run(house.in_turn(&offer), dispose).expect("its own");
    let again = deliveries::Redeliver { event, member: SCOUT };
    house.run(house.by(ALICE), again).expect("an operator");
    let offer = house.take(SCOUT);
    house.reply(&offer, "it is green").expect("a new run");
}

// covers: ATT-91
#[test]
fn a_run_that_has_answered_says_no_more_once_it_has_said_how_it_ended() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    house.reply(&offer, "it is green").expect("its turn");
    house.reply(&offer, "and fast").expect("its turn still");
    let dispose = deliveries::Dispose { event, disposition: Disposition::Responded, note: None };
    house.run(house.by(SCOUT), dispose.clone()).expect("its own");
    assert_eq!(code(house.reply(&offer, "one more word")), Code::StaleTurn);
    house.run(house.in_turn(&offer), dispose).expect("said twice it is said once");
}

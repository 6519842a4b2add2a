//! Sections 16 and 17: what is taken back, changed and deleted.

use chorus_core::commands::{conversations, messages};
use chorus_core::model::attention::{Directedness, Policy, Rule};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::event::{Message, MessageKind};

use crate::house::{ALICE, BOB, Cancelled, House, REVIEWER, SCOUT, Say, WRITER, code};

// covers: ATT-124, ATT-120
#[test]
fn an_edit_before_the_answer_takes_its_place() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at the build?");
    let before = house.take(SCOUT);
    let edit = house.edit(ALICE, event, "@scout can you look at the deploy?").expect("its author");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Superseded));
    assert_eq!(house.cancelled, [Cancelled { event, member: SCOUT, attempt: 1 }]);
    let offer = house.take(SCOUT);
    assert_eq!(offer.entry.event.uid, edit);
    assert_eq!(offer.entry.about, Some(event));
    let message = offer.entry.event.change.message().expect("a message");
    assert_eq!(&*message.text, "@scout can you look at the deploy?");
    assert_eq!(code(house.reply(&before, "the build is green")), Code::StaleTurn);
    house.reply(&offer, "the deploy is green").expect("it is what is asked now");
}

// covers: ATT-125
#[test]
fn an_edit_after_the_answer_is_a_knock_for_who_answered() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    house.reply(&offer, "the build is green").expect("asked");
    let edit = house.edit(ALICE, event, "@scout can you look at the builds?").expect("its author");
    let decision = house.decision(edit, SCOUT).expect("told");
    assert_eq!((decision.rule, decision.policy), (Rule::EditedAfterResponse, Policy::MayRespond));
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
    let again = house.edit(ALICE, event, "never mind").expect("its author");
    assert_eq!(house.decision(again, SCOUT).expect("told").rule, Rule::EditedAfterResponse);
}

// covers: ATT-126, ATT-120
#[test]
fn a_deletion_before_the_answer_cancels_it() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    house.delete(ALICE, event).expect("its author");
    assert_eq!(house.cancelled, [Cancelled { event, member: SCOUT, attempt: 1 }]);
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Superseded));
    assert_eq!(code(house.reply(&offer, "it is green")), Code::StaleTurn);
    assert_eq!(code(house.claim(REVIEWER, event)), Code::Conflict);
    house.pass(3_600_000);
    assert!(house.offers(SCOUT).is_empty());
}

// covers: ATT-127
#[test]
fn only_its_author_or_an_operator_changes_a_message() {
    let mut house = House::new();
    let event = house.says(REVIEWER, "I have found a bug");
    let before = house.fingerprint();
    assert_eq!(code(house.edit(SCOUT, event, "I have found nothing")), Code::Forbidden);
    assert_eq!(code(house.delete(SCOUT, event)), Code::Forbidden);
    assert_eq!(house.fingerprint(), before);
    house.edit(REVIEWER, event, "I have found two bugs").expect("its author");
    house.delete(BOB, event).expect("an operator");
    assert_eq!(code(house.edit(REVIEWER, event, "three")), Code::Conflict);
    let conversation = house.event(event).conversation;
    let here = house.log.events.values().filter(|e| e.conversation == conversation);
    let kinds: Vec<_> = here.map(|e| e.change.name()).collect();
    assert_eq!(kinds[kinds.len() - 3..], ["message_posted", "message_edited", "message_deleted"]);
}

// covers: ATT-120
#[test]
fn who_is_not_needed_any_more_is_told() {
    let mut house = House::new();
    let event = house.says(BOB, "@helpers can one of you look?");
    let selected = house.open(event).expect("open").deliveries[0].member;
    let knock = house.offer(selected);
    let other = [SCOUT, REVIEWER].into_iter().find(|m| *m != selected).expect("another");
    house.claim(other, event).expect("not accepted yet");
    let attempt = knock.attempt;
    assert_eq!(house.cancelled, [Cancelled { event, member: selected, attempt }]);
}

// covers: ATT-124
#[test]
fn an_edit_is_for_whom_the_message_was_for() {
    let mut house = House::new();
    let mut beside = Say::to(house.ops, "could you look at the build?");
    beside.0.mentions = vec![REVIEWER];
    let mut to_one = Say::to(house.ops, "could you look at the build too?");
    to_one.0.recipient = Some(SCOUT);
    for (say, member) in [(beside, REVIEWER), (to_one, SCOUT)] {
        let event = house.post(ALICE, say).expect("people may speak");
        let before = house.decision(event, member).expect("told").rule;
        let edit = house.edit(ALICE, event, "could you look at the deploy?").expect("its author");
        let after = house.decision(edit, member).expect("told still");
        assert_eq!((after.rule, after.policy), (before, Policy::MustRespond));
    }
    // Whom the text alone had named, it names no more.
    let event = house.says(ALICE, "@scout could you look?");
    let edit = house.edit(ALICE, event, "@reviewer could you look?").expect("its author");
    assert_eq!(house.decision(edit, SCOUT), None);
}

// covers: ATT-125
#[test]
fn what_an_edit_asks_anew_is_shown_and_obliges_nobody() {
    let mut house = House::new();
    for (text, shown) in [
        ("@scout can you look at the deploy instead?", true),
        ("@scout the build was red this morning", false),
    ] {
        let event = house.says(ALICE, "@scout can you look at the build?");
        let offer = house.offers(SCOUT).pop().expect("asked");
        house.accept(&offer).expect("an offer");
        house.reply(&offer, "it is green").expect("asked");
        let edit = house.edit(ALICE, event, text).expect("its author");
        let decision = house.decision(edit, SCOUT).expect("told");
        assert_eq!(
            (decision.rule, decision.policy),
            (Rule::EditedAfterResponse, Policy::MayRespond)
        );
        assert_eq!((decision.mode.shows_content(), decision.deadline_ms), (shown, None), "{text}");
        house.offers(SCOUT);
    }
}

// covers: ATT-343
#[test]
fn what_the_sender_stated_holds_for_every_edit() {
    let mut house = House::new();
    for stated in [Directedness::Ambient, Directedness::ToOther] {
        let mut say = Say::to(house.ops, "@scout can you look at the build?");
        say.0.directedness = Some(stated);
        let event = house.post(ALICE, say).expect("people may speak");
        let policy = |house: &House, event| house.decision(event, SCOUT).expect("told").policy;
        assert_eq!(policy(&house, event), Policy::MayRespond);
        for text in ["@scout can you look at the deploy?", "@scout please restart it"] {
            let edit = house.edit(ALICE, event, text).expect("its author");
            assert_eq!(policy(&house, edit), Policy::MayRespond, "{stated:?} {text}");
        }
    }
}

// covers: ATT-342
#[test]
fn who_has_answered_any_version_is_asked_by_none_after_it() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout @reviewer can you look at build 0?");
    let offer = house.take(SCOUT);
    house.reply(&offer, "it is green").expect("asked");
    for n in 1..5 {
        let text = format!("@scout @reviewer can you look at build {n}?");
        let edit = house.edit(ALICE, event, &text).expect("its author");
        let rule = |house: &House, member| house.decision(edit, member).expect("told").rule;
        assert_eq!(rule(&house, SCOUT), Rule::EditedAfterResponse, "{n}");
        let answered = if n > 2 { Rule::EditedAfterResponse } else { Rule::Mention };
        assert_eq!(rule(&house, REVIEWER), answered, "{n}");
        if n == 2 {
            let offer = house.offers(REVIEWER).pop().expect("asked");
            house.accept(&offer).expect("an offer");
            house.reply(&offer, "it is red").expect("asked");
        }
        if n == 3 {
            house.pass(3_600_000);
            house.restart();
            house.connect(SCOUT);
        }
    }
}

// covers: ATT-342
#[test]
fn the_same_edit_again_is_no_event() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at the build?");
    house.take(SCOUT);
    let length = |house: &House| house.log.events.len();
    let said = length(&house);
    let same = house.edit(ALICE, event, "@scout can you look at the build?").expect("its author");
    assert_eq!((same, length(&house)), (event, said));
    let edit = house.edit(ALICE, event, "@scout can you look at the deploy?").expect("its author");
    let offer = house.take(SCOUT);
    for _ in 0..2 {
        let again = house.edit(ALICE, event, "@scout can you look at the deploy?");
        assert_eq!((again.expect("its author"), length(&house)), (edit, said + 1));
    }
    house
        .reply(&offer, "it is green")
        .expect("it is not taken back by an edit that changes nothing");
    house.edit(ALICE, event, "@scout can you look at the build?").expect("its author");
    assert_eq!(length(&house), said + 3, "back to what it was is an edit");
}

// covers: ATT-342
#[test]
fn an_edit_tells_nobody_who_has_no_seat_any_more() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at the deploy?");
    let offer = house.take(SCOUT);
    house.reply(&offer, "it is green").expect("it was asked");
    let seat = conversations::RemoveSeat { conversation: house.ops, member: SCOUT };
    house.run(house.by(ALICE), seat).expect("an operator");
    let edit = house.edit(ALICE, event, "@scout can you look at the builds?").expect("its author");
    assert_eq!(house.decision(edit, SCOUT), None);
}

// covers: ATT-90, ATT-397
#[test]
fn an_edited_message_is_taken_from_its_addressee_by_none_of_its_versions() {
    for answered in [false, true] {
        let mut house = House::new();
        let event = house.says(ALICE, "@scout can you look at the build?");
        if answered {
            let offer = house.take(SCOUT);
            house.reply(&offer, "the build is green").expect("asked");
        }
        let edit = house.edit(ALICE, event, "@scout can you look at the builds?").expect("hers");
        for version in [event, edit] {
            assert_eq!(code(house.claim(WRITER, version)), Code::ClaimedByOther);
            let say = Say::to(house.ops, "it is red").answering(version);
            assert_eq!(code(house.post(WRITER, say)), Code::PolicyForbidsReply);
        }
    }
    // An edit that asks another agent takes the question from the first.
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at the build?");
    house.take(SCOUT);
    let edit = house.edit(ALICE, event, "@writer can you look at the build?").expect("hers");
    assert_eq!(code(house.claim(SCOUT, event)), Code::ClaimedByOther);
    let offer = house.take(WRITER);
    assert_eq!(offer.entry.event.uid, edit);
    house.reply(&offer, "the build is green").expect("asked");
}

// covers: ATT-91, ATT-397
#[test]
fn an_agent_that_was_handed_nothing_answers_an_edited_message_by_any_version() {
    let mut house = House::asleep();
    let event = house.says(ALICE, "@scout can you look at the build?");
    let edit = house.edit(ALICE, event, "@scout can you look at the deploy?").expect("hers");
    house.post(SCOUT, Say::to(house.ops, "it is green").answering(event)).expect("asked");
    assert_eq!(house.disposition(edit, SCOUT), Some(Disposition::Responded));
}

// covers: THR-18
#[test]
fn an_edit_leaves_an_event_its_type() {
    let mut house = House::new();
    let mut say = Say::to(house.ops, "deployed");
    say.0.message.kind = MessageKind::Event;
    say.0.message.metadata = Some(r#"{"event_type":"deploy"}"#.into());
    let event = house.post(ALICE, say).expect("may speak");
    let mut edit = |metadata: Option<&str>| {
        let metadata = metadata.map(Into::into);
        let content = Message { text: "rolled back".into(), metadata, ..Message::default() };
        house.run(house.by(ALICE), messages::Edit { message: event, content })
    };
    for metadata in ["{}", r#"{"event_type":5}"#, r#"{"event_type":""}"#] {
        assert_eq!(code(edit(Some(metadata))), Code::ValidationError, "{metadata}");
    }
    edit(None).expect("it keeps its metadata");
    edit(Some(r#"{"event_type":"rollback"}"#)).expect("it has a type");
}

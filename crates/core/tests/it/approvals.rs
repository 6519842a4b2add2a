//! Section 17: what waits for a person.

use std::fmt::Debug;
use std::sync::Arc;

use chorus_core::commands::messages::{self, Logged};
use chorus_core::commands::{NotDone, approvals};
use chorus_core::model::approval::{Approval, Asked, Standing};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Reason;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::requests::Audience;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, code};

const MINUTE: i64 = 60_000;

/// Alice asks scout in private; scout has it.
fn asked(house: &mut House, text: &str) -> Uid {
    let event = house.post(ALICE, Say::to(house.pair, text)).expect("her own room");
    house.take(SCOUT);
    event
}

fn send(house: &mut House, say: Say) -> Result<Logged, NotDone> {
    house.try_run(house.by(SCOUT), say.0)
}

fn held<T: Debug>(done: Result<T, NotDone>) -> Arc<Approval> {
    match done {
        Err(NotDone::AwaitsApproval(approval)) => approval,
        other => panic!("it waits: {other:?}"),
    }
}

fn decide(
    house: &mut House,
    by: MemberKey,
    approval: Uid,
    approved: bool,
) -> Result<Option<Uid>, Refusal> {
    let reason = (!approved).then(|| "not for everybody".into());
    let decide = approvals::DecideApproval { approval, approved, reason };
    let decided = house.run(house.by(by), decide)?;
    Ok(decided.entry.map(|e| e.event.uid))
}

fn call(house: &mut House, by: MemberKey, arguments: &str) -> Result<(), NotDone> {
    let (tool, arguments) = ("chat.resolve".into(), arguments.into());
    house.try_run(house.by(by), approvals::MayCall { tool, arguments })
}

// covers: ATT-136, ATT-190
#[test]
fn what_was_said_in_private_waits_before_it_goes_to_others() {
    let mut house = House::new();
    let event = asked(&mut house, "what is the new key?");
    let say = Say::to(house.ops, "alice asks about the key").under(1, 1);
    let logged = house.log.events.len();
    let approval = held(send(&mut house, say.clone()));
    assert_eq!(house.log.events.len(), logged, "nothing is said yet");
    // The same send is the same request; other words under its key are not.
    assert_eq!(held(send(&mut house, say.clone())).uid, approval.uid);
    let other = Say::to(house.ops, "something else").under(1, 2);
    assert_eq!(code(send(&mut house, other)), Code::IdempotencyConflict);

    let said = decide(&mut house, ALICE, approval.uid, true).expect("a person").expect("a message");
    let said = house.event(said).clone();
    assert_eq!((said.actor, said.hop), (SCOUT, 1), "it is the agent's, and of its chain");
    assert_eq!(said.cause.map(|c| c.conversation), Some(house.event(event).conversation));
    // Its repetition finds what was said.
    let again = house.post_as(house.by(SCOUT), say).expect("sent before");
    assert_eq!(again, (said.uid, true));
    assert_eq!(decide(&mut house, ALICE, approval.uid, true).expect("the same word again"), None);
    assert_eq!(code(decide(&mut house, ALICE, approval.uid, false)), Code::Conflict);
    // What was kept is kept no longer than it must be.
    let kept = house.ws.directory().approvals.get(&approval.uid).cloned().expect("for a day");
    assert!(matches!(&kept.asked, Asked::Send { post, .. } if post.message.text.is_empty()));
}

// covers: ATT-190
#[test]
fn what_everybody_there_could_read_anyway_does_not_wait() {
    let mut house = House::new();
    asked(&mut house, "can you look at the build?");
    house.post(SCOUT, Say::to(house.pair, "on it")).expect("in its own place");
    let narrow = house.conversation(
        "narrow",
        chorus_core::model::conversation::ConversationKind::Channel,
        vec![ALICE, SCOUT],
    );
    let event = asked(&mut house, "and tell the others?");
    house.post(SCOUT, Say::to(narrow, "as alice asked").answering(event)).expect("no wider");
    // From the larger place into the smaller, and by a person, in any direction.
    let event = house.says(BOB, "@reviewer what do you think?");
    let offer = house.take(REVIEWER);
    assert_eq!(offer.entry.event.uid, event);
    house.reply(&offer, "fine").expect("in its place");
    house.post(ALICE, Say::to(house.ops, "scout told me so").answering(event)).expect("a person");
}

// covers: ATT-190, ATT-191
#[test]
fn an_answer_that_waits_is_not_overdue_and_settles_when_it_is_made() {
    let mut house = House::new();
    let event = asked(&mut house, "can you tell ops that the build is broken?");
    let answer = Say::to(house.ops, "The build is broken.").answering(event).under(1, 1);
    let approval = held(send(&mut house, answer));
    house.pass(60 * MINUTE);
    assert!(house.offers(SCOUT).is_empty(), "it sleeps");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Deferred));
    decide(&mut house, ALICE, approval.uid, true).expect("a person");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
    house.pass(60 * MINUTE);
    assert!(house.offers(SCOUT).is_empty(), "and is not asked again");
}

// covers: ATT-191
#[test]
fn what_is_denied_or_forgotten_comes_back_to_its_agent() {
    for forgotten in [false, true] {
        let mut house = House::new();
        let event = asked(&mut house, "can you tell ops that the build is broken?");
        let answer = Say::to(house.ops, "The build is broken.").answering(event).under(1, 1);
        let approval = held(send(&mut house, answer.clone()));
        if forgotten {
            house.now = house.now.plus(limits::APPROVAL_MS - MINUTE);
            house.restart();
            house.connect(SCOUT);
            house.offers(SCOUT);
            house.pass(MINUTE + 1_000);
            assert_eq!(code(decide(&mut house, ALICE, approval.uid, true)), Code::Conflict);
        } else {
            decide(&mut house, ALICE, approval.uid, false).expect("a person");
        }
        let offer = house.take(SCOUT);
        assert_eq!((offer.entry.event.uid, offer.fence), (event, 2));
        assert_eq!(code(send(&mut house, answer)), Code::Forbidden);
        house.reply(&offer, "I may not say it there.").expect("here it may");
        assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
    }
}

// covers: ATT-192
#[test]
fn a_person_decides_who_can_read_where_it_comes_from() {
    let mut house = House::new();
    asked(&mut house, "what is the new key?");
    let say = Say::to(house.ops, "about the key").under(1, 1);
    let approval = held(send(&mut house, say));
    let before = house.fingerprint();
    assert_eq!(code(decide(&mut house, SCOUT, approval.uid, true)), Code::InsufficientAuthority);
    assert_eq!(code(decide(&mut house, REVIEWER, approval.uid, true)), Code::NotFound);
    let bob = chorus_core::model::caller::By {
        authority: chorus_core::model::caller::Authority::Worker,
        ..house.by(BOB)
    };
    let yes = approvals::DecideApproval { approval: approval.uid, approved: true, reason: None };
    assert_eq!(code(house.run(bob, yes)), Code::NotFound, "not in the room, and no operator");
    assert_eq!(code(decide(&mut house, ALICE, Uid(9), true)), Code::NotFound);
    assert_eq!(house.fingerprint(), before);
    // An operator may, as for everything.
    decide(&mut house, BOB, approval.uid, true).expect("an operator");
}

// covers: ATT-193
#[test]
fn a_sensitive_tool_is_called_as_it_was_approved_and_not_otherwise() {
    let mut house = House::new();
    assert!(matches!(call(&mut house, ALICE, "{}"), Ok(())), "a person may");
    let approval = held(call(&mut house, SCOUT, "{\"a\":1}"));
    assert_eq!(held(call(&mut house, SCOUT, "{\"a\":1}")).uid, approval.uid);
    assert_ne!(held(call(&mut house, SCOUT, "{\"a\":2}")).uid, approval.uid);
    assert_ne!(held(call(&mut house, REVIEWER, "{\"a\":1}")).uid, approval.uid);
    decide(&mut house, ALICE, approval.uid, true).expect("an operator");
    assert!(matches!(call(&mut house, SCOUT, "{\"a\":1}"), Ok(())));
    held(call(&mut house, SCOUT, "{\"a\":2}"));
    house.now = house.now.plus(limits::APPROVAL_MS);
    // What was agreed to yesterday is asked again today.
    let again = held(call(&mut house, SCOUT, "{\"a\":1}"));
    decide(&mut house, ALICE, again.uid, false).expect("an operator");
    assert_eq!(code(call(&mut house, SCOUT, "{\"a\":1}")), Code::Forbidden);
}

// covers: ATT-190
#[test]
fn an_erased_message_takes_what_waits_of_it_along() {
    let mut house = House::new();
    let event = asked(&mut house, "the key is hunter2, tell ops");
    let say = Say::to(house.ops, "it is hunter2").under(1, 1);
    let approval = held(send(&mut house, say));
    let erase = messages::Erase { message: event, reason: Reason::Secret };
    house.run(house.by(ALICE), erase).expect("her own");
    let kept = house.ws.directory().approvals.get(&approval.uid).cloned().expect("kept");
    assert_eq!(kept.standing(house.now), Standing::Denied);
    let Asked::Send { post, .. } = &kept.asked else { panic!("a send") };
    assert_eq!(
        (&*post.message.text, &post.message.parts, &post.message.metadata),
        ("", &None, &None)
    );
    assert_eq!(code(decide(&mut house, ALICE, approval.uid, true)), Code::Conflict);
}

// covers: ATT-190
#[test]
fn requests_that_wait_are_bounded() {
    let mut house = House::new();
    for n in 0..limits::APPROVALS_EACH {
        held(call(&mut house, SCOUT, &n.to_string()));
    }
    assert_eq!(code(call(&mut house, SCOUT, "one more")), Code::RateLimited);
    house.now = house.now.plus(limits::APPROVAL_MS);
    held(call(&mut house, SCOUT, "one more"));
    house.now = house.now.plus(2 * limits::IDEMPOTENCY_MS);
    held(call(&mut house, SCOUT, "and another"));
    assert_eq!(house.ws.directory().approvals.size(), 1, "old ones are forgotten");
}

// covers: ATT-190, ATT-192
#[test]
fn what_was_said_to_some_of_a_room_waits_before_the_rest_of_it_reads_it() {
    let mut house = House::new();
    let mut whisper = Say::to(house.ops, "@scout the key has changed, can you fix it?");
    whisper.0.audience = Audience::Only(vec![SCOUT]);
    let event = house.post(ALICE, whisper).expect("to one of the room");
    house.take(SCOUT);
    let mut louder = Say::to(house.ops, "the key has changed").answering(event).under(1, 1);
    louder.0.audience = Audience::Only(vec![ALICE, REVIEWER]);
    let approval = held(send(&mut house, louder));
    let bob = chorus_core::model::caller::By {
        authority: chorus_core::model::caller::Authority::Worker,
        ..house.by(BOB)
    };
    let yes = approvals::DecideApproval { approval: approval.uid, approved: true, reason: None };
    assert_eq!(code(house.run(bob, yes)), Code::NotFound, "in the room, and not shown it");
    let say = Say::to(house.ops, "fixed").answering(event);
    house.post(SCOUT, say).expect("to whom it was said");
}

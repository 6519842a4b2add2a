//! Section 12: claims, turns and fences.

use chorus_core::commands::deliveries::{self, Claimed};
use chorus_core::model::attention::Rule;
use chorus_core::model::caller::{By, TurnRef};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::reaction::Signal;

use crate::house::{AGENTS, ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER, at, code};

/// Somebody of the role is asked; who was selected, and the event.
fn asked(house: &mut House) -> (Uid, MemberKey) {
    let event = house.says(BOB, "@helpers can one of you look at the flaky test?");
    let told = house.attention(event).told.iter();
    let selected = told.filter(|t| t.decision.rule == Rule::RoleMention).map(|t| t.member).next();
    (event, selected.expect("one is selected"))
}

// covers: ATT-84
#[test]
fn of_several_that_claim_one_gets_it() {
    let mut house = House::new();
    let event = house.says(ALICE, "the build is red since this morning");
    house.claim(WRITER, event).expect("nobody has it");
    for other in [SCOUT, REVIEWER] {
        assert_eq!(code(house.claim(other, event)), Code::ClaimedByOther);
    }
    house.claim(WRITER, event).expect("its holder may claim it again");
}

// covers: ATT-85, ATT-123
#[test]
fn a_claim_lives_ninety_seconds_and_is_renewed_by_life() {
    let mut house = House::new();
    let event = house.says(ALICE, "the build is red since this morning");
    house.claim(WRITER, event).expect("nobody has it");
    let session = house.by(WRITER).session.expect("connected");
    for _ in 0..5 {
        house.pass(60_000);
        house.run(house.by(WRITER), deliveries::Life { session }).expect("its own session");
    }
    assert_eq!(code(house.claim(SCOUT, event)), Code::ClaimedByOther);
    house.pass(limits::CLAIM_TTL_MS + 1_000);
    house.claim(SCOUT, event).expect("it was not renewed");
}

// covers: ATT-87
#[test]
fn a_role_question_that_is_set_aside_goes_to_the_next_of_the_role() {
    let mut house = House::new();
    let (event, selected) = asked(&mut house);
    house.take(selected);
    house.claim(selected, event).expect("selected");
    house.dispose(selected, event, Disposition::Superseded).expect("its own");
    let claim = house.open(event).expect("open").claim.expect("somebody else is asked");
    assert_ne!(claim.holder, selected);
    assert!(house.delivery(event, claim.holder).is_some_and(|d| d.is_open()));

    // What was asked since, of the same member, takes its place: the answer to that is the answer to both.
    let mut house = House::new();
    let (event, selected) = asked(&mut house);
    house.take(selected);
    house.claim(selected, event).expect("selected");
    let handle = match selected {
        SCOUT => "scout",
        REVIEWER => "reviewer",
        _ => "writer",
    };
    let newer = house.says(BOB, &format!("@{handle} and can you look at the log?"));
    house.offers(selected).iter().for_each(|o| drop(house.accept(o)));
    house.dispose(selected, event, Disposition::Superseded).expect("its own");
    assert!(house.open(event).expect("open").claim.is_none(), "nobody else is asked");
    assert!(house.delivery(newer, selected).is_some_and(|d| d.is_obligation() && d.is_open()));
}

// covers: ATT-86, ATT-95
#[test]
fn what_another_has_claimed_is_not_answered() {
    let mut house = House::new();
    let (event, selected) = asked(&mut house);
    let offer = house.take(selected);
    for other in AGENTS.into_iter().filter(|m| *m != selected) {
        let say = Say::to(house.ops, "I'll do it").answering(event);
        assert_eq!(code(house.post(other, say)), Code::ClaimedByOther, "before the answer");
        assert_eq!(code(house.claim(other, event)), Code::ClaimedByOther);
    }
    house.reply(&offer, "it is a race in the set-up").expect("selected");
    for other in AGENTS.into_iter().filter(|m| *m != selected) {
        let say = Say::to(house.ops, "I think so too").answering(event);
        assert_eq!(code(house.post(other, say)), Code::ClaimedByOther, "after the answer");
    }
}

// covers: ATT-87, FAIL-4, FAIL-16
#[test]
fn a_broadcast_whose_first_claimant_declined_goes_to_the_next() {
    let mut house = House::new();
    let (event, first) = asked(&mut house);
    let first_offer = house.take(first);
    house.react(first, event, Signal::Declined).expect("it may decline");
    let others: Vec<_> = AGENTS.into_iter().filter(|m| *m != first).collect();
    let second = *others.iter().find(|m| house.delivery(event, **m).is_some()).expect("the next");
    let offer = house.take(second);
    assert!(offer.fence > first_offer.fence, "the right has moved");
    assert_eq!(code(house.reply(&first_offer, "after all…")), Code::StaleTurn);
    // The second vanishes: its claim runs out, and the third is asked.
    house.pass(limits::CLAIM_TTL_MS + 1_000);
    let third = *others.iter().find(|m| **m != second).expect("a third");
    let last = house.take(third);
    assert_eq!(code(house.reply(&offer, "sorry, I was away")), Code::StaleTurn);
    house.reply(&last, "it is a race in the set-up").expect("it has the right");
    assert_eq!(house.disposition(event, third), Some(Disposition::Responded));
}

// covers: ATT-87
#[test]
fn a_failed_or_released_claim_goes_on_too() {
    for how in ["fail", "release"] {
        let mut house = House::new();
        let (event, first) = asked(&mut house);
        house.take(first);
        if how == "fail" {
            house.dispose(first, event, Disposition::Failed).expect("its own");
        } else {
            house.run(house.by(first), deliveries::Release { event }).expect("its own");
        }
        let asked: usize = AGENTS.into_iter().map(|m| house.offers(m).len()).sum();
        assert_eq!(asked, 1, "{how}: exactly the next is asked");
    }
}

// covers: ATT-86
#[test]
fn who_is_addressed_beside_a_role_answers_beside_it() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout and @helpers, can you look at the flaky test?");
    let mine = house.take(SCOUT);
    let of_role = house.open(event).expect("open").claim.expect("one is selected").holder;
    let knock = house.take(of_role);
    house.reply(&mine, "I am looking").expect("it is addressed itself");
    house.reply(&knock, "a race in the set-up").expect("it answers for the role");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
    assert_eq!(house.disposition(event, of_role), Some(Disposition::Responded));
}

// covers: ATT-86
#[test]
fn a_persons_answer_ends_the_asking_of_a_role() {
    let mut house = House::new();
    let (event, selected) = asked(&mut house);
    house.take(selected);
    let say = Say::to(house.ops, "it is a race, I have seen it before").answering(event);
    house.post(ALICE, say).expect("people may speak");
    house.pass(limits::CLAIM_TTL_MS * 3);
    assert!(AGENTS.into_iter().all(|m| house.offers(m).is_empty()), "nobody is asked any more");
}

// covers: ATT-88
#[test]
fn until_it_is_accepted_another_of_the_role_may_take_it_over() {
    let mut house = House::new();
    let (event, selected) = asked(&mut house);
    let knock = house.offer(selected);
    let other = AGENTS.into_iter().find(|m| *m != selected).expect("another");
    house.claim(other, event).expect("not accepted yet");
    assert!(house.cancelled.iter().any(|c| c.event == event && c.member == selected));
    house.accept(&knock).ok();
    let late = house.reply(&knock, "I'm on it");
    assert!(matches!(code(late), Code::ClaimedByOther | Code::StaleTurn));
    let say = Say::to(house.ops, "found it").answering(event);
    house.post(other, say).expect("it has the claim");
}

// covers: ATT-86, ATT-90
#[test]
fn nobody_claims_or_answers_what_one_of_the_role_has_answered_without_being_asked() {
    let mut house = House::new();
    let (event, selected) = asked(&mut house);
    let knock = house.offer(selected);
    let mut others = AGENTS.into_iter().filter(|m| *m != selected);
    let (quick, late) = (others.next().expect("another"), others.next().expect("a third"));
    let answer = |house: &House| Say::to(house.ops, "found it").answering(event);
    let say = answer(&house);
    house.post(quick, say).expect("not accepted yet");
    assert_eq!(house.disposition(event, quick), Some(Disposition::Responded));
    for member in [selected, late] {
        assert_eq!(code(house.claim(member, event)), Code::ClaimedByOther);
        let say = answer(&house);
        let second = code(house.post(member, say));
        assert!(matches!(second, Code::ClaimedByOther | Code::StaleTurn), "{second:?}");
    }
    assert!(house.reply(&knock, "I'm on it").is_err());
}

// covers: ATT-89
#[test]
fn claiming_gives_the_content_and_a_reply_takes_the_claim() {
    let mut house = House::new();
    let (event, selected) = asked(&mut house);
    let knock = house.offer(selected);
    assert!(!knock.decision.mode.shows_content());
    let by = house.by(selected);
    let Claimed { delivery, entry, .. } =
        house.run(by, deliveries::Claim { event }).expect("claimed");
    assert!(delivery.decision.mode.shows_content());
    assert!(entry.event.change.message().is_some());
    assert!(house.delivery(event, selected).expect("its own").retrieved_at.is_some());
    // Answering without a claim takes it first.
    let (event, selected) = asked(&mut house);
    house.take(selected);
    let say = Say::to(house.ops, "I know that one").answering(event);
    house.post(selected, say).expect("its own");
    assert_eq!(house.disposition(event, selected), Some(Disposition::Responded));
}

// covers: ATT-90
#[test]
fn nobody_claims_its_own_or_what_an_addressee_owes() {
    let mut house = House::new();
    let own = house.says(WRITER, "I have found a bug");
    assert_eq!(code(house.claim(WRITER, own)), Code::ValidationError);
    let event = house.says(ALICE, "@scout can you look at it?");
    assert_eq!(code(house.claim(REVIEWER, event)), Code::ClaimedByOther);
    let offer = house.take(SCOUT);
    house.reply(&offer, "on it").expect("asked");
    assert_eq!(code(house.claim(REVIEWER, event)), Code::ClaimedByOther);
}

// covers: ATT-91, ATT-93
#[test]
fn an_older_fence_is_stale() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at it?");
    let before = house.take(SCOUT);
    house.disconnect(SCOUT);
    house.pass(limits::SESSION_GONE_MS - 2_000);
    house.connect(SCOUT);
    assert!(house.offers(SCOUT).is_empty(), "accepted work waits for its own session");
    house.pass(4_000);
    let after = house.take(SCOUT);
    assert_eq!(after.entry.event.uid, event);
    assert!(after.fence > before.fence);
    assert_eq!(code(house.reply(&before, "from the old run")), Code::StaleTurn);
    house.reply(&after, "from the new run").expect("it has the right");
}

// covers: ATT-93
#[test]
fn accepted_work_stays_with_its_session_when_that_comes_back() {
    let mut house = House::new();
    house.says(ALICE, "@scout can you look at it?");
    let offer = house.take(SCOUT);
    house.disconnect(SCOUT);
    house.pass(20_000);
    house.reconnect(SCOUT, offer.session);
    let again = house.take(SCOUT);
    assert_eq!((again.session, again.fence), (offer.session, offer.fence));
    assert!(again.attempt > offer.attempt);
    house.reply(&offer, "done").expect("the same turn goes on");
}

// covers: ATT-92
#[test]
fn a_turn_speaks_in_its_own_conversation_only() {
    let mut house = House::new();
    house.says(ALICE, "@scout can you look at it?");
    let offer = house.take(SCOUT);
    let elsewhere = Say::to(house.pair, "psst");
    assert_eq!(code(house.post_as(house.in_turn(&offer), elsewhere)), Code::Forbidden);
}

// covers: ATT-94
#[test]
fn a_turn_says_at_most_five_messages() {
    let mut house = House::new();
    house.says(ALICE, "@scout can you look at it?");
    let offer = house.take(SCOUT);
    for n in 0..limits::MESSAGES_PER_TURN {
        house.reply(&offer, &format!("part {n}")).expect("within the budget");
    }
    assert_eq!(code(house.reply(&offer, "and one more")), Code::ReplyBudgetSpent);
}

// covers: ATT-91
#[test]
fn a_turns_token_of_an_ended_turn_is_stale_for_dispositions_too() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look at it?");
    let before = house.take(SCOUT);
    house.disconnect(SCOUT);
    house.pass(limits::SESSION_GONE_MS + 2_000);
    house.connect(SCOUT);
    let place = at(house.event(event));
    let turn = TurnRef {
        conversation: place.conversation,
        seq: place.seq,
        fence: before.fence,
        attempt: 0,
    };
    let by = By { turn: Some(turn), ..house.by(SCOUT) };
    let dispose = deliveries::Dispose { event, disposition: Disposition::Ignored, note: None };
    assert_eq!(code(house.run(by, dispose)), Code::StaleTurn);
}

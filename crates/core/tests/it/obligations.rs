//! Section 15, "No obligation is lost": claims that expire, acknowledgements that come late, what is put off, declined or
//! set aside, and what is said of it.

use std::sync::Arc;

use chorus_core::commands::{deliveries, messages};
use chorus_core::model::attention::{Mode, Policy, Rule};
use chorus_core::model::caller::{By, TurnRef};
use chorus_core::model::delivery::{Delivery, State};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::event::Reason;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::offer::Offer;
use chorus_core::model::reaction::Signal;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, at, code};

const DEADLINE: i64 = limits::DEADLINE_MS as i64;

fn holder(house: &House, event: Uid) -> Vec<MemberKey> {
    let open = house.open(event).expect("listed");
    open.deliveries.iter().filter(|d| d.is_obligation() && d.is_open()).map(|d| d.member).collect()
}

fn mine(house: &House, event: Uid) -> Delivery {
    house.delivery(event, SCOUT).expect("its own").clone()
}

fn note(house: &House, event: Uid) -> Option<String> {
    mine(house, event).note.map(|note| note.to_string())
}

fn say(house: &mut House, event: Uid, how: Disposition, note: &str) -> Disposition {
    let command = deliveries::Dispose { event, disposition: how, note: Some(note.into()) };
    house.run(house.by(SCOUT), command).expect("its own").disposition
}

fn signal(house: &mut House, event: Uid, signal: Signal, detail: &str) {
    let detail: Option<Arc<str>> = Some(detail.into());
    let react = messages::React { message: event, signal, detail, on: true };
    house.run(house.by(SCOUT), react).expect("its own");
}

// covers: ATT-320
#[test]
fn a_claim_that_expires_leaves_the_obligation_where_it_is() {
    for signal in [Signal::Working, Signal::Claimed] {
        let mut house = House::new();
        let event = house.says(BOB, "@scout can you look at the build?");
        let offer = house.take(SCOUT);
        house.react(SCOUT, event, signal).expect("its own");
        assert_eq!(mine(&house, event).fence, offer.fence, "the right to answer has not moved");
        house.pass(limits::CLAIM_TTL_MS + 60_000);
        let open = house.open(event).expect("open");
        assert!(open.claim.is_none(), "the claim is free");
        assert_eq!(holder(&house, event), [SCOUT]);
        assert_eq!(mine(&house, event).disposition(), None);
        let answer = house.reply(&offer, "it is fixed");
        assert!(answer.is_ok(), "late, and in time: {answer:?}");
        assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
    }
}

// covers: ATT-320
#[test]
fn who_claims_and_goes_quiet_is_reminded_and_then_another_is_asked() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    house.react(SCOUT, event, Signal::Working).expect("its own");
    house.pass(DEADLINE - 2_000);
    assert!(!house.offers(SCOUT).is_empty(), "reminded");
    assert_eq!(holder(&house, event), [SCOUT]);
    house.pass(3_000);
    assert_eq!(holder(&house, event), [ALICE]);
}

// covers: ATT-320
#[test]
fn a_claim_on_ones_own_event_is_given_back_without_the_event() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    house.claim(SCOUT, event).expect("its own");
    house.run(house.by(SCOUT), deliveries::Release { event }).expect("its own");
    assert!(house.open(event).expect("open").claim.is_none());
    assert_eq!(holder(&house, event), [SCOUT]);
    house.reply(&offer, "it is fixed").expect("its own");
}

// covers: ATT-320
#[test]
fn who_has_answered_owes_nothing_again_by_a_claim() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    house.reply(&offer, "it is fixed").expect("its own");
    house.react(SCOUT, event, Signal::Working).expect("free");
    house.pass(DEADLINE * 2);
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
    assert!(house.delivery(event, ALICE).is_none(), "nothing has moved on");
}

// covers: ATT-328
#[test]
fn a_signal_that_is_refused_sets_nothing() {
    let mut house = House::new();
    let event = house.says(ALICE, "the build is red since this morning");
    house.claim(REVIEWER, event).expect("nobody has it");
    let before = house.fingerprint();
    assert_eq!(code(house.react(SCOUT, event, Signal::Working)), Code::ClaimedByOther);
    assert_eq!(house.fingerprint(), before);
    let own = house.says(SCOUT, "I look at the log");
    let before = house.fingerprint();
    assert_eq!(code(house.react(SCOUT, own, Signal::Working)), Code::ValidationError);
    assert_eq!(house.fingerprint(), before);
}

// covers: ATT-323, ATT-144
#[test]
fn what_is_put_off_without_a_time_comes_back() {
    let by_signal = |signal| {
        move |house: &mut House, event| {
            house.react(SCOUT, event, signal).expect("its own").expect("deferred")
        }
    };
    let by_word = |house: &mut House, event| say(house, event, Disposition::Deferred, "later");
    let by_tool = |house: &mut House, event| {
        let reason = Some("later".into());
        let defer = deliveries::Defer { event, until: None, reason };
        house.run(house.by(SCOUT), defer).expect("its own").disposition
    };
    type How<'a> = &'a dyn Fn(&mut House, Uid) -> Disposition;
    let (queued, blocked) = (by_signal(Signal::Queued), by_signal(Signal::Blocked));
    let ways: [How<'_>; 4] = [&queued, &blocked, &by_word, &by_tool];
    for (n, put_off) in ways.into_iter().enumerate() {
        let mut house = House::new();
        let event = house.says(BOB, "@scout can you look at the build?");
        let first = house.take(SCOUT);
        assert_eq!(put_off(&mut house, event), Disposition::Deferred);
        assert_eq!(put_off(&mut house, event), Disposition::Deferred, "said twice it is said once");
        // That it is said to be in hand changes nothing.
        assert_eq!(house.dispose(SCOUT, event, Disposition::Claimed), Ok(Disposition::Deferred));
        house.pass(limits::DEFERRAL_MS - 1_000);
        assert!(house.offers(SCOUT).is_empty(), "{n}: it sleeps");
        house.restart();
        house.connect(SCOUT);
        assert!(house.offers(SCOUT).is_empty(), "{n}: over a restart too");
        house.pass(1_000);
        let again = house.take(SCOUT);
        assert_eq!((again.attempt, again.fence), (first.attempt + 1, first.fence + 1), "{n}");
        assert_eq!(again.decision.policy, Policy::MustRespond);
        for _ in 0..2 {
            put_off(&mut house, event);
            house.pass(limits::DEFERRAL_MS);
            house.take(SCOUT);
        }
        // Not for ever; then its deadline counts, and another is asked.
        let before = house.fingerprint();
        let fourth = deliveries::Dispose { event, disposition: Disposition::Deferred, note: None };
        assert_eq!(code(house.run(house.by(SCOUT), fourth)), Code::Conflict, "{n}");
        assert_eq!(code(house.react(SCOUT, event, Signal::Queued)), Code::Conflict, "{n}");
        assert_eq!(house.fingerprint(), before);
        house.pass(DEADLINE + 1_000);
        assert_eq!(holder(&house, event), [ALICE], "{n}");
    }
}

// covers: ATT-323
#[test]
fn what_was_put_off_can_be_done_before_its_time() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    house.react(SCOUT, event, Signal::Blocked).expect("its own");
    assert_eq!(
        say(&mut house, event, Disposition::Responded, "the key came"),
        Disposition::Responded
    );
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
    let other = house.says(BOB, "@scout can you look at the tests?");
    house.take(SCOUT);
    house.react(SCOUT, other, Signal::Queued).expect("its own");
    house.react(SCOUT, other, Signal::Declined).expect("its own");
    assert_eq!(holder(&house, other), [ALICE], "declined after all, it moves on");
    drop(offer);
}

// covers: ATT-323
#[test]
fn what_was_put_off_by_a_session_that_is_gone_moves_on_in_the_end() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    house.react(SCOUT, event, Signal::Queued).expect("its own");
    house.disconnect(SCOUT);
    house.pass(limits::DEFERRAL_MS + DEADLINE - 2_000);
    assert_eq!(holder(&house, event), [SCOUT]);
    house.pass(3_000);
    assert_eq!(holder(&house, event), [ALICE]);
}

// covers: ATT-324
#[test]
fn an_obligation_that_is_declined_or_set_aside_moves_on() {
    for how in [Disposition::Ignored, Disposition::Superseded] {
        let mut house = House::new();
        let event = house.says(BOB, "@scout can you look at the build?");
        let offer = house.take(SCOUT);
        assert_eq!(house.dispose(SCOUT, event, how), Ok(how));
        assert_eq!(house.disposition(event, SCOUT), Some(how));
        assert_eq!(holder(&house, event), [ALICE], "{how:?}");
        assert!(house.delivery(event, ALICE).is_some_and(|d| d.fence > offer.fence));
        assert_eq!(house.dispose(SCOUT, event, how), Ok(how), "said twice it is said once");
        assert_eq!(house.open(event).expect("open").deliveries.len(), 2);
    }
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    house.react(SCOUT, event, Signal::Declined).expect("its own");
    assert_eq!(holder(&house, event), [ALICE]);
    // Nobody is left but who asked: it is listed.
    let (two, guest) =
        (house.pair, house.add_member("guest", chorus_core::model::member::MemberKind::Human));
    assert_ne!(guest, ALICE);
    let event = house.post(ALICE, Say::to(two, "can you look at the build?")).expect("may speak");
    house.take(SCOUT);
    house.react(SCOUT, event, Signal::Declined).expect("its own");
    assert!(matches!(mine(&house, event).state, State::Dead { .. }));
}

// covers: ATT-324
#[test]
fn what_nobody_owed_ends_as_it_was_said() {
    let mut house = House::new();
    let event = house.says(REVIEWER, "@scout the build is green again");
    house.offers(SCOUT).iter().for_each(|o| drop(house.accept(o)));
    house.dispose(SCOUT, event, Disposition::Ignored).expect("its own");
    assert!(house.open(event).expect("a receipt").deliveries.len() == 1);
}

// covers: ATT-324
#[test]
fn what_a_merged_turn_answers_does_not_move_on() {
    // The newer is answered first.
    let mut house = House::new();
    let one = house.says(BOB, "@scout can you look at the build?");
    let two = house.says(BOB, "@scout and at the tests?");
    let offers = house.offers(SCOUT);
    offers.iter().for_each(|o| drop(house.accept(o)));
    house.reply(&offers[1], "both are red").expect("its own");
    assert_eq!(say(&mut house, one, Disposition::Superseded, "merged"), Disposition::Superseded);
    assert!(house.delivery(one, ALICE).is_none(), "answered with the other");
    // The newer is still to be answered.
    let one = house.says(BOB, "@scout what about the log?");
    let three = house.says(BOB, "@scout is it long?");
    house.offers(SCOUT).iter().for_each(|o| drop(house.accept(o)));
    say(&mut house, one, Disposition::Superseded, "merged");
    assert!(house.delivery(one, ALICE).is_none());
    assert_eq!(holder(&house, three), [SCOUT], "the newer one is owed");
    let _ = two;
}

// covers: ATT-324
#[test]
fn a_newer_event_that_takes_the_place_of_an_obligation_is_owed() {
    let mut house = House::new();
    let pair = house.pair;
    let one = house.post(ALICE, Say::to(pair, "can you look at the build?")).expect("may speak");
    let two = house.post(ALICE, Say::to(pair, "it failed at noon")).expect("may speak");
    house.offers(SCOUT).iter().for_each(|o| drop(house.accept(o)));
    if let Some(delivery) = house.delivery(two, SCOUT).filter(|d| !d.is_obligation()) {
        assert!(delivery.is_open());
        say(&mut house, one, Disposition::Superseded, "merged");
        assert_eq!(house.disposition(one, SCOUT), Some(Disposition::Superseded));
        assert_eq!(holder(&house, two), [SCOUT]);
    }
}

// covers: ATT-324
#[test]
fn what_was_asked_before_does_not_stand_for_what_was_asked_since() {
    let mut house = House::new();
    let one = house.says(BOB, "@scout can you look at the build?");
    let two = house.says(BOB, "@scout and what is the budget of Mars?");
    house.offers(SCOUT).iter().for_each(|o| drop(house.accept(o)));
    house.dispose(SCOUT, two, Disposition::Superseded).expect("its own");
    assert_eq!(holder(&house, two), [ALICE]);
    house.dispose(SCOUT, one, Disposition::Ignored).expect("its own");
    assert_eq!(holder(&house, one), [ALICE]);
}

fn asked_by_an_agent(house: &mut House) -> (Uid, Offer) {
    let event = house.says(REVIEWER, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    assert!(mine(house, event).is_obligation());
    (event, offer)
}

// covers: ATT-325
#[test]
fn an_agent_that_asked_is_told_that_another_declines_or_is_blocked() {
    for how in [Signal::Declined, Signal::Blocked] {
        let mut house = House::new();
        let (event, _) = asked_by_an_agent(&mut house);
        signal(&mut house, event, how, "no access");
        let told = house.offer(REVIEWER);
        assert_eq!(
            (told.decision.rule, told.decision.policy),
            (Rule::Reaction, Policy::MayRespond)
        );
        assert_eq!(told.decision.mode, Mode::Buffered, "it costs a turn: it may ask another");
        assert_eq!(told.entry.about, Some(event));
        let (asked, word) = (house.event(event).hop, told.entry.event.hop);
        assert_eq!((word, told.entry.event.cause), (asked + 1, Some(at(house.event(event)))));
        signal(&mut house, event, how, "no access");
        assert!(house.offers(REVIEWER).is_empty(), "told once");
    }
    let mut house = House::new();
    let (event, _) = asked_by_an_agent(&mut house);
    say(&mut house, event, Disposition::Ignored, "not my\nfield");
    let told = house.offer(REVIEWER);
    assert_eq!(told.entry.about, Some(event), "by a disposition, as by the reaction");
    for free in [Signal::Seen, Signal::Working, Signal::Queued, Signal::Done] {
        let mut house = House::new();
        let (event, _) = asked_by_an_agent(&mut house);
        house.react(SCOUT, event, free).expect("its own");
        assert!(house.offers(REVIEWER).is_empty(), "{free:?}");
    }
}

// covers: ATT-325
#[test]
fn declining_what_one_was_not_asked_tells_nobody() {
    let mut house = House::new();
    let event = house.says(REVIEWER, "I look at the build");
    house.react(SCOUT, event, Signal::Declined).expect("free");
    assert!(house.offers(REVIEWER).is_empty());
}

// covers: ATT-326
#[test]
fn what_is_said_of_a_delivery_is_kept_and_goes_with_the_message() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    signal(&mut house, event, Signal::Working, "after lunch");
    assert_eq!(note(&house, event).as_deref(), Some("after lunch"));
    let reason = Some("no key yet".into());
    let defer = deliveries::Defer { event, until: None, reason };
    house.run(house.by(SCOUT), defer).expect("its own");
    house.restart();
    assert_eq!(note(&house, event).as_deref(), Some("no key yet"), "over a restart");
    house.connect(SCOUT);
    house.pass(limits::DEFERRAL_MS);
    house.take(SCOUT);
    say(&mut house, event, Disposition::Responded, "was green all along");
    assert_eq!(note(&house, event).as_deref(), Some("was green all along"));
    let erase = messages::Erase { message: event, reason: Reason::Legal };
    house.run(house.by(ALICE), erase).expect("an operator");
    assert_eq!(note(&house, event), None);
}

// covers: ATT-327, WHK-27
#[test]
fn a_run_by_callback_that_owes_an_answer_and_says_nothing_has_failed() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    let here = at(house.event(event));
    let turn =
        TurnRef { conversation: here.conversation, seq: here.seq, fence: offer.fence, attempt: 1 };
    let idle = deliveries::Dispose { event, disposition: Disposition::Acknowledged, note: None };
    house.run(By { turn: Some(turn), ..house.by(SCOUT) }, idle).expect("its own");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Failed));
    assert_eq!(holder(&house, event), [ALICE]);
    assert!(note(&house, event).is_some_and(|note| note.contains("without an answer")));
}

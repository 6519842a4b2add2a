//! Sections 2, 9 and 14: order, offers, dispositions and receipts.

use chorus_core::commands::{deliveries, directory};
use chorus_core::model::caller::By;
use chorus_core::model::delivery::State;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::ids::SessionKey;
use chorus_core::queries;

use crate::boxed::boxed;
use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER, at, code};

// covers: ATT-6, ATT-22
#[test]
fn what_is_unsettled_is_offered_in_order() {
    let mut house = House::asleep();
    let first = house.says(ALICE, "@scout what is red?");
    let second = house.says(BOB, "@scout what is green?");
    let third = house.says(ALICE, "@scout what is blue?");
    house.connect(SCOUT);
    let offered: Vec<_> = house.offers(SCOUT).iter().map(|o| o.entry.event.uid).collect();
    assert_eq!(offered, [first, second, third]);
    house.react(SCOUT, second, chorus_core::model::reaction::Signal::Done).expect("its own");
    house.disconnect(SCOUT);
    house.connect(SCOUT);
    let offered: Vec<_> = house.offers(SCOUT).iter().map(|o| o.entry.event.uid).collect();
    assert_eq!(offered, [first, third], "what is settled is not offered again");
}

// covers: ATT-65
#[test]
fn a_delivery_ends_once() {
    for first in Disposition::ALL.into_iter().filter(|d| d.settles()) {
        let mut house = House::new();
        let event = house.says(BOB, "@scout can you look?");
        house.take(SCOUT);
        assert_eq!(house.dispose(SCOUT, event, first), Ok(first));
        for second in Disposition::ALL {
            assert_eq!(house.dispose(SCOUT, event, second), Ok(first), "the first word stands");
        }
        assert_eq!(house.disposition(event, SCOUT), Some(first));
    }
}

// covers: ATT-66
#[test]
fn the_first_reply_settles_its_delivery() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look?");
    let offer = house.take(SCOUT);
    assert_eq!(house.disposition(event, SCOUT), None);
    house.reply(&offer, "it is green").expect("asked");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
    house.pass(3_600_000);
    assert!(house.offers(SCOUT).is_empty(), "nothing is offered again");
}

// covers: ATT-69, ATT-111, ATT-129
#[test]
fn what_was_never_offered_is_not_acknowledged() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look?");
    let offer = house.offer(SCOUT);
    let place = at(house.event(event));
    let before = house.fingerprint();
    for disposition in Disposition::ALL {
        assert_eq!(code(house.dispose(REVIEWER, event, disposition)), Code::Conflict);
    }
    for command in [
        boxed(deliveries::Accept { event: place, attempt: 1, epoch: None }),
        boxed(deliveries::Reject { event: place, attempt: 1 }),
    ] {
        let reviewer = house.by(REVIEWER);
        assert_eq!(code(command.run(&mut house, reviewer)), Code::Conflict);
        let sessionless = By { session: None, ..house.by(SCOUT) };
        assert_eq!(code(command.run(&mut house, sessionless)), Code::Conflict);
    }
    // Another session of the same member, and an attempt that is not under way.
    let other = By { session: Some(SessionKey(99)), ..house.by(SCOUT) };
    assert_eq!(
        code(house.run(other, deliveries::Accept { event: place, attempt: 1, epoch: None })),
        Code::Conflict
    );
    let wrong = deliveries::Accept { event: place, attempt: 7, epoch: None };
    house.run(house.by(SCOUT), wrong).expect("an attempt of the past is harmless");
    assert_eq!(house.fingerprint(), before);
    house.accept(&offer).expect("its own");
}

// covers: FAIL-8, ATT-112
#[test]
fn delivered_and_received_are_different_receipts() {
    let mut house = House::asleep();
    let event = house.says(BOB, "@helpers can one of you look?");
    let selected = house.open(event).expect("open").deliveries[0].member;
    let stages = |house: &House| {
        let delivery = house.delivery(event, selected).expect("its own");
        (
            delivery.offered_at.is_some(),
            delivery.accepted_at.is_some(),
            delivery.retrieved_at.is_some(),
            delivery.disposition().is_some(),
        )
    };
    assert_eq!(stages(&house), (false, false, false, false), "stored");
    house.connect(selected);
    assert_eq!(stages(&house), (true, false, false, false), "offered");
    let offers = house.offers(selected);
    house.accept(&offers[0]).expect("an offer");
    assert_eq!(stages(&house), (true, true, false, false), "accepted");
    house.claim(selected, event).expect("its own");
    assert_eq!(stages(&house), (true, true, true, false), "retrieved");
    let say = Say::to(house.ops, "a race in the set-up").answering(event);
    house.post(selected, say).expect("its own");
    assert_eq!(stages(&house), (true, true, true, true), "disposed");
    let delivery = house.delivery(event, selected).expect("its own");
    assert!(delivery.offered_at <= delivery.accepted_at);
}

// covers: FAIL-10
#[test]
fn an_empty_inbox_and_an_unknown_one_are_different_answers() {
    let mut house = House::new();
    let session = house.by(WRITER).session.expect("connected");
    let owed = queries::Owed { session, limit: 10 };
    let empty = house.run(house.by(WRITER), owed.clone()).expect("its own");
    assert!(empty.offers.is_empty() && !empty.more);
    assert_eq!(code(house.run(house.by(SCOUT), owed)), Code::NotFound);
    let unknown = queries::Owed { session: SessionKey(99), limit: 10 };
    assert_eq!(code(house.run(house.by(WRITER), unknown)), Code::NotFound);
}

// covers: ATT-80, ATT-81
#[test]
fn done_resolves_and_deferred_takes_it_on() {
    let mut house = House::new();
    let one = house.says(ALICE, "@scout can you look?");
    let two = house.says(BOB, "@scout can you look too?");
    let offers = house.offers(SCOUT);
    offers.iter().for_each(|o| drop(house.accept(o)));
    house.dispose(SCOUT, one, Disposition::Responded).expect("its own");
    house.dispose(SCOUT, two, Disposition::Deferred).expect("its own");
    house.pass(chorus_core::model::limits::DEFERRAL_MS - 1_000);
    assert!(house.offers(SCOUT).is_empty());
    let later = offers.iter().find(|o| o.entry.event.uid == two).expect("it was offered");
    house.reply(later, "now I have").expect("what was deferred may be answered");
    assert_eq!(house.disposition(two, SCOUT), Some(Disposition::Responded));
}

// covers: ATT-106
#[test]
fn a_failed_delivery_is_settled_and_its_obligation_moves_on() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look?");
    house.take(SCOUT);
    house.dispose(SCOUT, event, Disposition::Failed).expect("its own");
    assert!(house.delivery(event, ALICE).is_some_and(|d| d.is_obligation()), "to the lead");
    let state = house.delivery(event, SCOUT).expect("its own").state;
    assert!(matches!(state, State::Settled { .. }), "{state:?}");
}

// covers: ATT-79
#[test]
fn pulling_a_knocks_content_is_a_receipt_of_its_own() {
    let mut house = House::new();
    let event = house.says(BOB, "@helpers can one of you look?");
    let selected = house.open(event).expect("open").deliveries[0].member;
    house.take(selected);
    let other = [SCOUT, REVIEWER].into_iter().find(|m| *m != selected).expect("another");
    house.run(house.by(other), deliveries::Retrieve { event }).expect("reading is free");
    assert_eq!(house.delivery(event, selected).expect("its own").retrieved_at, None);
    house.run(house.by(selected), deliveries::Retrieve { event }).expect("reading is free");
    let pulled = house.now;
    assert_eq!(house.delivery(event, selected).expect("its own").retrieved_at, Some(pulled));
    house.pass(5_000);
    house.run(house.by(selected), deliveries::Retrieve { event }).expect("reading is free");
    let delivery = house.delivery(event, selected).expect("its own");
    assert_eq!((delivery.retrieved_at, delivery.disposition()), (Some(pulled), None));
}

// covers: ATT-21
#[test]
fn a_session_goes_on_for_its_own_member_only() {
    let mut house = House::asleep();
    let open = |uid| directory::OpenSession {
        uid,
        runtime: "test".into(),
        resumable: true,
        ..Default::default()
    };
    house.run(house.by(SCOUT), open(None)).expect("a new session");
    let session = house.by(SCOUT).session.expect("connected");
    let uid = Some(house.ws.directory().sessions[&session].uid);
    assert_eq!(code(house.run(house.by(REVIEWER), open(uid))), Code::NotFound);
    house.disconnect(SCOUT);
    let again = house.run(house.by(SCOUT), open(uid)).expect("its own");
    assert_eq!(again.key, session);
}

// covers: ATT-133
#[test]
fn what_is_too_large_is_refused_under_its_own_code() {
    let mut house = House::new();
    let before = house.fingerprint();
    let huge = "x".repeat(chorus_core::model::limits::TEXT_BYTES + 1);
    assert_eq!(code(house.post(ALICE, Say::to(house.ops, &huge))), Code::PayloadTooLarge);
    let mut say = Say::to(house.ops, "small");
    let metadata = "x".repeat(chorus_core::model::limits::METADATA_BYTES + 1);
    say.0.message.metadata = Some(metadata.into());
    assert_eq!(code(house.post(ALICE, say)), Code::PayloadTooLarge);
    assert_eq!(code(house.post(ALICE, Say::to(house.ops, " \n "))), Code::ValidationError);
    for id in ["x".repeat(1 << 20), "two words".into(), String::new()] {
        let kind = chorus_core::model::member::MemberKind::Agent;
        let fields = chorus_core::model::member::MemberFields::default();
        let add = directory::AddMember { id, kind, fields };
        assert_eq!(code(house.run(By::host(), add)), Code::ValidationError);
    }
    assert_eq!(house.fingerprint(), before);
}

// covers: WHK-36
#[test]
fn what_an_endpoint_has_taken_is_known_after_a_crash() {
    let mut house = House::new();
    let asked = house.says(ALICE, "@scout is the build green?");
    let offer = house.offer(SCOUT);
    let event = at(&offer.entry.event);
    let by = By { session: Some(offer.session), ..house.by(SCOUT) };
    let epoch = Some(house.now);
    house.run(by, deliveries::Accept { event, attempt: offer.attempt, epoch }).expect("offered");
    // Nothing else is written before that.
    house.restart();
    let state = house.delivery(asked, SCOUT).map(|delivery| delivery.state);
    assert!(matches!(state, Some(State::Accepted { .. })), "{state:?}");
}

//! Sections 14 and 15: acknowledgements that come late, or more than once.

use chorus_core::commands::deliveries;
use chorus_core::model::delivery::{Delivery, State};
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::reaction::Signal;

use crate::house::{ALICE, BOB, House, SCOUT};

const DEADLINE: i64 = limits::DEADLINE_MS as i64;

fn holder(house: &House, event: Uid) -> Vec<MemberKey> {
    let open = house.open(event).expect("listed");
    open.deliveries.iter().filter(|d| d.is_obligation() && d.is_open()).map(|d| d.member).collect()
}

fn mine(house: &House, event: Uid) -> Delivery {
    house.delivery(event, SCOUT).expect("its own").clone()
}

// covers: ATT-321
#[test]
fn an_acknowledgement_of_any_attempt_of_the_fence_counts() {
    for late in [12_000, 25_000, 57_000] {
        let mut house = House::new();
        let event = house.says(BOB, "@scout can you look at the build?");
        let first = house.offer(SCOUT);
        house.pass(late);
        house.accept(&first).expect("it was offered to it");
        assert!(matches!(mine(&house, event).state, State::Accepted { .. }), "{late}");
        let attempts = house.offers(SCOUT).len();
        house.pass(20_000);
        assert!(
            house.offers(SCOUT).len() <= 1,
            "it is not offered on, but for a reminder: {attempts}"
        );
        house.reply(&first, "it is fixed").expect("its own");
    }
}

// covers: ATT-321
#[test]
fn an_acknowledgement_of_an_older_fence_is_none() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let first = house.take(SCOUT);
    house.react(SCOUT, event, Signal::Queued).expect("its own");
    house.pass(limits::DEFERRAL_MS);
    let second = house.offer(SCOUT);
    assert!(second.fence > first.fence);
    house.accept(&first).ok();
    assert!(matches!(mine(&house, event).state, State::Offered { .. }));
    house.accept(&second).expect("its own");
    assert!(matches!(mine(&house, event).state, State::Accepted { .. }));
}

// covers: ATT-322
#[test]
fn a_late_acknowledgement_moves_no_deadline() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let first = house.offer(SCOUT);
    house.pass(12_000);
    house.accept(&first).expect("it was offered to it");
    house.pass(DEADLINE - 14_000);
    assert_eq!(holder(&house, event), [SCOUT]);
    house.pass(3_000);
    assert_eq!(holder(&house, event), [ALICE], "300 s after its event");
}

// covers: ATT-322
#[test]
fn a_repeated_acknowledgement_moves_no_deadline() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    let mut again = 0;
    for _ in 0..(DEADLINE / 1_000 - 1) {
        house.pass(1_000);
        for offer in house.offers(SCOUT) {
            house.accept(&offer).expect("its own");
            again += 1;
        }
    }
    assert_eq!((again, holder(&house, event)), (2, vec![SCOUT]), "reminded twice");
    house.pass(2_000);
    assert_eq!(holder(&house, event), [ALICE]);
}

// covers: ATT-322
#[test]
fn coming_back_again_and_again_moves_no_deadline() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let session = house.take(SCOUT).session;
    for _ in 0..10 {
        house.pass(29_000);
        for offer in house.offers(SCOUT) {
            house.accept(&offer).expect("its own");
        }
        house.disconnect(SCOUT);
        house.reconnect(SCOUT, session);
        let again = house.take(SCOUT);
        assert_eq!(again.fence, 1, "the same right");
    }
    assert_eq!(holder(&house, event), [SCOUT]);
    house.pass(12_000);
    assert_eq!(holder(&house, event), [ALICE]);
}

// covers: ATT-322, ATT-117
#[test]
fn life_between_a_reminder_and_its_acknowledgement_counts() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    house.pass(61_000);
    let reminder = house.offer(SCOUT);
    house
        .run(house.by(SCOUT), deliveries::Life { session: offer.session })
        .expect("its own session");
    house.accept(&reminder).expect("its own");
    house.pass(DEADLINE - 2_000);
    assert_eq!(holder(&house, event), [SCOUT], "its deadline counts from its last sign of life");
    house.pass(4_000);
    assert_eq!(holder(&house, event), [ALICE]);
}

//! Section 14: idempotency, restarts, and offers that are made again.

use chorus_core::model::error::Code;
use chorus_core::model::event::Idempotency;
use chorus_core::model::limits;

use crate::house::{ALICE, House, REVIEWER, SCOUT, Say, code};

// covers: ATT-108, FAIL-14
#[test]
fn one_key_is_one_message_and_another_payload_is_refused() {
    let mut house = House::new();
    let first = Say::to(house.ops, "hello").under(1, 1);
    let (uid, duplicate) = house.post_as(house.by(ALICE), first.clone()).expect("people may speak");
    assert!(!duplicate);
    let before = house.fingerprint();
    assert_eq!(house.post_as(house.by(ALICE), first), Ok((uid, true)));
    let changed = Say::to(house.ops, "hello, @scout!").under(1, 2);
    assert_eq!(code(house.post_as(house.by(ALICE), changed.clone())), Code::IdempotencyConflict);
    assert_eq!(house.fingerprint(), before);
    // The host remembers over a restart.
    house.restart();
    assert_eq!(code(house.post_as(house.by(ALICE), changed)), Code::IdempotencyConflict);
    let again = Say::to(house.ops, "hello").under(1, 1);
    assert_eq!(house.post_as(house.by(ALICE), again), Ok((uid, true)));
}

// covers: ATT-109, THR-17
#[test]
fn keys_are_forgotten_after_a_day_and_are_of_one_conversation() {
    let mut house = House::new();
    let say = Say::to(house.ops, "hello").under(1, 1);
    let (uid, _) = house.post_as(house.by(ALICE), say.clone()).expect("people may speak");
    let elsewhere = Say::to(house.pair, "hello").under(1, 1);
    let (other, duplicate) = house.post_as(house.by(ALICE), elsewhere).expect("people may speak");
    assert!(other != uid && !duplicate);
    house.now = house.now.plus(limits::IDEMPOTENCY_MS + 1_000);
    // The window moves with what is sent, and the newest are known however old.
    let later = |n: usize| {
        let (mut say, key) = (Say::to(house.ops, "good morning"), (n as u128).to_be_bytes());
        say.0.idempotency = Some(Idempotency { key, payload: key });
        say
    };
    let later: Vec<_> = (0..limits::IDEMPOTENCY_NEWEST).map(later).collect();
    for (n, later) in later.into_iter().enumerate() {
        if n + 1 == limits::IDEMPOTENCY_NEWEST {
            let again = house.post_as(house.by(ALICE), say.clone());
            assert_eq!(again, Ok((uid, true)), "one of the newest");
        }
        house.post_as(house.by(ALICE), later).expect("people may speak");
    }
    let (new, duplicate) = house.post_as(house.by(ALICE), say).expect("people may speak");
    assert!(new != uid && !duplicate);
}

// covers: ATT-109, OPS-447
#[test]
fn a_clock_that_was_set_ahead_and_back_makes_no_retry_a_second_message() {
    let mut house = House::new();
    let say = Say::to(house.ops, "hello").under(1, 1);
    let (uid, _) = house.post_as(house.by(ALICE), say.clone()).expect("people may speak");
    for restarts in [false, true] {
        let now = house.now;
        house.now = now.plus(3 * limits::IDEMPOTENCY_MS);
        if restarts {
            house.restart();
        }
        let ahead = Say::to(house.ops, "in the future").under(2 + u8::from(restarts), 2);
        house.post_as(house.by(ALICE), ahead).expect("people may speak");
        assert_eq!(house.post_as(house.by(ALICE), say.clone()), Ok((uid, true)));
        house.now = now;
        assert_eq!(house.post_as(house.by(ALICE), say.clone()), Ok((uid, true)));
    }
}

// covers: ATT-102, ATT-101
#[test]
fn what_is_unsettled_is_offered_again_after_a_restart() {
    let mut house = House::new();
    let asked = house.says(ALICE, "@scout can you look?");
    let other = house.says(ALICE, "@reviewer can you look?");
    let first = house.take(SCOUT);
    house.offer(REVIEWER);
    for _ in 0..3 {
        house.restart();
        house.reconnect(SCOUT, first.session);
        house.connect(REVIEWER);
        for (agent, event) in [(SCOUT, asked), (REVIEWER, other)] {
            let offers = house.offers(agent);
            assert_eq!(offers.len(), 1, "{agent}: {offers:?}");
            assert_eq!(offers[0].entry.event.uid, event);
            assert!(offers[0].attempt > 1, "a higher attempt under the same id");
        }
    }
}

// covers: ATT-102, WHK-32
/// Two attempts with one number would both be heard.
#[test]
fn an_offer_of_what_has_a_row_is_not_forgotten_by_a_crash() {
    let mut house = House::new();
    house.disconnect(SCOUT);
    house.says(ALICE, "@scout are you there?");
    // Before the host stops.
    house.ws.store_open();
    house.connect(SCOUT);
    assert_eq!(house.offer(SCOUT).attempt, 1);
    house.restart();
    house.connect(SCOUT);
    assert_eq!(house.offer(SCOUT).attempt, 2);
}

// covers: ATT-103
#[test]
fn after_five_offers_it_waits_for_the_next_connection() {
    let mut house = House::new();
    house.says(ALICE, "@scout can you look?");
    house.pass(58_000);
    assert_eq!(house.offers(SCOUT).len(), usize::from(limits::OFFERS_PER_CONNECTION));
    house.disconnect(SCOUT);
    house.connect(SCOUT);
    let offer = house.take(SCOUT);
    assert_eq!(offer.attempt, limits::OFFERS_PER_CONNECTION + 1);
}

// covers: ATT-103
#[test]
fn attempts_are_counted_for_each_connection() {
    let mut house = House::new();
    house.says(ALICE, "@scout can you look?");
    house.pass(58_000);
    assert_eq!(house.offers(SCOUT).len(), 5);
    house.disconnect(SCOUT);
    house.connect(SCOUT);
    house.pass(58_000);
    let offers = house.offers(SCOUT);
    assert!(offers.len() >= 5, "the second connection is asked as often: {}", offers.len());
}

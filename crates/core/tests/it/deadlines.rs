//! Section 15: reminders, escalation, and its end.

use chorus_core::commands::{deliveries, directory};
use chorus_core::model::attention::{Policy, Rule};
use chorus_core::model::delivery::State;
use chorus_core::model::error::Code;
use chorus_core::model::ids::Uid;
use chorus_core::model::limits;
use chorus_core::model::requests::OpenThread;
use chorus_core::model::thread::ThreadKind;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, code};

// covers: ATT-114
#[test]
fn the_same_member_is_reminded_before_anybody_else_is_asked() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let first = house.take(SCOUT);
    let mut reminded = Vec::new();
    for second in 1..299 {
        house.pass(1_000);
        reminded.extend(house.offers(SCOUT).iter().map(|o| (second, o.attempt)));
        // What is offered again and not taken is offered again; scout takes it.
        let again = house.delivery(event, SCOUT).expect("its own").state;
        if let State::Offered { .. } = again {
            let offer = chorus_core::model::offer::Offer {
                attempt: house.delivery(event, SCOUT).expect("its own").attempt,
                ..first.clone()
            };
            house.accept(&offer).expect("an offer");
        }
    }
    assert_eq!(house.open(event).expect("open").deliveries.len(), 1, "nobody else was asked");
    assert!(!reminded.is_empty() && reminded[0].0 >= 60, "{reminded:?}");
    assert!(reminded.iter().all(|(_, attempt)| *attempt > first.attempt));
}

// covers: ATT-114, ATT-103
#[test]
fn an_offer_that_is_not_acknowledged_is_made_again_five_times() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    house.pass(55_000);
    let offers = house.offers(SCOUT);
    let attempts: Vec<u16> = offers.iter().map(|o| o.attempt).collect();
    assert_eq!(attempts, [1, 2, 3, 4, 5]);
    assert!(offers.iter().all(|o| o.entry.event.uid == event && o.fence == 1));
    assert_eq!(house.delivery(event, SCOUT).expect("its own").state, State::Waiting);
}

// covers: ATT-115, ATT-116, ATT-119
#[test]
fn at_its_deadline_the_obligation_moves_to_one_person_and_stays_there() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    house.pass(i64::from(limits::DEADLINE_MS) + 130_000);
    let left = house.delivery(event, SCOUT).expect("its own").decision;
    assert_eq!((left.policy, left.deadline_ms), (Policy::MayRespond, None));
    let open = house.open(event).expect("open");
    let moved: Vec<_> = open.deliveries.iter().filter(|d| d.is_obligation()).collect();
    assert_eq!(moved.len(), 1, "to one, never to all");
    assert_eq!((moved[0].member, moved[0].decision.rule), (ALICE, Rule::Escalated));
    assert!(moved[0].fence > 1);
    house.pass(24 * 3_600_000);
    let open = house.open(event).expect("open");
    assert!(open.delivery(ALICE).is_some_and(|d| d.is_open()), "it stays listed at a person");
    assert_eq!(open.deliveries.len(), 2);
}

// covers: ATT-115
#[test]
fn it_moves_to_the_threads_owner_first_and_never_to_the_author() {
    let mut house = House::new();
    let thread = open_thread(&mut house);
    let ask = Say::to(house.ops, "@scout can you look at the build?").in_thread(thread);
    let event = house.post(ALICE, ask).expect("people may speak");
    for offer in house.offers(SCOUT) {
        house.accept(&offer).expect("an offer");
    }
    house.pass(i64::from(limits::DEADLINE_MS) + 130_000);
    let moved = house.delivery(event, REVIEWER).expect("the owner has it").decision;
    assert_eq!((moved.rule, moved.policy), (Rule::Escalated, Policy::MustRespond));
    for _ in 0..4 {
        house.pass(i64::from(limits::DEADLINE_MS) * 2);
    }
    assert!(house.delivery(event, ALICE).is_none(), "never to its author");
}

fn open_thread(house: &mut House) -> Uid {
    let opening = OpenThread {
        home: house.ops.into(),
        root: None,
        title: "the red build".into(),
        kind: ThreadKind::Conversation,
        owner: Some(REVIEWER),
        participants: Vec::new(),
        idempotency: None,
    };
    house.run(house.by(ALICE), opening).expect("a thread").thread.uid
}

// covers: ATT-117
#[test]
fn a_run_that_shows_life_is_handling_it_up_to_the_cap() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    let offer = house.take(SCOUT);
    let life = deliveries::Life { session: offer.session };
    for _ in 0..(25 * 3) {
        house.pass(20_000);
        house.run(house.by(SCOUT), life.clone()).expect("its own session");
    }
    assert!(house.offers(SCOUT).is_empty(), "who works is not reminded");
    assert!(house.delivery(event, SCOUT).expect("its own").is_obligation());
    for _ in 0..(15 * 3) {
        house.pass(20_000);
        house.run(house.by(SCOUT), life.clone()).expect("its own session");
    }
    assert!(!house.delivery(event, SCOUT).expect("its own").is_obligation(), "capped at 30 min");
}

// covers: ATT-118
#[test]
fn age_counts_from_the_event_also_after_a_restart() {
    let mut house = House::new();
    let event = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    house.pass(2_000);
    // Down past both reminders.
    house.now = house.now.plus(200_000);
    house.restart();
    house.connect(SCOUT);
    let offers = house.offers(SCOUT).len();
    assert!(offers <= 1, "missed reminders are not made up: {offers}");
    house.pass(5_000);
    assert!(house.offers(SCOUT).len() <= 1);
    house.pass(105_000);
    assert!(house.delivery(event, ALICE).is_some(), "overdue by its own time");
}

// covers: ATT-113
#[test]
fn a_dead_letter_is_listed_and_can_be_sent_again() {
    let mut house = House::asleep();
    // The lead asks: nobody is left to whom it could move but bob, and he is removed.
    house.run(house.by(ALICE), directory::RemoveMember { member: BOB }).expect("an operator");
    let event = house.says(ALICE, "@scout can you look at the build?");
    house.pass(i64::from(limits::DEADLINE_MS) + 5_000);
    let dead = house.delivery(event, SCOUT).expect("listed").state;
    assert!(matches!(dead, State::Dead { .. }), "{dead:?}");
    let again = deliveries::Redeliver { event, member: SCOUT };
    assert_eq!(code(house.run(house.by(REVIEWER), again.clone())), Code::InsufficientAuthority);
    house.run(house.by(ALICE), again.clone()).expect("an operator");
    assert_eq!(code(house.run(house.by(ALICE), again)), Code::Conflict);
    house.connect(SCOUT);
    let offer = house.take(SCOUT);
    house.reply(&offer, "late, but here").expect("it is offered");
}

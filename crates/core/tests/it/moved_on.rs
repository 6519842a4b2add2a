//! What its holder let go of: the turn passes with the obligation, and only a run's own calls show that it lives.

use chorus_core::commands::deliveries;
use chorus_core::model::delivery::State;
use chorus_core::model::error::Code;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::reaction::Signal;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER, code};

const DEADLINE: i64 = limits::DEADLINE_MS as i64;

fn holders(house: &House, root: Uid) -> Vec<MemberKey> {
    let event = house.event(root);
    let room = house.ws.room(event.conversation).expect("a room");
    let turn = room.turns().get(event.seq);
    turn.map(|t| t.leases.iter().map(|l| l.member).collect()).unwrap_or_default()
}

/// Time passes, in which whoever has the turn takes up what it is reminded of, and is silent.
fn stays(house: &mut House, ms: i64) {
    for _ in 0..ms / 1_000 {
        house.pass(1_000);
        house.offers(SCOUT).iter().for_each(|offer| drop(house.accept(offer)));
    }
}

// covers: CHN-350
#[test]
fn a_silent_holder_loses_the_turn_with_its_obligation() {
    for works in [false, true] {
        let mut house = House::with_subjects();
        let event = house.says(BOB, "@scout @reviewer @writer what do you think of it?");
        let first = house.take(SCOUT);
        if works {
            house.react(SCOUT, event, Signal::Working).expect("it may react");
        }
        stays(&mut house, DEADLINE - 2_000);
        assert_eq!(holders(&house, event), [SCOUT]);
        assert!(house.offers(REVIEWER).is_empty(), "it waits");
        house.pass(4_000);
        assert!(house.delivery(event, ALICE).is_some(), "a person has it now");
        assert_eq!(holders(&house, event), [REVIEWER]);
        let second = house.take(REVIEWER);
        assert_eq!(code(house.reply(&first, "it is fine")), Code::TurnHeldByOther);
        house.reply(&second, "it is good").expect("it has the turn");
        let third = house.take(WRITER);
        house.reply(&third, "I agree").expect("it has the turn");
        assert_eq!(holders(&house, event), []);
        house.reply(&first, "it is fine").expect("it may still answer, and nobody speaks");
        assert!(house.open(event).expect("told").is_settled(), "what had moved on ends");
    }
}

// covers: CHN-350
#[test]
fn a_holder_that_moved_on_holds_nothing_after_a_restart() {
    let mut house = House::with_subjects();
    let event = house.says(BOB, "@scout @reviewer what do you think of it?");
    house.take(SCOUT);
    stays(&mut house, DEADLINE + 2_000);
    assert_eq!(holders(&house, event), [REVIEWER]);
    house.restart();
    house.connect(SCOUT);
    house.connect(REVIEWER);
    house.pass(1_000);
    assert_eq!(holders(&house, event), [REVIEWER]);
}

// covers: ATT-400
#[test]
fn a_call_in_a_turn_is_life_of_that_run_alone() {
    let mut house = House::new();
    let owed = house.says(BOB, "@scout can you look at the build?");
    let first = house.take(SCOUT);
    let session = first.session;
    let mut asked = 0;
    while house.delivery(owed, ALICE).is_none() {
        asked += 1;
        assert!(asked < 60, "what is forgotten moves on");
        let other =
            house.post(ALICE, Say::to(house.pair, "and how is the deploy?")).expect("a person");
        let offers = house.offers(SCOUT);
        let offer = offers.into_iter().find(|o| o.entry.event.uid == other).expect("offered");
        house.accept(&offer).expect("offered");
        house.run(house.in_turn(&offer), deliveries::Life { session }).expect("its own");
        // Of two runs nobody knows which one a bare call is of.
        house.run(house.by(SCOUT), deliveries::Life { session }).expect("its own");
        house.reply(&offer, "it is green").expect("asked");
        house.pass(7_000);
    }
    let age = house.now.since(house.event(owed).at);
    assert!((DEADLINE..DEADLINE + 9_000).contains(&age), "at its deadline: {age}");
}

// covers: ATT-400
#[test]
fn a_bare_call_is_life_where_the_session_has_one_run() {
    let mut house = House::new();
    let owed = house.says(BOB, "@scout can you look at the build?");
    let session = house.take(SCOUT).session;
    for _ in 0..20 {
        house.pass(30_000);
        house.run(house.by(SCOUT), deliveries::Life { session }).expect("its own");
    }
    assert!(house.delivery(owed, ALICE).is_none(), "it is being handled");
}

// covers: ATT-401
#[test]
fn progress_is_life_of_the_run_that_it_names() {
    let mut house = House::new();
    let named = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    let silent = house.says(BOB, "@scout can you look at the deploy?");
    house.take(SCOUT);
    for _ in 0..20 {
        house.pass(30_000);
        house.offers(SCOUT);
        house.run(house.by(SCOUT), deliveries::Progress { event: Some(named) }).expect("its own");
        house.run(house.by(SCOUT), deliveries::Progress { event: None }).ok();
    }
    assert!(house.delivery(named, ALICE).is_none());
    assert!(house.delivery(silent, ALICE).is_some());
    assert!(matches!(house.delivery(named, SCOUT).expect("told").state, State::Accepted { .. }));
}

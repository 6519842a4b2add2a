//! Agents that a person pauses: they are told nothing and say nothing, until they are let go on.

use chorus_core::commands::{deliveries, directory, wakes};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::delivery::State;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::MemberKey;
use chorus_core::model::limits;
use chorus_core::model::member::MemberFields;
use chorus_core::model::reaction::Signal;
use chorus_core::model::wake::{Outcome, ReportResult};
use chorus_core::queries;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER, code};
use crate::wakes::sleeping;

impl House {
    fn pause(&mut self, by: By, agent: MemberKey) -> Result<(), Refusal> {
        self.run(by, directory::PauseAgent { agent, on: true }).map(drop)
    }

    fn go_on(&mut self, by: By, agent: MemberKey) -> Result<(), Refusal> {
        self.run(by, directory::PauseAgent { agent, on: false }).map(drop)
    }
}

// covers: ATT-490, ATT-492
#[test]
fn a_paused_agent_is_offered_nothing_and_what_waits_is_offered_when_it_goes_on() {
    let mut house = House::new();
    house.pause(house.by(ALICE), SCOUT).expect("an operator may");
    let asked = house.says(BOB, "@scout is the build green?");
    assert!(house.offers(SCOUT).is_empty());
    assert_eq!(house.delivery(asked, SCOUT).expect("its own").state, State::Waiting);
    // A new connection changes nothing of that, and neither does a restart.
    house.connect(SCOUT);
    assert!(house.offers(SCOUT).is_empty());
    house.restart();
    house.connect(SCOUT);
    assert!(house.offers(SCOUT).is_empty(), "it is still paused after a restart");

    house.go_on(house.by(ALICE), SCOUT).expect("an operator may");
    let offer = house.offer(SCOUT);
    assert_eq!(offer.entry.event.uid, asked);
    house.accept(&offer).expect("offered");
    house.reply(&offer, "it is").expect("it may speak again");
}

// covers: ATT-490
#[test]
fn what_a_paused_agent_owes_moves_on_when_its_time_is_over() {
    let mut house = House::new();
    house.pause(house.by(ALICE), SCOUT).expect("an operator may");
    let asked = house.says(BOB, "@scout is the build green?");
    house.pass(i64::from(limits::DEADLINE_MS) + 1_000);
    let told = house.delivery(asked, SCOUT).expect("its own");
    assert!(!told.is_obligation(), "nobody waits for one that is paused for ever: {told:?}");
}

// covers: ATT-490, ATT-491
#[test]
fn a_pause_breaks_off_the_turn_that_runs_and_later_words_of_it_are_stale() {
    let mut house = House::new();
    let asked = house.says(BOB, "@scout is the build green?");
    let offer = house.take(SCOUT);
    house.pause(house.by(ALICE), SCOUT).expect("an operator may");
    assert_eq!(house.cancelled.last().map(|cancelled| cancelled.event), Some(asked));
    assert_eq!(code(house.reply(&offer, "it is")), Code::Forbidden);
    let ends = house.dispose(SCOUT, asked, Disposition::Responded);
    assert_eq!(code(ends), Code::Forbidden, "what was taken back is not ended by it");
    assert_eq!(house.delivery(asked, SCOUT).expect("its own").state, State::Waiting);
    house.go_on(house.by(ALICE), SCOUT).expect("an operator may");
    assert_eq!(code(house.reply(&offer, "it is")), Code::StaleTurn);
    let again = house.offer(SCOUT);
    assert_eq!(again.entry.event.uid, asked);
    assert!(again.fence > offer.fence && again.attempt > offer.attempt);
    house.accept(&again).expect("offered");
    house.reply(&again, "it is").expect("the new turn's");
}

// covers: ATT-491
#[test]
fn a_paused_agent_may_read_and_changes_nothing() {
    let mut house = House::new();
    house.pause(house.by(ALICE), SCOUT).expect("an operator may");
    let asked = house.says(BOB, "@scout is the build green?");
    let before = house.fingerprint();
    assert_eq!(code(house.post(SCOUT, Say::to(house.ops, "hello"))), Code::Forbidden);
    assert_eq!(code(house.claim(SCOUT, asked)), Code::Forbidden);
    assert_eq!(code(house.react(SCOUT, asked, Signal::Agree)), Code::Forbidden);
    assert_eq!(house.fingerprint(), before);
    let (by, session) = (house.by(SCOUT), house.by(SCOUT).session.expect("connected"));
    let owed = house.run(by, queries::Owed { session, limit: 9 }).expect("it may read");
    assert!(owed.offers.is_empty());
}

// covers: ATT-492
#[test]
fn another_agent_of_the_role_is_asked_instead() {
    let mut house = House::new();
    for _ in 0..2 {
        let asked = house.says(BOB, "@helpers who can look at CI?");
        let (of, rest) = (house.attention(asked).told[0].member, [SCOUT, REVIEWER]);
        house.pause(house.by(ALICE), of).expect("an operator may");
        let then = house.says(BOB, "@helpers and who at the docs?");
        assert_ne!(house.attention(then).told[0].member, of, "{rest:?}");
        house.go_on(house.by(ALICE), of).expect("an operator may");
    }
}

// covers: ATT-493
#[test]
fn owners_the_lead_and_operators_pause_and_nobody_else() {
    let mut house = House::new();
    let worker = |house: &House, member| By { authority: Authority::Worker, ..house.by(member) };
    let (bob, alice) = (worker(&house, BOB), worker(&house, ALICE));
    assert_eq!(code(house.pause(bob, SCOUT)), Code::InsufficientAuthority);
    assert_eq!(code(house.pause(house.by(REVIEWER), SCOUT)), Code::InsufficientAuthority);
    assert_eq!(code(house.pause(house.by(SCOUT), SCOUT)), Code::InsufficientAuthority);
    assert_eq!(code(house.pause(house.by(ALICE), BOB)), Code::ValidationError);
    assert_eq!(code(house.pause(house.by(ALICE), MemberKey(99))), Code::NotFound);
    house.pause(alice, SCOUT).expect("the lead may");
    let before = house.fingerprint();
    house.pause(alice, SCOUT).expect("as often as she likes");
    assert_eq!(house.fingerprint(), before);
    assert_eq!(code(house.go_on(house.by(SCOUT), SCOUT)), Code::Forbidden, "it is paused");
    let fields = MemberFields { owner: Some("bob".into()), ..MemberFields::default() };
    house.run(By::host(), directory::ChangeMember { member: SCOUT, fields }).expect("the host");
    house.go_on(bob, SCOUT).expect("its owner may");
}

// covers: ATT-490
#[test]
fn a_runner_of_a_paused_agent_is_not_woken() {
    let (mut house, _) = sleeping();
    house.says(ALICE, "@scout can you look at CI?");
    let sent = house.woken();
    house.reports(&sent, ReportResult::Confirmed).expect("it may");
    house.pause(house.by(ALICE), SCOUT).expect("an operator may");
    assert_eq!(house.wake(&sent).outcome, Some(Outcome::Obsolete));
    house.says(ALICE, "@scout and at the docs?");
    house.pass(600_000);
    assert!(house.wakes.is_empty(), "{:?}", house.wakes);
    let trigger = wakes::Trigger {
        thread: house.ops,
        target: "scout".into(),
        reason: "look".into(),
        prompt: None,
        force: false,
    };
    assert_eq!(code(house.run(house.by(ALICE), trigger)), Code::Conflict);
    let asked = house.says(ALICE, "@scout one more?");
    house.go_on(house.by(ALICE), SCOUT).expect("an operator may");
    let sent = house.woken();
    assert!(sent.threads.iter().any(|place| place.conversation == house.ops));
    assert_ne!(house.disposition(asked, SCOUT), Some(Disposition::Failed));
}

// covers: ATT-494
#[test]
fn what_an_agent_works_on_is_ended_for_good() {
    for mut house in [House::new(), House::with_subjects()] {
        let asked = house.says(BOB, "@scout is the build green?");
        let offer = house.take(SCOUT);
        let end = deliveries::EndDelivery { event: asked, member: SCOUT };
        let worker = By { authority: Authority::Worker, ..house.by(BOB) };
        assert_eq!(code(house.run(worker, end.clone())), Code::InsufficientAuthority);
        let own = house.by(SCOUT);
        assert_eq!(code(house.run(own, end.clone())), Code::InsufficientAuthority);
        house.run(house.by(ALICE), end.clone()).expect("an operator may");
        assert_eq!(house.cancelled.last().map(|cancelled| cancelled.event), Some(asked));
        assert_eq!(house.disposition(asked, SCOUT), Some(Disposition::Superseded));
        assert_eq!(code(house.reply(&offer, "it is")), Code::StaleTurn);
        assert_eq!(code(house.run(house.by(ALICE), end)), Code::Conflict);
        let never = deliveries::EndDelivery { event: asked, member: WRITER };
        assert_eq!(code(house.run(house.by(ALICE), never)), Code::NotFound);
        assert_eq!(code(house.claim(SCOUT, asked)), Code::Conflict, "nor by a claim of its own");
        house.pass(600_000);
        assert!(house.offers(SCOUT).is_empty(), "it is not asked again");
        house.says(BOB, "@scout and the docs?");
        house.offer(SCOUT);
    }
}

// covers: ATT-490
#[test]
fn a_claim_of_a_paused_agent_is_free_for_others() {
    let mut house = House::new();
    let asked = house.says(BOB, "somebody should look at CI");
    house.claim(SCOUT, asked).expect("it may");
    house.pause(house.by(ALICE), SCOUT).expect("an operator may");
    house.claim(REVIEWER, asked).expect("nobody holds it");
}

// covers: ATT-490
#[test]
fn the_turn_of_a_paused_agent_passes_at_once() {
    let mut house = House::with_subjects();
    house.says(BOB, "@scout @reviewer is the build green?");
    let (first, second) = match house.offers(SCOUT).is_empty() {
        false => (SCOUT, REVIEWER),
        true => (REVIEWER, SCOUT),
    };
    assert!(house.offers(second).is_empty(), "one speaks at a time");
    house.pause(house.by(ALICE), first).expect("an operator may");
    assert_eq!(house.offers(second).len(), 1, "the next one has it, and not after a minute");
    house.go_on(house.by(ALICE), first).expect("an operator may");
    assert!(house.offers(first).is_empty(), "it waits for its turn again");
}

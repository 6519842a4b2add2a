//! Section 20: what people who ran such systems complained of, where it is for the core to prevent. The
//! others of the list stand with the rule that prevents them.

use chorus_core::commands::deliveries;
use chorus_core::model::attention::Policy;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::limits;
use chorus_core::model::reaction::Signal;

use crate::house::{AGENTS, ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER, at, code};

// covers: FAIL-6, ATT-75, ATT-122
#[test]
fn status_passes_where_a_reply_is_refused() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look?");
    let offer = house.take(SCOUT);
    for n in 0..limits::MESSAGES_PER_TURN {
        house.reply(&offer, &format!("part {n}")).expect("within the budget");
    }
    assert_eq!(code(house.reply(&offer, "and more")), Code::ReplyBudgetSpent);
    for signal in Signal::ALL {
        house.react(SCOUT, event, signal).expect("a reaction is free");
    }
    house.run(house.by(SCOUT), deliveries::Life { session: offer.session }).expect("so is life");
    // The same for who was never asked.
    let ambient = house.says(BOB, "lunch was nice");
    let say = Say::to(house.ops, "it was").answering(ambient);
    assert_eq!(code(house.post(WRITER, say)), Code::PolicyForbidsReply);
    house.react(WRITER, ambient, Signal::Agree).expect("a reaction is free");
}

// covers: FAIL-7
#[test]
fn one_chatty_agent_does_not_starve_the_rest() {
    let mut house = House::new();
    house.says(ALICE, "@writer tell us everything");
    let chatty = house.take(WRITER);
    let quiet = house.says(ALICE, "@scout and @reviewer, can you look?");
    let mut said = 0;
    for n in 0..50 {
        said += usize::from(house.reply(&chatty, &format!("and also {n}")).is_ok());
    }
    assert_eq!(said, usize::from(limits::MESSAGES_PER_TURN));
    for agent in [SCOUT, REVIEWER] {
        let offer = house.take(agent);
        assert_eq!(offer.entry.event.uid, quiet);
        house.reply(&offer, "it is green").expect("asked");
    }
    for _ in 0..50 {
        let _ = house.post(WRITER, Say::to(house.ops, "and something else"));
    }
    let role = house.says(BOB, "@helpers can one of you look?");
    let selected = house.open(role).expect("open").deliveries[0].member;
    house.take(selected);
}

// covers: FAIL-9, ATT-102
#[test]
fn one_message_is_answered_once_however_often_it_is_offered() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look?");
    let mut offers = house.offers(SCOUT);
    for _ in 0..3 {
        house.disconnect(SCOUT);
        house.connect(SCOUT);
        offers.extend(house.offers(SCOUT));
    }
    assert!(offers.iter().all(|o| o.entry.event.uid == event));
    assert!(offers.windows(2).all(|o| o[0].attempt < o[1].attempt), "a higher attempt each time");
    let last = offers.last().expect("offered");
    house.accept(last).expect("an offer");
    // Every run of it sends under the same key: the second learns that it has answered.
    let answers: Vec<_> = (0..4)
        .map(|_| {
            let say = Say::to(house.ops, "green").answering(event).under(1, 1);
            house.post_as(house.in_turn(last), say).expect("the same message")
        })
        .collect();
    assert!(answers.iter().all(|(uid, _)| *uid == answers[0].0));
    assert_eq!(answers.iter().filter(|(_, duplicate)| !duplicate).count(), 1);
    house.pass(3_600_000);
    assert!(house.offers(SCOUT).is_empty());
}

// covers: FAIL-11, ATT-7
#[test]
fn reading_the_log_anew_keeps_ids_and_what_is_owed() {
    let mut house = House::new();
    let answered = house.says(ALICE, "@scout can you look?");
    let offer = house.take(SCOUT);
    let answer = house.reply(&offer, "green").expect("asked");
    let owed = house.says(BOB, "@reviewer can you look?");
    house.offer(REVIEWER);
    house.restart();
    for uid in [answered, answer, owed] {
        assert_eq!(house.event(uid).uid, uid);
    }
    for agent in AGENTS {
        house.connect(agent);
    }
    assert!(house.offers(SCOUT).is_empty());
    let again = house.take(REVIEWER);
    assert_eq!(again.entry.event.uid, owed);
    assert!(again.attempt > 1);
    house.reply(&again, "here I am").expect("asked");
}

// covers: FAIL-13
#[test]
fn what_an_agent_posts_is_never_owed_to_itself() {
    let mut house = House::new();
    house.says(ALICE, "@scout can you look?");
    let offer = house.take(SCOUT);
    let done = house.reply(&offer, "@scout @helpers is done: all green, see above").expect("asked");
    assert_eq!(house.decision(done, SCOUT), None);
    house.react(SCOUT, done, Signal::Done).expect("a reaction is free");
    house.pass(3_600_000);
    assert!(house.offers(SCOUT).is_empty());
}

// covers: FAIL-15, ATT-73
#[test]
fn presence_and_reactions_start_no_sessions() {
    let mut house = House::new();
    let event = house.says(WRITER, "I have found a bug");
    for signal in Signal::ALL {
        house.react(SCOUT, event, signal).ok();
        house.react(REVIEWER, event, signal).ok();
    }
    for signal in [Signal::Seen, Signal::Working, Signal::Queued, Signal::Claimed] {
        house.react(BOB, event, signal).ok();
    }
    house.disconnect(REVIEWER);
    house.connect(REVIEWER);
    for agent in AGENTS {
        let offered = house.offers(agent);
        let by_claim =
            |o: &chorus_core::model::offer::Offer| at(&o.entry.event) == at(house.event(event));
        assert!(offered.iter().all(by_claim), "{offered:?}");
    }
    // A person's word on an agent's own message is a knock, and no more.
    house.react(ALICE, event, Signal::Agree).expect("a reaction is free");
    let offer = house.take(WRITER);
    assert_eq!(offer.decision.policy, Policy::MayRespond);
    assert!(!offer.decision.mode.shows_content());
}

// covers: FAIL-16, ATT-93
#[test]
fn nothing_is_stuck_after_a_crash() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout can you look?");
    house.take(SCOUT);
    house.pass(2_000);
    house.restart();
    house.connect(SCOUT);
    house.pass(limits::SESSION_GONE_MS + 5_000);
    let offers = house.offers(SCOUT);
    let again = offers.last().expect("taken back and offered again");
    house.accept(again).expect("an offer");
    house.reply(again, "green").expect("asked");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
}

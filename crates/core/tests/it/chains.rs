//! Section 13: cause and hop, and how chains of agents end.

use chorus_core::commands::{directory, messages};
use chorus_core::model::attention::{Mode, Policy, Rule};
use chorus_core::model::caller::By;
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::event::Message;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::member::MemberKind;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER, at, code};

/// Lets agents answer whatever is offered to them, each in its own way, until nothing is offered any more.
/// Gives everything said.
fn let_them_talk(house: &mut House, words: &[(MemberKey, &str)]) -> Vec<Uid> {
    let mut said = Vec::new();
    for _ in 0..200 {
        let mut quiet = true;
        for (agent, text) in words {
            for offer in house.offers(*agent) {
                quiet = false;
                house.accept(&offer).expect("an offer");
                said.extend(house.reply(&offer, text));
            }
        }
        if quiet {
            return said;
        }
        house.pass(5_000);
    }
    panic!("they have not stopped after {} messages", said.len());
}

// covers: ATT-96
#[test]
fn the_host_gives_cause_and_hop() {
    let mut house = House::new();
    let asked = house.says(ALICE, "@scout could you ask the reviewer?");
    let offer = house.take(SCOUT);
    let passed_on = house.reply(&offer, "@reviewer could you look at the build?").expect("asked");
    let offer = house.take(REVIEWER);
    let answer = house.reply(&offer, "@scout what of it?").expect("asked");
    let (asked, passed_on, answer) =
        (house.event(asked).clone(), house.event(passed_on).clone(), house.event(answer).clone());
    assert_eq!((asked.hop, passed_on.hop, answer.hop), (0, 1, 2));
    assert_eq!(asked.cause, None);
    assert_eq!(passed_on.cause, Some(at(&asked)));
    assert_eq!(answer.cause, Some(at(&passed_on)));
    // Without saying what it answers: the open turn is the cause.
    let offer = house.take(SCOUT);
    let say = Say::to(house.ops, "it is red");
    let bare = house.post(SCOUT, say).expect("its turn");
    assert_eq!(house.event(bare).cause, Some(at(&offer.entry.event)));
    let alone = house.says(WRITER, "I have found a bug");
    assert_eq!((house.event(alone).cause, house.event(alone).hop), (None, 1));
}

// covers: FAIL-2, ATT-97, ATT-98
#[test]
fn two_agents_that_must_reply_and_mention_each_other_stop() {
    let mut house = House::new();
    house.says(ALICE, "@scout please ask the reviewer what it thinks");
    let words =
        [(SCOUT, "@reviewer could you look again?"), (REVIEWER, "@scout could you look again?")];
    let said = let_them_talk(&mut house, &words);
    assert!(said.len() <= usize::from(limits::HOP_END), "{} messages", said.len());
    for event in &said {
        let (hop, attention) = (house.event(*event).hop, house.attention(*event));
        let obliged = attention.told.iter().any(|t| t.decision.policy == Policy::MustRespond);
        assert!(!obliged || hop < limits::HOP_NO_OBLIGATION, "hop {hop}");
    }
    let last = *said.last().expect("they talked");
    assert_eq!(house.event(last).hop, limits::HOP_END);
    let told = &house.attention(last).told;
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].member, told[0].decision.rule), (ALICE, Rule::HopLimit));
}

// covers: ATT-98
#[test]
fn the_end_of_a_private_chain_is_told_to_somebody_who_may_read_it() {
    let mut house = House::new();
    let carl = house.add_member("carl", MemberKind::Human);
    house.run(By::host(), directory::SetLead { member: Some(carl) }).expect("the host may");
    house.says(ALICE, "@scout please ask the reviewer what it thinks");
    let words =
        [(SCOUT, "@reviewer could you look again?"), (REVIEWER, "@scout could you look again?")];
    let last = *let_them_talk(&mut house, &words).last().expect("they talked");
    assert_eq!(house.decision(last, carl), None, "the lead is not in the room");
    assert_eq!(house.decision(last, ALICE).expect("she is").rule, Rule::HopLimit);
}

// covers: FAIL-3, ATT-68
#[test]
fn a_thanks_loop_ends_before_it_begins() {
    let mut house = House::new();
    house.says(ALICE, "@scout can you check the build?");
    let words = [
        (SCOUT, "@reviewer thank you so much!"),
        (REVIEWER, "@scout no, thank you!"),
        (WRITER, "@scout @reviewer thanks everybody!"),
    ];
    let said = let_them_talk(&mut house, &words);
    assert!(said.len() <= 2, "{} messages", said.len());

    // Even who answers thanks in words is heard by nobody.
    let thanks = house.post(ALICE, Say::to(house.pair, "thanks!")).expect("people may speak");
    let offer = house.take(SCOUT);
    assert_eq!(offer.decision.policy, Policy::AckOnly);
    let answer = house.reply(&offer, "@alice can I do anything else?").expect("it may be posted");
    assert!(house.attention(answer).told.is_empty());
    assert_eq!(house.disposition(thanks, SCOUT), Some(Disposition::Acknowledged));
}

// covers: ATT-99
#[test]
fn an_agent_opens_four_subjects_an_hour() {
    let mut house = House::new();
    for n in 0..limits::AUTONOMOUS_ROOTS_PER_HOUR {
        house.says(WRITER, &format!("I have found bug {n}"));
    }
    let fifth = Say::to(house.ops, "and another one");
    assert_eq!(code(house.post(WRITER, fifth.clone())), Code::RateLimited);
    // Others are not counted, and what is asked for is none of them.
    house.says(SCOUT, "I have found one too");
    house.says(ALICE, "@writer which one is worst?");
    let offer = house.take(WRITER);
    house.reply(&offer, "the first").expect("it was asked");
    house.pass(3_600_000);
    house.post(WRITER, fifth).expect("an hour later");
}

// covers: FAIL-5, ATT-100
#[test]
fn a_persons_own_mention_always_arrives() {
    let mut house = House::new();
    for n in 0..20 {
        for person in [ALICE, BOB] {
            let event = house.says(person, &format!("@scout and what about {n}?"));
            let decision = house.decision(event, SCOUT).expect("told");
            assert_eq!((decision.policy, decision.mode), (Policy::MustRespond, Mode::Buffered));
            assert_eq!(house.offers(SCOUT).len(), 1);
        }
    }
    // Also to what was answered, claimed by another, or said at the end of a chain.
    let role = house.says(BOB, "@helpers can somebody look?");
    house.claim(WRITER, role).expect("not accepted by another yet");
    let say = Say::to(house.ops, "@scout you too, can you look?").answering(role);
    let event = house.post(ALICE, say).expect("people are never refused");
    assert_eq!(house.decision(event, SCOUT).expect("told").policy, Policy::MustRespond);
}

// covers: FAIL-2, ATT-96
#[test]
fn what_a_turn_says_besides_its_answer_belongs_to_its_chain() {
    // Two agents alone, each of which answers and then asks something without saying what it is about.
    let mut house = House::new();
    let pair = vec![SCOUT, REVIEWER];
    let alone = house.conversation("alone", ConversationKind::Dm, pair);
    let first = Say::to(alone, "could you look at the build?");
    house.post(SCOUT, first).expect("it opens a subject");
    let mut said = 0;
    for _ in 0..200 {
        let mut quiet = true;
        for agent in [SCOUT, REVIEWER] {
            // As a harness does: what has come is one turn, and its newest event is answered.
            let mut batch = house.offers(agent);
            let Some(offer) = batch.pop() else { continue };
            quiet = false;
            for merged in batch {
                house.dispose(agent, merged.entry.event.uid, Disposition::Superseded).ok();
            }
            house.accept(&offer).ok();
            house.reply(&offer, "it is red").ok();
            house.pass(2_000);
            let besides = Say::to(alone, "and could you look again?");
            said += u32::from(house.post(agent, besides).is_ok());
        }
        if quiet {
            break;
        }
    }
    assert!(said < 100, "they have not stopped after {said} messages");
}

// covers: FAIL-2
#[test]
fn edits_are_links_of_a_chain_too() {
    let mut house = House::new();
    let mine = house.says(SCOUT, "I have found a bug");
    let yours = house.says(REVIEWER, "so have I");
    house.edit(SCOUT, mine, "@reviewer could you look at the bug?").expect("its author");
    for _ in 0..200 {
        let offers: Vec<_> = [SCOUT, REVIEWER].into_iter().flat_map(|m| house.offers(m)).collect();
        if offers.is_empty() {
            return;
        }
        for offer in offers {
            house.accept(&offer).expect("an offer");
            let (own, text) = match offer.member {
                SCOUT => (mine, "@reviewer could you look at the bug again?"),
                _ => (yours, "@scout could you look at mine again?"),
            };
            let content = Message { text: text.into(), ..Message::default() };
            let by = house.in_turn(&offer);
            house.run(by, messages::Edit { message: own, content }).ok();
            house.dispose(offer.member, offer.entry.event.uid, Disposition::Ignored).ok();
            house.pass(2_000);
        }
    }
    panic!("they have not stopped");
}

// covers: ATT-66, ATT-96
#[test]
fn what_is_said_elsewhere_in_a_turn_is_no_answer() {
    let mut house = House::new();
    let asked = house.says(BOB, "@scout could you tell alice that the deploy is done?");
    let offer = house.take(SCOUT);
    let told = house.post(SCOUT, Say::to(house.pair, "the deploy is done")).expect("its turn");
    assert_eq!((house.event(told).cause, house.event(told).hop), (Some(at(house.event(asked))), 1));
    assert_eq!(house.disposition(asked, SCOUT), None, "bob has no answer yet");
    house.reply(&offer, "I have").expect("asked");
    assert_eq!(house.disposition(asked, SCOUT), Some(Disposition::Responded));
}

//! Members whom the sender leaves out (`not_to`): preview, post and edit alike.

use chorus_core::model::attention::{Mode, Policy, Rule};
use chorus_core::model::error::Code;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::queries;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, code};

fn without(house: &House, text: &str, left_out: &[MemberKey]) -> Say {
    let mut say = Say::to(house.ops, text);
    say.0.left_out = left_out.to_vec();
    say
}

// covers: ATT-486
#[test]
fn one_of_two_who_are_named_is_left_out_and_why_says_so() {
    let mut house = House::new();
    let say = without(&house, "@scout @reviewer could you look?", &[SCOUT]);
    let by = house.by(ALICE);
    let shown = house.run(by, queries::Preview(say.0.clone())).expect("a preview");
    let event = house.post(ALICE, say).expect("posted");
    assert_eq!(shown.told, house.attention(event).told, "what was previewed is what happens");
    assert!(house.offers(SCOUT).is_empty());
    assert_eq!(house.offers(REVIEWER).len(), 1);
    let decision = house.decision(event, SCOUT).expect("why shows it");
    assert_eq!(
        (decision.rule, decision.policy, decision.mode),
        (Rule::LeftOut, Policy::MustNotRespond, Mode::Silent)
    );
    let say = Say::to(house.ops, "I do it").answering(event);
    assert_eq!(code(house.post(SCOUT, say)), Code::PolicyForbidsReply);
    // An edit leaves the same members out.
    let edited =
        house.edit(ALICE, event, "@scout @reviewer could you look today?").expect("edited");
    assert!(house.offers(SCOUT).is_empty());
    assert_eq!(house.decision(edited, SCOUT).map(|d| d.rule), Some(Rule::LeftOut));
}

/// The agent that is told of a message.
fn told(house: &House, event: Uid) -> Option<MemberKey> {
    let told = &house.attention(event).told;
    told.iter().find(|t| t.decision.mode.tells()).map(|t| t.member)
}

// covers: ATT-486
#[test]
fn another_of_the_role_is_asked() {
    let mut house = House::new();
    let event = house.says(ALICE, "@helpers who can?");
    let first = told(&house, event).expect("one of the role");
    let event = house.post(ALICE, without(&house, "@helpers who can?", &[first])).expect("posted");
    let second = told(&house, event).expect("another of the role");
    assert_ne!(second, first);
}

// covers: ATT-486
#[test]
fn a_question_to_nobody_is_given_to_another() {
    let mut house = House::new();
    for (agent, asked) in [(SCOUT, "@scout is it red?"), (REVIEWER, "@reviewer is it ready?")] {
        house.says(ALICE, asked);
        let offer = house.take(agent);
        house.reply(&offer, "it is").expect("it was asked");
    }
    house.pass(600_000);
    let open = "hi all, does anybody know when the release is?";
    let event = house.says(BOB, open);
    let first = told(&house, event).expect("one is asked");
    let event = house.post(BOB, without(&house, open, &[first])).expect("posted");
    let second = told(&house, event).expect("the other is asked");
    assert_ne!(second, first);
}

// covers: ATT-486
#[test]
fn an_obligation_does_not_move_to_whom_the_sender_left_out() {
    let mut house = House::new();
    let everybody: Vec<MemberKey> =
        house.ws.directory().members.iter().map(|m| m.key).filter(|m| *m != SCOUT).collect();
    let say = without(&house, "@scout could you look?", &everybody);
    let event = house.post(ALICE, say).expect("posted");
    for _ in 0..20 {
        house.pass(300_000);
    }
    let asked: Vec<_> = house.open(event).expect("still open").deliveries.clone();
    assert!(asked.iter().all(|d| d.member == SCOUT), "{asked:?}");
}

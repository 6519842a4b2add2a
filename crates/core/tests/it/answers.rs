//! A message is understood in its place: answers to agents' questions, and first words.

use chorus_core::model::attention::{Decision, Intent, Mode, Policy, Rule};
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::offer::Offer;
use chorus_core::model::requests::OpenThread;
use chorus_core::model::thread::ThreadKind;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER};

/// How scout is told of it.
fn scouts(house: &House, event: Uid) -> Decision {
    house.decision(event, SCOUT).unwrap_or_else(|| panic!("{:?}", house.attention(event)))
}

fn must(decision: Decision) -> bool {
    decision.policy == Policy::MustRespond && decision.mode.shows_content()
}

/// The newest offer of the event to the member, accepted.
fn take(house: &mut House, member: MemberKey, event: Uid) -> Offer {
    let mut offers = house.offers(member);
    offers.retain(|offer| offer.entry.event.uid == event);
    let offer = offers.pop().expect("it is offered");
    house.accept(&offer).expect("an offer can be accepted");
    offer
}

/// Alice has asked scout for something, and scout asks back.
fn asked_back(house: &mut House, question: &str) -> Uid {
    let event = house.says(ALICE, "@scout what about the PR?");
    let offer = take(house, SCOUT, event);
    let asked = house.reply(&offer, question).expect("scout was asked");
    house.pass(60_000);
    asked
}

// covers: ATT-360, ATT-361, ATT-362
#[test]
fn a_reply_to_an_agents_question_reaches_it_whatever_was_said_between() {
    for (text, intent) in [
        ("yes, merge it", Intent::Request),
        ("yes", Intent::Statement),
        ("no", Intent::Statement),
        ("do it", Intent::Request),
        ("sure", Intent::Statement),
        ("ok", Intent::Statement),
        ("👍", Intent::Statement),
        ("the one on main", Intent::Statement),
        ("great", Intent::Statement),
    ] {
        let mut house = House::new();
        let asked = asked_back(&mut house, "should it go in before the weekend?");
        house.says(BOB, "lunch was nice today");
        house.pass(600_000);
        let event = house.post(BOB, Say::to(house.ops, text).answering(asked)).expect("a person");
        let told = scouts(&house, event);
        assert_eq!(told.rule, Rule::AnswerToQuestion, "{text}");
        assert!(must(told), "{text}: {told:?}");
        assert_eq!(house.attention(event).intent, intent, "{text}");
        take(&mut house, SCOUT, event);
    }
    let mut house = House::new();
    let asked = asked_back(&mut house, "shall I merge the PR now?");
    let event = house.post(BOB, Say::to(house.ops, "sure").answering(asked)).expect("a person");
    assert_eq!(house.attention(event).intent, Intent::Approval);
    assert!(must(scouts(&house, event)));
    // Thanks are thanks, and what replies to a statement is read as before.
    let thanks = house.post(BOB, Say::to(house.ops, "thanks!").answering(asked)).expect("a person");
    assert_eq!(scouts(&house, thanks).policy, Policy::AckOnly);
    let mut house = House::new();
    let asked = asked_back(&mut house, "it is merged");
    let ok = house.post(BOB, Say::to(house.ops, "ok").answering(asked)).expect("a person");
    assert_eq!(scouts(&house, ok).policy, Policy::AckOnly);
}

// covers: ATT-361
#[test]
fn an_answer_that_names_somebody_beside_is_still_for_the_agent() {
    let mut house = House::new();
    let asked = asked_back(&mut house, "should it go in?");
    let say = Say::to(house.ops, "yes, and tell @writer").answering(asked);
    let event = house.post(BOB, say).expect("a person");
    assert_eq!(scouts(&house, event).rule, Rule::AnswerToQuestion);
    assert_eq!(house.decision(event, WRITER).map(|d| d.rule), Some(Rule::Mention));
    let say = Say::to(house.ops, "@writer what do you think?").answering(asked);
    let event = house.post(BOB, say).expect("a person");
    assert_eq!(scouts(&house, event).rule, Rule::RepliedToOther);
}

// covers: ATT-360
#[test]
fn an_edit_of_an_answer_is_read_with_what_it_answers() {
    let mut house = House::new();
    let asked = asked_back(&mut house, "should it go in?");
    house.says(BOB, "lunch was nice today");
    let event = house.post(BOB, Say::to(house.ops, "yse").answering(asked)).expect("a person");
    let edit = house.edit(BOB, event, "yes").expect("his own");
    assert_eq!(house.attention(edit).intent, Intent::Statement);
    assert!(must(scouts(&house, edit)));
}

fn thread(house: &mut House, owner: Option<MemberKey>, participants: Vec<MemberKey>) -> Uid {
    let opening = OpenThread {
        home: house.ops.into(),
        root: None,
        title: "the PR".into(),
        kind: ThreadKind::Workflow,
        owner,
        participants,
        idempotency: None,
    };
    house.run(house.by(ALICE), opening).expect("a thread").thread.uid
}

// covers: ATT-360, ATT-361
#[test]
fn in_a_thread_an_answer_is_read_with_what_the_thread_waits_for() {
    let mut house = House::new();
    let thread = thread(&mut house, None, vec![ALICE, BOB, SCOUT, REVIEWER]);
    let say = |house: &mut House, who, text: &str| {
        house.pass(60_000);
        let say = Say::to(house.ops, text).in_thread(thread);
        house.post(who, say).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"))
    };
    let event = say(&mut house, ALICE, "@scout what about the PR?");
    let offer = take(&mut house, SCOUT, event);
    house.reply(&offer, "should it go in before the weekend?").expect("scout was asked");
    say(&mut house, BOB, "lunch was nice today");
    let order = say(&mut house, ALICE, "yes, merge it");
    let event = order;
    let told = scouts(&house, event);
    assert_eq!((told.rule, told.policy), (Rule::AnswerToQuestion, Policy::MustRespond));
    assert_eq!(house.attention(event).intent, Intent::Request);
    // It is answered: nothing waits any more.
    let event = say(&mut house, ALICE, "ok");
    assert_ne!(house.decision(event, SCOUT).map(|d| d.rule), Some(Rule::AnswerToQuestion));
    let offer = take(&mut house, SCOUT, order);
    house.reply(&offer, "it is merged").expect("scout was told");
    let event = say(&mut house, BOB, "yes");
    assert_eq!(house.attention(event).intent, Intent::Social);

    // Whoever was asked, and speaks next, answers in any words.
    let event = say(&mut house, ALICE, "@scout can you restart it?");
    let offer = take(&mut house, SCOUT, event);
    house.reply(&offer, "which server?").expect("scout was asked");
    let event = say(&mut house, ALICE, "the one in the cellar");
    assert_eq!(scouts(&house, event).rule, Rule::AnswerToQuestion);
    house.restart();
    assert_eq!(scouts(&house, event).rule, Rule::AnswerToQuestion);
}

// covers: ATT-360, ATT-361
#[test]
fn what_is_said_right_after_a_question_answers_it() {
    let mut house = House::new();
    asked_back(&mut house, "should it go in?");
    let event = house.says(ALICE, "ok");
    assert_eq!(scouts(&house, event).rule, Rule::AnswerToQuestion);
    assert!(must(scouts(&house, event)));
}

// covers: ATT-363
#[test]
fn in_a_direct_conversation_a_question_waits_for_its_answer() {
    let mut house = House::new();
    let say = Say::to(house.pair, "what about the PR?");
    let event = house.post(ALICE, say).expect("a person");
    let offer = take(&mut house, SCOUT, event);
    house.reply(&offer, "should it go in?").expect("scout was asked");
    house.reply(&offer, "the tests are green").expect("scout goes on");
    let event = house.post(ALICE, Say::to(house.pair, "ok")).expect("a person");
    assert!(must(scouts(&house, event)), "{:?}", house.attention(event));
    let offer = take(&mut house, SCOUT, event);
    house.reply(&offer, "it is merged").expect("scout was told");
    let event = house.post(ALICE, Say::to(house.pair, "ok")).expect("a person");
    assert_eq!(scouts(&house, event).policy, Policy::AckOnly);
}

// covers: ATT-361
#[test]
fn an_agent_is_shown_what_another_answers_it() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout ask @reviewer about it");
    let offer = take(&mut house, SCOUT, event);
    let asked = house.reply(&offer, "@reviewer is the page ready?").expect("scout was asked");
    let told = take(&mut house, REVIEWER, asked);
    let answer = house.reply(&told, "the page is ready").expect("reviewer was asked");
    let decision = scouts(&house, answer);
    assert_eq!((decision.policy, decision.mode), (Policy::MayRespond, Mode::Buffered));
}

/// How scout is told of alice's words in its direct conversation.
fn direct(house: &mut House, text: &str) -> Policy {
    let event = house.post(ALICE, Say::to(house.pair, text)).expect("a person");
    house.pass(60_000);
    scouts(house, event).policy
}

// covers: ATT-364
#[test]
fn a_persons_first_words_to_an_agent_are_answered() {
    for text in ["@scout hello", "hi @scout", "@scout 👋", "hey @scout!"] {
        let mut house = House::new();
        let event = house.says(ALICE, text);
        let told = scouts(&house, event);
        assert_eq!((told.policy, told.mode), (Policy::MayRespond, Mode::Buffered), "{text}");
        take(&mut house, SCOUT, event);
        // Once more right after is a courtesy like others; of somebody else it is a greeting again.
        let again = house.says(ALICE, text);
        assert_eq!(scouts(&house, again).policy, Policy::AckOnly, "{text}");
        let other = house.says(BOB, text);
        assert_eq!(scouts(&house, other).policy, Policy::MayRespond, "{text}");
        house.restart();
        house.pass(9 * 3_600_000);
        let tomorrow = house.says(ALICE, text);
        assert_eq!(scouts(&house, tomorrow).policy, Policy::MayRespond, "{text}");
    }
    let mut house = House::new();
    assert_eq!(direct(&mut house, "hi"), Policy::MayRespond);
    assert_eq!(direct(&mut house, "hi"), Policy::AckOnly);
    // Thanks are no greeting, and who has spoken is greeted no more.
    let mut house = House::new();
    let thanks = house.says(BOB, "@scout thanks!");
    assert_eq!(scouts(&house, thanks).policy, Policy::AckOnly);
    let mut house = House::new();
    house.says(ALICE, "@scout is it done?");
    let hello = house.says(ALICE, "@scout hello");
    assert_eq!(scouts(&house, hello).policy, Policy::AckOnly);
}

// covers: ATT-364
#[test]
fn a_greeting_to_the_room_or_of_an_agent_is_a_courtesy() {
    let mut house = House::new();
    let event = house.says(ALICE, "hi all");
    assert_eq!(house.attention(event).told, []);
    let event = house.says(ALICE, "@scout greet @reviewer");
    let offer = take(&mut house, SCOUT, event);
    let greeting = house.reply(&offer, "@reviewer hello").expect("scout was asked");
    let told = house.decision(greeting, REVIEWER).expect("reviewer is named");
    assert_eq!(told.policy, Policy::AckOnly);
}

// covers: ATT-364
#[test]
fn an_edit_of_first_words_is_first_words() {
    let mut house = House::new();
    let event = house.says(ALICE, "@scout helo");
    let edit = house.edit(ALICE, event, "@scout hello").expect("her own");
    assert_eq!(scouts(&house, edit).policy, Policy::MayRespond);
}

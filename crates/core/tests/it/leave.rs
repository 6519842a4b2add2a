//! Agents that are asked to leave.

use chorus_core::commands::conversations;
use chorus_core::model::attention::{Mode, Policy, Rule};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Change;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::OpenThread;
use chorus_core::model::thread::ThreadKind;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, code};

fn thread(house: &mut House) -> Uid {
    let opening = OpenThread {
        home: house.ops.into(),
        root: None,
        title: "the red build".into(),
        kind: ThreadKind::Conversation,
        owner: Some(SCOUT),
        participants: vec![REVIEWER],
        idempotency: None,
    };
    house.run(house.by(ALICE), opening).expect("a thread").thread.uid
}

fn leave(
    house: &mut House,
    by: MemberKey,
    thread: Option<Uid>,
    member: MemberKey,
) -> Result<(), Refusal> {
    let conversation = house.ops;
    house.run(house.by(by), conversations::Leave { conversation, thread, member })
}

fn in_thread(house: &mut House, thread: Uid, text: &str) -> Uid {
    let say = Say::to(house.ops, text).in_thread(thread);
    house.post(BOB, say).expect("people may speak")
}

// covers: ATT-154, ATT-155
#[test]
fn asked_in_words_it_acknowledges_once_and_is_told_nothing_until_it_is_named() {
    let mut house = House::new();
    let thread = thread(&mut house);
    in_thread(&mut house, thread, "what about the build?");
    assert_eq!(house.offers(SCOUT).len(), 1, "it owns the thread");
    let asked = in_thread(&mut house, thread, "@scout please leave this thread");
    let decision = house.decision(asked, SCOUT).expect("it was named");
    assert_eq!((decision.rule, decision.policy), (Rule::AskedToLeave, Policy::AckOnly));
    let logged =
        house.log.events.values().rev().find(|e| matches!(e.change, Change::Withdrew { .. }));
    let logged = logged.expect("a reader sees it");
    assert_eq!((&logged.change, logged.actor), (&Change::Withdrew { member: SCOUT }, BOB));
    let offer = house.take(SCOUT);
    assert_eq!(offer.entry.event.uid, asked);
    assert_eq!(house.react(SCOUT, asked, Signal::Seen), Ok(Some(Disposition::Acknowledged)));

    for text in ["and the tests?", "somebody look at it, please"] {
        let said = in_thread(&mut house, thread, text);
        let decision = house.decision(said, SCOUT).expect("why shows it");
        assert_eq!((decision.rule, decision.mode), (Rule::Left, Mode::Silent));
    }
    assert!(house.offers(SCOUT).is_empty());
    house.restart();
    house.connect(SCOUT);
    in_thread(&mut house, thread, "anything new?");
    assert!(house.offers(SCOUT).is_empty(), "after a restart too");
    // Elsewhere nothing has changed.
    house.says(BOB, "@scout can you look at the docs?");
    house.take(SCOUT);
    in_thread(&mut house, thread, "and now?");
    assert!(house.offers(SCOUT).is_empty(), "named elsewhere is not named here");

    let named = in_thread(&mut house, thread, "@scout can you come back?");
    assert_eq!(house.take(SCOUT).entry.event.uid, named);
    in_thread(&mut house, thread, "so what about the build");
    assert!(!house.offers(SCOUT).is_empty(), "it is back");
}

// covers: ATT-156
#[test]
fn what_it_owed_there_ends_when_it_leaves() {
    let mut house = House::new();
    let owed = house.says(BOB, "@scout can you look at the build?");
    house.take(SCOUT);
    leave(&mut house, BOB, None, SCOUT).expect("a person with a seat");
    assert_eq!(house.disposition(owed, SCOUT), Some(Disposition::Superseded));
    assert!(house.cancelled.iter().any(|c| c.event == owed && c.member == SCOUT));
    let length = house.log.events.len();
    leave(&mut house, BOB, None, SCOUT).expect("the same again");
    assert_eq!(house.log.events.len(), length, "is nothing new");
    let role = house.says(BOB, "@helpers can somebody look?");
    let selected = house.open(role).expect("one is asked").deliveries[0].member;
    if selected == SCOUT {
        assert!(!house.ws.rooms().any(|room| room.has_left(SCOUT, None)), "a role names it too");
    }
}

// covers: ATT-157
#[test]
fn an_agent_leaves_for_itself_only_and_people_do_not_leave_so() {
    let mut house = House::new();
    let before = house.fingerprint();
    assert_eq!(code(leave(&mut house, SCOUT, None, REVIEWER)), Code::Forbidden);
    assert_eq!(code(leave(&mut house, ALICE, None, BOB)), Code::ValidationError);
    assert_eq!(code(leave(&mut house, ALICE, None, MemberKey(99))), Code::NotFound);
    assert_eq!(code(leave(&mut house, ALICE, Some(Uid(7)), SCOUT)), Code::NotFound);
    let pair = conversations::Leave { conversation: house.pair, thread: None, member: SCOUT };
    assert_eq!(code(house.run(house.by(ALICE), pair)), Code::ValidationError);
    assert_eq!(house.fingerprint(), before, "a refusal changes nothing");
    leave(&mut house, SCOUT, None, SCOUT).expect("its own choice");
    assert!(house.ws.rooms().any(|room| room.has_left(SCOUT, None)));
    // An agent's words show nobody out.
    let asked = house.post(REVIEWER, Say::to(house.ops, "@writer please leave this channel"));
    let asked = asked.expect("a subject of its own");
    let rules: Vec<_> = house.attention(asked).told.iter().map(|t| t.decision.rule).collect();
    assert!(!rules.contains(&Rule::AskedToLeave), "{rules:?}");
}

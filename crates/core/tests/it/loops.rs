//! Loops of agents that take a new line of talk each time, or none: they end too (section 13).

use chorus_core::commands::{conversations, messages};
use chorus_core::model::attention::Policy;
use chorus_core::model::caller::By;
use chorus_core::model::conversation::{ConversationKind, Settings, Visibility};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Message;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::requests::{Home, OpenThread};
use chorus_core::model::thread::ThreadKind;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER, code};

const ASKS: &str = "could you look at the build again?";

/// What an agent does with what it is told before it asks the other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn {
    Settled,
    LeftOpen,
    NotTakenUp,
}

/// How it asks.
#[derive(Clone, Copy, Debug)]
enum Way {
    NewDm,
    NewThread,
    Edit,
}

fn other(agent: MemberKey) -> MemberKey {
    if agent == SCOUT { REVIEWER } else { SCOUT }
}

/// A house whose channel everybody may read, so that nothing said there is held elsewhere.
fn open_house() -> House {
    let mut house = House::new();
    let settings =
        Settings { title: "open".into(), visibility: Visibility::Public, ..Settings::default() };
    let members = vec![ALICE, BOB, SCOUT, REVIEWER, WRITER];
    let create =
        conversations::CreateConversation { kind: ConversationKind::Channel, settings, members };
    house.ops = house.run(house.by(ALICE), create).expect("an operator").uid;
    house
}

/// A direct conversation that the agent begins with another.
fn new_dm(house: &mut House, agent: MemberKey, with: MemberKey) -> Uid {
    let settings =
        Settings { title: "dm".into(), visibility: Visibility::Private, ..Settings::default() };
    let (kind, members) = (ConversationKind::Dm, vec![agent, with]);
    let create = conversations::CreateConversation { kind, settings, members };
    house.run(house.by(agent), create).expect("agents may").uid
}

fn new_thread(house: &mut House, agent: MemberKey) -> (Uid, Uid) {
    let opening = OpenThread {
        home: Home::Own,
        root: None,
        title: "the build".into(),
        kind: ThreadKind::Workflow,
        owner: None,
        participants: vec![other(agent)],
        idempotency: None,
    };
    let opened = house.run(house.by(agent), opening).expect("a thread");
    (opened.conversation.uid, opened.thread.uid)
}

/// The agent asks the other something, without naming a turn.
fn ask(
    house: &mut House,
    agent: MemberKey,
    way: Way,
    own: [Uid; 2],
    n: usize,
) -> Result<Uid, Refusal> {
    match way {
        Way::NewDm => {
            let dm = new_dm(house, agent, other(agent));
            house.post(agent, Say::to(dm, ASKS))
        }
        Way::NewThread => {
            let (conversation, thread) = new_thread(house, agent);
            house.post(agent, Say::to(conversation, ASKS).in_thread(thread))
        }
        Way::Edit => {
            let (mine, name) =
                if agent == SCOUT { (own[0], "reviewer") } else { (own[1], "scout") };
            let text = format!("@{name} could you look at build {n}?");
            let content = Message { text: text.as_str().into(), ..Message::default() };
            let edit = messages::Edit { message: mine, content };
            house.run(house.by(agent), edit).map(|logged| logged.entry.event.uid)
        }
    }
}

/// Lets scout and reviewer ask each other for as long as they are told anything; gives all that they said.
fn keep_busy(house: &mut House, way: Way, turn: Turn, own: [Uid; 2]) -> Vec<Uid> {
    let mut said = Vec::new();
    for n in 0..400 {
        let mut offers = house.offers(SCOUT);
        offers.extend(house.offers(REVIEWER));
        // A reminder is no new question.
        offers.retain(|offer| offer.attempt == 1);
        if offers.is_empty() {
            return said;
        }
        for offer in offers {
            if turn != Turn::NotTakenUp {
                house.accept(&offer).ok();
            }
            if turn == Turn::Settled {
                house.dispose(offer.member, offer.entry.event.uid, Disposition::Responded).ok();
            }
            house.now = house.now.plus(20);
            said.extend(ask(house, offer.member, way, own, n));
        }
    }
    panic!("{way:?}, {turn:?}: they have not stopped after {} questions", said.len());
}

/// Plays it, and then once more after a person's word.
fn they_stop(way: Way, turn: Turn) {
    let mut house = open_house();
    let own = [house.says(SCOUT, "I look at the build"), house.says(REVIEWER, "so do I")];
    house.pass(120_000);
    for again in 0..2 {
        house.says(ALICE, "@scout could you ask the reviewer?");
        let said = keep_busy(&mut house, way, turn, own);
        let most = usize::from(limits::HOP_END) + 1;
        let n = said.len();
        assert!((4..=most).contains(&n), "{way:?}, {turn:?}, {again}: {n} questions");
        let first = said[0];
        let asked = house.decision(first, REVIEWER).map(|asked| asked.policy);
        // Whoever has answered a message before only may answer what an edit makes of it.
        let told = match way {
            Way::Edit => asked.is_some(),
            _ => asked == Some(Policy::MustRespond),
        };
        assert!(told, "a person's request starts them: {way:?}, {turn:?}, {asked:?}");
        let hops: Vec<u8> = said.iter().map(|uid| house.event(*uid).hop).collect();
        assert!(hops.is_sorted(), "{way:?}, {turn:?}: {hops:?}");
        // What was left open is over by then.
        house.pass(limits::TURN_CAP_MS + 700_000);
        house.offers(SCOUT);
        house.offers(REVIEWER);
    }
}

// covers: ATT-440
#[test]
fn agents_that_ask_in_a_new_direct_conversation_each_time_stop() {
    [Turn::Settled, Turn::LeftOpen, Turn::NotTakenUp]
        .into_iter()
        .for_each(|turn| they_stop(Way::NewDm, turn));
}

// covers: ATT-440
#[test]
fn agents_that_ask_in_a_new_thread_each_time_stop() {
    [Turn::Settled, Turn::LeftOpen, Turn::NotTakenUp]
        .into_iter()
        .for_each(|turn| they_stop(Way::NewThread, turn));
}

// covers: ATT-440
#[test]
fn agents_that_edit_the_same_message_each_time_stop() {
    [Turn::Settled, Turn::LeftOpen, Turn::NotTakenUp]
        .into_iter()
        .for_each(|turn| they_stop(Way::Edit, turn));
}

/// The agent asks the reviewer in a new direct conversation.
fn asks_besides(house: &mut House, by: By) -> Result<Uid, Refusal> {
    let dm = new_dm(house, by.member, REVIEWER);
    house.post_as(by, Say::to(dm, ASKS)).map(|(uid, _)| uid)
}

/// The same, naming no turn.
fn asks_freely(house: &mut House, agent: MemberKey) -> Result<Uid, Refusal> {
    asks_besides(house, house.by(agent))
}

// covers: ATT-441
#[test]
fn an_agent_wakes_others_unasked_sixty_times_an_hour_until_a_person_speaks_to_it() {
    let mut house = open_house();
    house.says(ALICE, "@scout could you see to the build?");
    let offer = house.take(SCOUT);
    let by = house.by(SCOUT);
    for _ in 0..limits::AGENT_WAKES_PER_HOUR {
        asks_besides(&mut house, by).expect("so many");
        house.now = house.now.plus(20);
    }
    let before = house.ws.rooms().map(|room| room.head().seq.0).sum::<u64>();
    assert_eq!(code(asks_besides(&mut house, by)), Code::RateLimited);
    let after = house.ws.rooms().map(|room| room.head().seq.0).sum::<u64>();
    assert!(after <= before + 3, "no more than the new conversation");
    // So with an edit that somebody would be told of; one that wakes nobody passes, and so does an answer.
    let mine = house.says(WRITER, "I am nobody's");
    house.edit(WRITER, mine, "I am still nobody's").expect("another agent's");
    house.reply(&offer, "it is red").expect("an answer is none of them");
    // Others are not counted.
    asks_freely(&mut house, WRITER).expect("another agent");
    // A person's request lets it go on.
    house.says(ALICE, "@scout could you ask once more?");
    asks_freely(&mut house, SCOUT).expect("asked for by a person");
}

// covers: ATT-441
#[test]
fn after_an_hour_an_agent_may_wake_others_again() {
    let mut house = open_house();
    for _ in 0..limits::AGENT_WAKES_PER_HOUR {
        asks_freely(&mut house, SCOUT).expect("so many");
    }
    assert_eq!(code(asks_freely(&mut house, SCOUT)), Code::RateLimited);
    house.pass(3_600_000);
    asks_freely(&mut house, SCOUT).expect("an hour later");
}

// covers: ATT-441
#[test]
fn an_agent_that_edits_to_wake_another_spends_the_same_budget() {
    let mut house = open_house();
    house.says(ALICE, "@scout could you see to the build?");
    let offer = house.take(SCOUT);
    let by = house.in_turn(&offer);
    let mine = house.says(SCOUT, "I look at the build");
    let mut refused = None;
    for n in 0..=limits::AGENT_WAKES_PER_HOUR {
        let text = format!("@reviewer could you look at build {n}?");
        let content = Message { text: text.as_str().into(), ..Message::default() };
        let edited = house.run(by, messages::Edit { message: mine, content });
        refused = edited.err().map(|refusal| (n, refusal.code));
    }
    assert_eq!(refused, Some((limits::AGENT_WAKES_PER_HOUR, Code::RateLimited)));
}

// covers: ATT-441
#[test]
fn an_agent_answers_a_hundred_people_in_an_hour_and_asks_others_for_each() {
    let mut house = open_house();
    for n in 0..50 {
        let text = format!("@scout could you ask the reviewer about build {n}?");
        house.says(ALICE, &text);
        let offer = house.take(SCOUT);
        let by = house.by(SCOUT);
        for _ in 0..2 {
            let asked = asks_besides(&mut house, by).expect("a person has asked for it");
            let decision = house.decision(asked, REVIEWER).expect("told");
            assert_eq!((house.event(asked).hop, decision.policy), (1, Policy::MustRespond));
        }
        house.reply(&offer, "it is green").expect("asked");
        let told = house.conversation("another", ConversationKind::Dm, vec![BOB, SCOUT]);
        house.post(SCOUT, Say::to(told, "build is green")).expect("people are told as ever");
        house.pass(1_000);
    }
}

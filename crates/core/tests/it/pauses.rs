//! Section 13, the no-human budget: agents that talk without a person pause, and go on by a person's word.

use chorus_core::commands::{conversations, directory, threads, turns};
use chorus_core::model::attention::{Directedness, Rule};
use chorus_core::model::caller::By;
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::model::offer::Offer;
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::{OpenThread, SettingsPatch};
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use chorus_core::model::turn::RulesPatch;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER, code};

/// A line of talk of two agents.
#[derive(Clone, Copy)]
struct Line {
    conversation: Uid,
    thread: Option<Uid>,
}

impl Line {
    fn say(self, text: &str) -> Say {
        let say = Say::to(self.conversation, text);
        match self.thread {
            Some(thread) => say.in_thread(thread),
            None => say,
        }
    }
}

/// A direct conversation of scout and reviewer that no person is in.
fn dm(house: &mut House) -> Line {
    let settings = chorus_core::model::conversation::Settings {
        title: "two agents".into(),
        visibility: chorus_core::model::conversation::Visibility::Private,
        ..chorus_core::model::conversation::Settings::default()
    };
    let members = vec![REVIEWER];
    let command =
        conversations::CreateConversation { kind: ConversationKind::Dm, settings, members };
    let made = house.run(house.by(SCOUT), command).expect("agents may");
    Line { conversation: made.uid, thread: None }
}

fn thread(house: &mut House, kind: ThreadKind) -> Line {
    let opening = OpenThread {
        home: house.ops.into(),
        root: None,
        title: "deploy".into(),
        kind,
        owner: None,
        participants: vec![SCOUT, REVIEWER],
        idempotency: None,
    };
    let thread = house.run(house.by(ALICE), opening).expect("a thread").thread;
    // Turns would end what they say sooner.
    let turns = RulesPatch {
        speakers: Some(limits::TURN_SPEAKERS),
        replies: Some(limits::TURN_REPLIES),
        cooldown_ms: Some(0),
        acceptance_ms: None,
    };
    let settings = SettingsPatch { turns, ..SettingsPatch::default() };
    let conversation = house.ops;
    let change = conversations::ChangeConversation { conversation, settings };
    house.run(house.by(ALICE), change).expect("an operator");
    Line { conversation: house.ops, thread: Some(thread.uid) }
}

/// Two eager agents: each answers whatever it is offered, and opens a new subject when it is offered nothing.
/// Gives how much they said before both were refused, and the last thing said.
fn let_them_talk(house: &mut House, line: Line) -> (u32, Option<Uid>) {
    let (mut said, mut last) = (0, None);
    for round in 0..2_000 {
        let mut refused = 0;
        for agent in [SCOUT, REVIEWER] {
            let other = if agent == SCOUT { "reviewer" } else { "scout" };
            let text = format!("@{other} could you look at number {round}?");
            let mut spoke = false;
            for offer in house.offers(agent) {
                house.accept(&offer).expect("an offer");
                if let Ok(uid) = house.reply(&offer, &text) {
                    (said, last, spoke) = (said + 1, Some(uid), true);
                }
            }
            if spoke {
                continue;
            }
            match house.post(agent, line.say(&text)) {
                Ok(uid) => (said, last) = (said + 1, Some(uid)),
                Err(refusal) => {
                    // Of a turn that has said its five as well: then a minute makes it a new subject.
                    assert_eq!(refusal.code, Code::ReplyBudgetSpent, "{refusal}");
                    refused += u32::from(paused(house, line));
                }
            }
        }
        if refused == 2 {
            return (said, last);
        }
        house.pass(20_000);
    }
    panic!("they have not stopped after {said} messages");
}

fn go_on(house: &mut House, member: MemberKey, line: Line) -> Result<bool, Refusal> {
    let command = turns::Continue { conversation: line.conversation, thread: line.thread };
    house.run(house.by(member), command).map(|continued| continued.was_paused)
}

fn paused(house: &House, line: Line) -> bool {
    let rooms = &mut house.ws.rooms();
    let room = rooms.find(|r| r.conversation().uid == line.conversation).expect("a room");
    let thread = line
        .thread
        .map(|uid| room.threads().values().find(|t| t.uid == uid).expect("a thread").key);
    house.ws.is_paused(room, thread)
}

// covers: ATT-170, ATT-171, ATT-172
#[test]
fn two_eager_agents_stop_without_a_person_and_go_on_with_one() {
    type Make = fn(&mut House) -> Line;
    let rows: [(&str, Make, u32); 4] = [
        ("a direct conversation", dm, limits::NO_HUMAN_WORK),
        ("a workflow", |h| thread(h, ThreadKind::Workflow), limits::NO_HUMAN_WORK),
        ("an incident", |h| thread(h, ThreadKind::Incident), limits::NO_HUMAN_WORK),
        ("a conversation thread", |h| thread(h, ThreadKind::Conversation), limits::NO_HUMAN_TALK),
    ];
    for (what, make, most) in rows {
        let mut house = House::new();
        let line = make(&mut house);
        let (said, last) = let_them_talk(&mut house, line);
        assert_eq!(said, most, "{what}");
        assert!(paused(&house, line), "{what}");
        // The lead is told by the event that spent the budget, by a rule of its own.
        let last = last.expect("they talked");
        let word = house.decision(last, ALICE).expect("the lead is told");
        assert_eq!((word.rule, word.directedness), (Rule::BudgetSpent, Directedness::ToMyRole));
        // Agents are told nothing while it lasts, and after a restart it is as it was.
        for agent in [SCOUT, REVIEWER] {
            house.pass(3_600_000);
            assert!(house.offers(agent).is_empty(), "{what}");
        }
        house.restart();
        assert!(paused(&house, line), "{what}");
        for agent in [SCOUT, REVIEWER] {
            house.connect(agent);
            assert!(house.offers(agent).is_empty(), "{what}");
            let more = house.post(agent, line.say("once more"));
            assert_eq!(code(more), Code::ReplyBudgetSpent, "{what}");
        }
        // With a person's word they go on, for as long again.
        assert!(go_on(&mut house, ALICE, line).expect("the lead may"), "{what}");
        assert!(!paused(&house, line), "{what}");
        let (again, _) = let_them_talk(&mut house, line);
        assert_eq!(again, most, "{what}");
    }
}

// covers: ATT-172, ATT-173
#[test]
fn an_obligations_clock_stands_still_while_its_line_is_paused() {
    let mut house = House::new();
    let line = thread(&mut house, ThreadKind::Workflow);
    for n in 1..limits::NO_HUMAN_WORK {
        let say = line.say(&format!("step {n} is done")).meant(Directedness::Ambient);
        house.post(SCOUT, say).expect("within the budget");
    }
    house.offers(REVIEWER);
    let last = house.post(SCOUT, line.say("@reviewer can you check step 50?")).expect("the 50th");
    assert!(house.offers(REVIEWER).is_empty(), "held back");
    house.pass(6 * i64::from(limits::DEADLINE_MS));
    let held = house.delivery(last, REVIEWER).expect("its own");
    assert!(held.is_open() && held.is_obligation() && held.stands_still(), "{held:?}");
    assert_eq!(house.open(last).expect("open").deliveries.len(), 1, "nothing has moved on");
    // A restart in between changes nothing of it.
    house.restart();
    house.connect(REVIEWER);
    house.pass(6 * i64::from(limits::DEADLINE_MS));
    assert!(house.delivery(last, REVIEWER).expect("its own").stands_still());

    house.post(BOB, line.say("go on")).expect("people are never refused");
    let offers = house.offers(REVIEWER);
    assert!(offers.iter().any(|o| o.entry.event.uid == last), "what was held back is offered");
    let held = house.delivery(last, REVIEWER).expect("its own");
    assert!(!held.stands_still() && held.is_obligation());
    // Its whole time is left to it, and then runs out as ever.
    house.pass(i64::from(limits::DEADLINE_MS) - 10_000);
    assert!(house.delivery(last, REVIEWER).expect("its own").is_obligation());
    house.pass(20_000);
    assert!(!house.delivery(last, REVIEWER).expect("its own").is_obligation(), "overdue");
}

// covers: ATT-170, ATT-173, ATT-177
#[test]
fn work_under_way_when_its_line_pauses_is_offered_again_when_that_goes_on() {
    let mut house = House::new();
    let line = thread(&mut house, ThreadKind::Conversation);
    let [said, failed] = [SCOUT, WRITER].map(|agent| {
        let text = if agent == SCOUT { "@scout can you look?" } else { "@writer can you look?" };
        house.post(ALICE, line.say(text)).expect("a person");
        house.take(agent)
    });
    for n in 0..limits::NO_HUMAN_TALK {
        let say = line.say(&format!("step {n} is done")).meant(Directedness::Ambient);
        house.post(REVIEWER, say).expect("within the budget");
    }
    house.offers(SCOUT);
    house.offers(WRITER);
    // One has its answer ready, and says that it holds it; the other gives up.
    assert_eq!(code(house.reply(&said, "it is fine")), Code::ReplyBudgetSpent);
    let event = said.entry.event.uid;
    let held = house.dispose(SCOUT, event, Disposition::Claimed).expect("its own");
    assert_eq!(held, Disposition::Claimed);
    house.dispose(WRITER, failed.entry.event.uid, Disposition::Failed).expect("its own");
    house.pass(6 * i64::from(limits::DEADLINE_MS));
    assert!(house.offers(SCOUT).is_empty() && house.offers(WRITER).is_empty());

    assert!(go_on(&mut house, ALICE, line).expect("the lead may"));
    let offers = house.offers(SCOUT);
    let again = offers.iter().find(|o| o.entry.event.uid == event).expect("offered again");
    assert_eq!((again.attempt, again.fence), (said.attempt + 1, said.fence), "in the same turn");
    house.reply(&said, "it is fine").expect("now it may");
    assert_eq!(house.disposition(event, SCOUT), Some(Disposition::Responded));
    // Whoever failed meanwhile is asked anew: what that run still says is stale.
    let offers = house.offers(WRITER);
    let same = |o: &&Offer| o.entry.event.uid == failed.entry.event.uid;
    let anew = offers.iter().find(same).expect("offered again");
    assert_eq!(anew.fence, failed.fence + 1);
    assert_eq!(code(house.reply(&failed, "after all")), Code::StaleTurn);
    house.reply(anew, "it is fine").expect("now it may");
}

// covers: ATT-172
#[test]
fn a_person_a_status_and_a_setting_let_a_line_go_on_and_an_agent_does_not() {
    let mut house = House::new();
    let line = thread(&mut house, ThreadKind::Conversation);
    let uid = line.thread.expect("a thread");
    type Go = fn(&mut House, Line);
    let rows: [(&str, Go); 5] = [
        ("a message", |h, l| {
            h.post(BOB, l.say("well?")).expect("a person");
        }),
        ("the message to the host", |h, l| {
            let event = h.post(BOB, l.say("@chorus continue")).expect("a person");
            assert!(h.attention(event).told.is_empty(), "it wakes nobody");
        }),
        ("a status", |h, l| {
            let (status, reason) = (Some(ThreadStatus::Blocked), "waits".into());
            let thread = l.thread.expect("a thread");
            let change = threads::ChangeThread {
                thread,
                status,
                owner: None,
                reason,
                summary: None,
                note: None,
            };
            h.run(h.by(SCOUT), change).expect("agents set a status");
            let (status, reason) = (Some(ThreadStatus::Active), "".into());
            let change = threads::ChangeThread {
                thread,
                status,
                owner: None,
                reason,
                summary: None,
                note: None,
            };
            h.run(h.by(SCOUT), change).expect("agents set a status");
        }),
        ("the command", |h, l| assert!(go_on(h, BOB, l).expect("a person"))),
        ("a larger budget", |h, l| {
            let settings =
                SettingsPatch { agent_budget: Some(Some(100)), ..SettingsPatch::default() };
            let change =
                conversations::ChangeConversation { conversation: l.conversation, settings };
            h.run(h.by(ALICE), change).expect("an operator");
        }),
    ];
    for (what, go) in rows {
        let_them_talk(&mut house, line);
        assert!(paused(&house, line), "{what}");
        // Reactions, and the status, still work.
        let heard = house.says(ALICE, "a message elsewhere");
        house.react(SCOUT, heard, Signal::Seen).expect("reactions are free");
        assert_eq!(code(go_on(&mut house, SCOUT, line)), Code::Forbidden, "{what}");
        let own = house.post(SCOUT, line.say("@chorus continue"));
        assert_eq!(code(own), Code::ReplyBudgetSpent, "{what}");
        go(&mut house, line);
        assert!(!paused(&house, line), "{what}");
        house.post(SCOUT, line.say("thank you")).expect("it goes on");
    }
    // Where nothing is paused the command changes nothing.
    let before = house.fingerprint();
    let other = Line { thread: Some(uid), ..line };
    assert!(!go_on(&mut house, BOB, other).expect("a person"));
    assert_eq!(house.fingerprint(), before);
}

// covers: ATT-174
#[test]
fn a_channel_counts_nothing_unless_it_says_so() {
    let mut house = House::new();
    let ops = Line { conversation: house.ops, thread: None };
    for (budget, code_is) in
        [(Some(0), Code::ValidationError), (Some(10_001), Code::ValidationError)]
    {
        let settings = SettingsPatch { agent_budget: Some(budget), ..SettingsPatch::default() };
        let change = conversations::ChangeConversation { conversation: house.ops, settings };
        assert_eq!(code(house.run(house.by(ALICE), change)), code_is);
    }
    assert!(!paused(&house, ops));
    let settings = SettingsPatch { agent_budget: Some(Some(2)), ..SettingsPatch::default() };
    let change = conversations::ChangeConversation { conversation: house.ops, settings };
    house.run(house.by(ALICE), change).expect("an operator");
    house.says(SCOUT, "one");
    house.says(WRITER, "two");
    assert_eq!(code(house.post(REVIEWER, ops.say("three"))), Code::ReplyBudgetSpent);
    house.says(ALICE, "fine");
    house.says(REVIEWER, "three");
}

// covers: ATT-175
#[test]
fn the_hosts_own_name_is_kept_and_other_words_to_it_are_explained() {
    let mut house = House::new();
    for (id, handle) in [("chorus", None), ("choir", Some("Chorus".to_owned()))] {
        let fields = MemberFields { handle, ..MemberFields::default() };
        let (id, kind) = (id.into(), MemberKind::Agent);
        let added = house.run(By::host(), directory::AddMember { id, kind, fields });
        assert_eq!(code(added), Code::Conflict);
    }
    let role = house.run(By::host(), directory::AddRole { name: "CHORUS".into() });
    assert_eq!(code(role), Code::Conflict);
    let before = house.fingerprint();
    let other = house.post(ALICE, Say::to(house.ops, "@chorus dance"));
    let refusal = other.expect_err("the host does not dance");
    assert_eq!(refusal.code, Code::ValidationError);
    assert!(refusal.message.contains("@chorus continue"), "{refusal}");
    assert_eq!(house.fingerprint(), before);
}

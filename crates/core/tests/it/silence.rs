//! Threads that fall silent are asked, once, what became of them.

use std::sync::Arc;

use chorus_core::commands::{conversations, directory, stimuli, threads};
use chorus_core::model::conversation::Conversation;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Event;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::requests::{OpenThread, SettingsPatch};
use chorus_core::model::stimulus::{RulesPatch, Stimulus, StimulusKind, StimulusState};
use chorus_core::model::thread::work::{WorkChange, WorkStatus};
use chorus_core::model::thread::{ThreadKind, ThreadStatus};

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, code};
use crate::stimuli::{said, stimuli};

const IDLE: i64 = 3_600_000;

fn wait_for(house: &mut House, idle: Option<i64>) -> Result<Arc<Conversation>, Refusal> {
    let settings = SettingsPatch { idle_followup: Some(idle), ..SettingsPatch::default() };
    let change = conversations::ChangeConversation { conversation: house.ops, settings };
    house.run(house.by(ALICE), change)
}

fn thread(house: &mut House, kind: ThreadKind, owner: Option<MemberKey>) -> Uid {
    let root = Some(house.says(BOB, "about the cache"));
    let opening = OpenThread {
        home: house.ops.into(),
        root,
        title: "the cache".into(),
        kind,
        owner,
        participants: Vec::new(),
        idempotency: None,
    };
    house.run(house.by(BOB), opening).unwrap().thread.uid
}

/// What was said of that kind.
fn asked(house: &House) -> Vec<Arc<Event>> {
    said(house)
}

fn waiting(house: &House) -> Vec<Arc<Stimulus>> {
    let of = |s: &&Arc<Stimulus>| s.kind == StimulusKind::ThreadIdleFollowup;
    stimuli(house).values().filter(of).cloned().collect()
}

fn set_status(house: &mut House, thread: Uid, status: ThreadStatus) {
    let (status, reason) = (Some(status), "".into());
    let change =
        threads::ChangeThread { thread, status, owner: None, reason, summary: None, note: None };
    house.run(house.by(ALICE), change).unwrap();
}

// covers: CHN-150, CHN-151, CHN-152
#[test]
fn a_silent_thread_is_asked_once_and_again_after_a_word() {
    let mut house = House::new();
    wait_for(&mut house, Some(IDLE)).unwrap();
    let about = thread(&mut house, ThreadKind::Conversation, Some(SCOUT));
    house.pass(IDLE / 2);
    let say = Say::to(house.ops, "I look at it").in_thread(about);
    house.post(BOB, say).unwrap();
    house.pass(IDLE - 10_000);
    assert!(asked(&house).is_empty(), "it was not silent for so long");
    house.offers(SCOUT);
    house.pass(20_000);
    let all = asked(&house);
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].actor, all[0].thread.is_some(), all[0].hop), (ALICE, true, 1));
    let text = &all[0].change.message().unwrap().text;
    assert_eq!(&**text, "Nothing was said about \"the cache\" for 60 minutes. What became of it?");
    assert_eq!(house.offer(SCOUT).entry.event.uid, all[0].uid, "its owner is asked");

    // Nobody says anything: it is not asked again, however long that goes on.
    house.pass(5 * IDLE);
    assert_eq!(asked(&house).len(), 1);
    house.post(BOB, Say::to(house.ops, "nothing yet").in_thread(about)).unwrap();
    house.pass(IDLE + 5_000);
    assert_eq!(asked(&house).len(), 2, "what was said since has become silent too");
}

// covers: CHN-151
#[test]
fn only_active_conversations_whose_work_goes_on_are_asked() {
    let mut house = House::new();
    wait_for(&mut house, Some(IDLE)).unwrap();
    thread(&mut house, ThreadKind::Workflow, None);
    thread(&mut house, ThreadKind::Incident, None);
    for status in [ThreadStatus::Blocked, ThreadStatus::Resolved, ThreadStatus::Closed] {
        let one = thread(&mut house, ThreadKind::Conversation, None);
        set_status(&mut house, one, status);
    }
    let done = thread(&mut house, ThreadKind::Conversation, None);
    let status = Some(WorkStatus::Completed);
    let change = Box::new(WorkChange { status, ..WorkChange::default() });
    house.run(house.by(BOB), threads::ChangeWork { thread: done, change }).unwrap();
    let back = thread(&mut house, ThreadKind::Conversation, None);
    set_status(&mut house, back, ThreadStatus::Resolved);
    house.pass(2 * IDLE);
    assert_eq!(asked(&house).len(), 0);
    set_status(&mut house, back, ThreadStatus::Active);
    house.pass(IDLE - 5_000);
    assert_eq!(asked(&house).len(), 0, "what is open again is silent from then on");
    house.pass(10_000);
    assert_eq!(asked(&house).len(), 1);
}

// covers: CHN-152
#[test]
fn what_was_called_off_is_asked_when_more_was_said() {
    let mut house = House::new();
    wait_for(&mut house, Some(IDLE)).unwrap();
    let about = thread(&mut house, ThreadKind::Conversation, None);
    house.pass(IDLE);
    let made = waiting(&house).remove(0);
    assert!(made.state.is_open());
    let (conversation, stimulus) = (house.ops, made.uid);
    let cancel = stimuli::SteerStimulus { conversation, stimulus, again: false };
    house.run(house.by(BOB), cancel).unwrap();
    house.pass(IDLE);
    house.restart();
    house.pass(2 * IDLE);
    assert!(asked(&house).is_empty());
    assert_eq!(waiting(&house).len(), 1);
    house.post(BOB, Say::to(house.ops, "once more").in_thread(about)).unwrap();
    house.pass(IDLE + 5_000);
    assert_eq!(asked(&house).len(), 1);
}

// covers: CHN-153
#[test]
fn it_is_the_leads_word_else_that_of_who_began_the_thread() {
    let ask = |of: fn(&mut House)| {
        let mut house = House::new();
        of(&mut house);
        wait_for(&mut house, Some(IDLE)).unwrap();
        thread(&mut house, ThreadKind::Conversation, Some(REVIEWER));
        house.pass(IDLE + 10_000);
        asked(&house).first().map(|event| event.actor)
    };
    let leave = |house: &mut House, member| {
        let conversation = house.ops;
        house.run(house.by(ALICE), conversations::RemoveSeat { conversation, member }).unwrap();
    };
    assert_eq!(ask(|_| {}), Some(ALICE), "the workspace's lead");
    let lead = |house: &mut House| {
        let settings = SettingsPatch { lead: Some(Some(BOB)), ..SettingsPatch::default() };
        let change = conversations::ChangeConversation { conversation: house.ops, settings };
        house.run(house.by(ALICE), change).unwrap();
    };
    assert_eq!(ask(lead), Some(BOB), "the channel's lead");
    let nobody = |house: &mut House| {
        house
            .run(chorus_core::model::caller::By::host(), directory::SetLead { member: None })
            .unwrap();
    };
    assert_eq!(ask(nobody), Some(BOB), "who began the thread");

    let mut house = House::new();
    nobody(&mut house);
    wait_for(&mut house, Some(IDLE)).unwrap();
    thread(&mut house, ThreadKind::Conversation, None);
    leave(&mut house, BOB);
    house.pass(IDLE + 200_000);
    assert!(asked(&house).is_empty() && waiting(&house).is_empty(), "nobody could say it");
    let (conversation, member) = (house.ops, BOB);
    let participation = Default::default();
    let seat =
        conversations::SetSeat { conversation, member, participation, terms: Default::default() };
    house.run(house.by(ALICE), seat).unwrap();
    house.pass(70_000);
    assert_eq!(asked(&house).len(), 1, "somebody can again");
}

// covers: CHN-150, CHN-154
#[test]
fn many_silent_threads_are_asked_a_few_at_a_time_within_the_queue() {
    let mut house = House::new();
    for _ in 0..6 {
        thread(&mut house, ThreadKind::Conversation, None);
    }
    let stimuli = RulesPatch { pending: Some(2), ..RulesPatch::default() };
    let settings = SettingsPatch { stimuli, ..SettingsPatch::default() };
    let few = conversations::ChangeConversation { conversation: house.ops, settings };
    house.run(house.by(ALICE), few).unwrap();
    house.pass(2 * IDLE);
    assert!(waiting(&house).is_empty(), "none is waited for unless the channel says so");
    wait_for(&mut house, Some(IDLE)).unwrap();
    house.pass(1_000);
    assert_eq!(waiting(&house).len(), 2, "the queue is full");
    house.pass(59_000);
    assert_eq!(asked(&house).len(), 2);
    house.pass(240_000);
    assert_eq!(asked(&house).len(), 6, "the others later");

    let mut house = House::new();
    for _ in 0..6 {
        thread(&mut house, ThreadKind::Conversation, None);
    }
    house.pass(IDLE);
    wait_for(&mut house, Some(IDLE)).unwrap();
    house.pass(30_000);
    assert_eq!(asked(&house).len(), 4);
    house.pass(60_000);
    assert_eq!(asked(&house).len(), 6);
}

// covers: CHN-152
#[test]
fn where_agents_pause_nobody_is_asked() {
    let mut house = House::new();
    let budget = Some(Some(1));
    let settings = SettingsPatch { agent_budget: budget, ..SettingsPatch::default() };
    let change = conversations::ChangeConversation { conversation: house.ops, settings };
    house.run(house.by(ALICE), change).unwrap();
    wait_for(&mut house, Some(IDLE)).unwrap();
    let about = thread(&mut house, ThreadKind::Conversation, None);
    house.post(SCOUT, Say::to(house.ops, "I have looked").in_thread(about)).unwrap();
    house.pass(3 * IDLE);
    assert!(waiting(&house).is_empty(), "a person was told that agents pause");
}

// covers: CHN-152
#[test]
fn a_restart_asks_what_was_missed_and_nothing_twice() {
    let mut house = House::new();
    wait_for(&mut house, Some(IDLE)).unwrap();
    thread(&mut house, ThreadKind::Conversation, None);
    house.pass(IDLE / 2);
    house.restart();
    house.pass(IDLE / 2 + 5_000);
    assert_eq!(asked(&house).len(), 1);
    house.restart();
    house.pass(3 * IDLE);
    assert_eq!(asked(&house).len(), 1);
    let ends = waiting(&house);
    assert_eq!(ends.iter().map(|s| s.state).collect::<Vec<_>>(), [StimulusState::Dispatched]);
}

// covers: CHN-150
#[test]
fn how_long_is_bounded_and_may_be_never() {
    let mut house = House::new();
    let before = house.log.events.len();
    for bad in [0, -1, 59_999, 31 * 86_400_000 + 1, i64::MAX, i64::MIN] {
        assert_eq!(code(wait_for(&mut house, Some(bad))), Code::ValidationError, "{bad}");
    }
    assert_eq!(house.log.events.len(), before);
    for good in [60_000, 31 * 86_400_000] {
        wait_for(&mut house, Some(good)).unwrap();
    }
    wait_for(&mut house, Some(60_000)).unwrap();
    thread(&mut house, ThreadKind::Conversation, None);
    wait_for(&mut house, None).unwrap();
    house.pass(IDLE);
    assert!(waiting(&house).is_empty());
}

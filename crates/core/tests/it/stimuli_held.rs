//! What the host makes while a channel's queue is full: it is held, and said when there is room.

use chorus_core::commands::{conversations, stimuli, threads};
use chorus_core::model::error::Code;
use chorus_core::model::ids::Uid;
use chorus_core::model::limits;
use chorus_core::model::project::TaskState;
use chorus_core::model::requests::SettingsPatch;
use chorus_core::model::stimulus::{RulesPatch, StimulusKind, StimulusState, queue};
use chorus_core::model::thread::work::{WorkChange, WorkStatus};

use crate::house::{ALICE, House, SCOUT, WRITER, code};
use crate::projects::{create, linking, open_thread, set, task};
use crate::stimuli::{ask, idea, said, stimuli};

/// Many ideas wait already.
fn full(pending: u16) -> House {
    let mut house = House::new();
    let stimuli = RulesPatch { pending: Some(pending), ..RulesPatch::default() };
    let settings = SettingsPatch { stimuli, ..SettingsPatch::default() };
    let change = conversations::ChangeConversation { conversation: house.ops, settings };
    house.run(house.by(ALICE), change).unwrap();
    for n in 0..pending {
        ask(SCOUT, idea(&house, &format!("idea {n}")), &mut house).unwrap();
    }
    house
}

fn held(house: &House) -> usize {
    queue::held(&stimuli(house)).count()
}

fn of(house: &House, kind: StimulusKind) -> Vec<(Uid, StimulusState)> {
    stimuli(house).values().filter(|s| s.kind == kind).map(|s| (s.uid, s.state)).collect()
}

// covers: CHN-95, CHN-183
#[test]
fn what_is_made_while_the_queue_is_full_is_said_when_there_is_room() {
    let mut house = full(2);
    let ops = house.ops;
    let project = create(&mut house, &[SCOUT], vec![linking(ops, false)]).uid;
    for _ in 0..2 {
        let task = task(&mut house, project, Some("scout"), &[]);
        set(&mut house, SCOUT, project, task, TaskState::Done).unwrap();
    }
    let thread = open_thread(&mut house, ops, WRITER);
    let over = WorkChange { status: Some(WorkStatus::Superseded), ..WorkChange::default() };
    let change = threads::ChangeWork { thread, change: Box::new(over) };
    house.run(house.by(ALICE), change).unwrap();
    assert_eq!((held(&house), queue::waiting(&stimuli(&house))), (3, 2), "within the cap");
    let more = ask(SCOUT, idea(&house, "one more"), &mut house);
    assert_eq!(code(more), Code::RateLimited);
    house.restart();
    assert_eq!(held(&house), 3);

    // The first idea is said, and the first that was held takes its place.
    house.pass(2_000);
    assert_eq!(held(&house), 2);
    let tasks = of(&house, StimulusKind::TaskCompleted);
    let states: Vec<_> = tasks.iter().map(|(_, state)| *state).collect();
    assert_eq!(states, [StimulusState::Pending, StimulusState::Held], "the oldest first");
    // One that is held may be called off like one that waits.
    let notice = of(&house, StimulusKind::SupersessionNotice)[0].0;
    let call_off = |uid| stimuli::SteerStimulus { conversation: ops, stimulus: uid, again: false };
    house.run(house.by(ALICE), call_off(notice)).unwrap();
    assert_eq!(of(&house, StimulusKind::SupersessionNotice)[0].1, StimulusState::Cancelled);
    // And room comes of one that is called off, too.
    let waits = of(&house, StimulusKind::AgentIdea);
    let waits = waits.iter().find(|(_, state)| *state == StimulusState::Pending).unwrap().0;
    house.run(house.by(ALICE), call_off(waits)).unwrap();
    assert_eq!((held(&house), queue::waiting(&stimuli(&house))), (0, 2));
    house.pass(3 * 3_600_000);
    let texts: Vec<_> =
        said(&house).iter().map(|e| e.change.message().unwrap().text.clone()).collect();
    let told = texts.iter().filter(|text| text.starts_with("The task")).count();
    assert_eq!(told, 2, "{texts:?}");
    assert!(
        of(&house, StimulusKind::TaskCompleted)
            .iter()
            .all(|(_, s)| *s == StimulusState::Dispatched)
    );
}

// covers: CHN-95
#[test]
fn a_task_is_not_done_where_it_could_never_be_said() {
    let mut house = full(1);
    let ops = house.ops;
    let project = create(&mut house, &[SCOUT], vec![linking(ops, false)]).uid;
    for _ in 0..limits::STIMULI_HELD {
        let task = task(&mut house, project, Some("scout"), &[]);
        set(&mut house, SCOUT, project, task, TaskState::Done).unwrap();
    }
    assert_eq!(held(&house), limits::STIMULI_HELD);
    let project = create(&mut house, &[SCOUT], vec![linking(ops, false)]).uid;
    let last = task(&mut house, project, Some("scout"), &[]);
    let before = (house.fingerprint(), stimuli(&house));
    let refused = set(&mut house, SCOUT, project, last, TaskState::Done);
    assert_eq!(code(refused), Code::RateLimited);
    assert_eq!((house.fingerprint(), stimuli(&house)), before);
    let begun = set(&mut house, SCOUT, project, last, TaskState::InProgress).unwrap();
    assert_eq!(begun.state, TaskState::InProgress, "anything else may become of it");
    let first = queue::held(&stimuli(&house)).next().unwrap().uid;
    let call_off = stimuli::SteerStimulus { conversation: ops, stimulus: first, again: false };
    house.run(house.by(ALICE), call_off).unwrap();
    set(&mut house, SCOUT, project, last, TaskState::Done).unwrap();
    assert_eq!(held(&house), limits::STIMULI_HELD);
}

//! Stimuli of agents, judged as their messages are.

use chorus_core::codec;
use chorus_core::commands::{schedules, stimuli};
use chorus_core::model::attention::Policy;
use chorus_core::model::error::Code;
use chorus_core::model::limits;
use chorus_core::model::requests::NewStimulus;
use chorus_core::model::schedule::{NewSchedule, Schedule, SchedulePatch, When};
use chorus_core::model::stimulus::{Chain, StimulusState};
use chorus_core::model::thread::ThreadKind;

use crate::house::{ALICE, House, REVIEWER, SCOUT, Say, WRITER, code};
use crate::stimuli::{ask, idea, said, stimuli};

fn thread(house: &mut House, kind: ThreadKind) -> chorus_core::model::ids::Uid {
    let opening = chorus_core::model::requests::OpenThread {
        home: house.ops.into(),
        root: None,
        title: "talk".into(),
        kind,
        owner: None,
        participants: vec![SCOUT, REVIEWER],
        idempotency: None,
    };
    house.run(house.by(ALICE), opening).expect("a person").thread.uid
}

// covers: CHN-420
#[test]
fn a_stimulus_is_one_hop_further_than_the_turn_that_it_was_asked_for_in() {
    let mut house = House::new();
    let thread = thread(&mut house, ThreadKind::Workflow);
    let pair = [SCOUT, REVIEWER];
    let new = |house: &House, n: usize| NewStimulus {
        thread: Some(thread),
        targets: vec![pair[(n + 1) % 2]],
        ..idea(house, &format!("what do you think of part {n}?"))
    };
    let first = new(&house, 0);
    ask(SCOUT, first, &mut house).expect("nobody has spoken yet");
    for n in 1..40 {
        house.pass(2_000);
        let mut offers = house.offers(pair[n % 2]);
        let Some(offer) = offers.pop() else { break };
        house.accept(&offer).expect("offered");
        let command = stimuli::Stimulate(new(&house, n));
        house.run(house.in_turn(&offer), command).expect("in its turn");
    }
    let all = said(&house);
    let hops: Vec<u8> = all.iter().map(|event| event.hop).collect();
    let counted: Vec<u8> = (1..=hops.len() as u8).collect();
    assert_eq!(hops, counted);
    assert_eq!(hops.len(), usize::from(limits::HOP_END), "the last wakes nobody");
    assert!(all.iter().skip(1).all(|event| event.cause.is_some()));
    let told = |hop: u8| &all[usize::from(hop) - 1].attention.as_ref().expect("decided").told;
    assert!(told(1).iter().any(|t| t.decision.policy == Policy::MustRespond));
    let late = told(limits::HOP_NO_OBLIGATION);
    assert!(late.iter().all(|t| t.decision.policy != Policy::MustRespond), "{late:?}");
}

// covers: CHN-421
#[test]
fn stimuli_of_agents_count_against_what_they_may_say_without_a_person() {
    let mut house = House::new();
    let thread = thread(&mut house, ThreadKind::Conversation);
    let new = |house: &House, n: usize| NewStimulus {
        thread: Some(thread),
        targets: vec![WRITER],
        ..idea(house, &format!("what do you think of part {n}?"))
    };
    for n in 0..limits::NO_HUMAN_TALK as usize {
        let asked = new(&house, n);
        ask(SCOUT, asked, &mut house).expect("within the budget");
        house.pass(2_000);
    }
    assert_eq!(said(&house).len(), limits::NO_HUMAN_TALK as usize);
    let more = new(&house, 90);
    assert_eq!(code(ask(SCOUT, more, &mut house)), Code::ReplyBudgetSpent);
    // Without a target that is not known before its time; one that names somebody is called off then.
    let more = NewStimulus { targets: Vec::new(), ..new(&house, 91) };
    let more = NewStimulus { text: "@writer what do you think?".into(), ..more };
    let asked = ask(SCOUT, more, &mut house).expect("it may be for nobody");
    house.pass(2_000);
    assert_eq!(stimuli(&house)[&asked.uid].state, StimulusState::Cancelled);
    // What a person asks for is not an agent's.
    let more = new(&house, 92);
    let asked = ask(ALICE, more, &mut house).expect("a person");
    house.pass(2_000);
    assert_eq!(stimuli(&house)[&asked.uid].state, StimulusState::Dispatched);
}

// covers: CHN-420
#[test]
fn a_schedule_keeps_the_hop_of_its_turn_in_its_row_and_in_its_firings() {
    let mut house = House::new();
    house.says(ALICE, "@scout can you look after the build?");
    let offer = house.take(SCOUT);
    let new = |source| NewSchedule {
        when: When::Every(60_000),
        source,
        thread: None,
        text: "how is the build?".into(),
        title: None,
        targets: vec![REVIEWER],
        progress_key: None,
        initiative_key: None,
    };
    let conversation = house.ops;
    let add = |new| schedules::AddSchedule { conversation, new };
    let made = house.run(house.in_turn(&offer), add(new(None))).expect("in its turn");
    let schedule = made.schedule;
    let cause = Some(crate::house::at(&offer.entry.event));
    assert_eq!(schedule.chain, Some(Chain { cause, hop: 1 }));
    let made = house.run(house.by(ALICE), add(new(Some(SCOUT)))).expect("a person");
    let hers = made.schedule;
    assert_eq!(hers.chain, None, "a person has asked");
    let read = |schedule: &Schedule| codec::read_schedule(&codec::schedule(schedule));
    for schedule in [&*schedule, &*hers] {
        assert_eq!(read(schedule), Ok(schedule.clone()));
    }
    house.pass(65_000);
    let room = house.ws.rooms().find(|r| r.conversation().uid == conversation).expect("ops");
    let fired = room.schedules()[&schedule.uid].clone();
    assert_eq!(read(&fired), Ok(Schedule::clone(&fired)));
    let fires: Vec<_> =
        room.stimuli().values().filter(|s| s.dedupe_key == Some(schedule.key())).collect();
    assert!(!fires.is_empty() && fires.iter().all(|s| s.chain == schedule.chain), "{fires:?}");
    // A person who changes it has asked for it.
    let patch = SchedulePatch { text: Some("and now?".into()), ..SchedulePatch::default() };
    let change = schedules::ChangeSchedule { conversation, schedule: schedule.uid, patch };
    let changed = house.run(house.by(ALICE), change).expect("a person");
    assert_eq!(changed.schedule.chain, None);
}

// covers: CHN-420, ATT-96
#[test]
fn agents_that_take_nothing_up_come_to_an_end_too() {
    let mut house = House::new();
    let thread = thread(&mut house, ThreadKind::Workflow);
    let pair = [SCOUT, REVIEWER];
    for n in 0..40 {
        house.pass(2_000);
        let new = NewStimulus {
            thread: Some(thread),
            targets: vec![pair[(n + 1) % 2]],
            ..idea(&house, &format!("what do you think of part {n}?"))
        };
        // Neither in a turn, nor taken up, nor answered.
        if ask(pair[n % 2], new, &mut house).is_err() {
            break;
        }
    }
    let hops: Vec<u8> = said(&house).iter().map(|event| event.hop).collect();
    let counted: Vec<u8> = (1..=hops.len() as u8).collect();
    assert_eq!(hops.iter().copied().take(12).collect::<Vec<_>>(), counted[..12.min(counted.len())]);
    assert_eq!(hops.iter().max(), Some(&limits::HOP_END));
}

// covers: ATT-96, ATT-99
#[test]
fn an_agent_that_takes_nothing_up_opens_no_more_subjects_for_it() {
    let mut house = House::new();
    house.says(REVIEWER, "@scout what do you think of the plan?");
    let opened: Vec<_> =
        (0..5).map(|n| house.post(SCOUT, Say::to(house.ops, &format!("subject {n}")))).collect();
    assert!(opened[..4].iter().all(Result::is_ok), "{opened:?}");
    let hops = opened[..4].iter().flatten().map(|said| house.event(*said).hop).collect::<Vec<_>>();
    assert_eq!(hops, [2; 4]);
    assert_eq!(code(opened.into_iter().next_back().unwrap()), Code::RateLimited);
    // A person has spoken: what it says next is of that.
    house.pass(3_600_001);
    house.says(ALICE, "@scout and you?");
    let said = house.post(SCOUT, Say::to(house.ops, "one thing")).expect("an hour later");
    assert_eq!(house.event(said).hop, 1);
}

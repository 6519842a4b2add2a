//! Schedules: each firing knows what came of it, also where the next has come before it is over.

use chorus_core::commands::{conversations, schedules};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::Uid;
use chorus_core::model::requests::SettingsPatch;
use chorus_core::model::schedule::{Fired, NewSchedule, Schedule, When};
use chorus_core::model::stimulus::{RulesPatch, StimulusKind, StimulusState};

use crate::house::{ALICE, BOB, House, REVIEWER, WRITER};
use crate::projects::open_thread;
use crate::stimuli::{said, stimuli};

const MINUTE: i64 = 60_000;

/// Bob asks the reviewer every minute, in alice's name; in a thread that there is, or each time in a new one.
fn house(quiet_ms: i64, in_thread: bool) -> (House, Uid) {
    let mut house = House::new();
    let stimuli = RulesPatch {
        quiet_ms: Some(quiet_ms),
        active_roots: Some(16),
        roots_per_hour: Some(60),
        ..RulesPatch::default()
    };
    let settings = SettingsPatch { stimuli, ..SettingsPatch::default() };
    let conversation = house.ops;
    house
        .run(house.by(ALICE), conversations::ChangeConversation { conversation, settings })
        .unwrap();
    let new = NewSchedule {
        when: When::Every(MINUTE),
        source: Some(ALICE),
        thread: in_thread.then(|| open_thread(&mut house, conversation, WRITER)),
        text: "is all well?".into(),
        title: Some("health".into()),
        targets: vec![REVIEWER],
        progress_key: None,
        initiative_key: None,
    };
    let made = house.run(house.by(BOB), schedules::AddSchedule { conversation, new }).unwrap();
    (house, made.schedule.uid)
}

fn schedule(house: &House, uid: Uid) -> Schedule {
    let room = house.ws.rooms().find(|r| r.conversation().uid == house.ops).unwrap();
    Schedule::clone(&room.schedules()[&uid])
}

fn results(house: &House, uid: Uid) -> Vec<Fired> {
    schedule(house, uid).firings.iter().map(|f| f.how).collect()
}

// covers: CHN-159
#[test]
fn of_firings_that_overlap_each_has_its_result() {
    overlapping(false);
    overlapping(true);
}

fn overlapping(in_thread: bool) {
    let (mut house, uid) = house(0, in_thread);
    house.pass(MINUTE + 2_000);
    let first = house.take(REVIEWER);
    house.pass(MINUTE);
    // The first is not answered yet, and offered again beside it.
    let mut offers = house.offers(REVIEWER).into_iter();
    let second = offers.find(|o| o.entry.event.uid != first.entry.event.uid).unwrap();
    house.accept(&second).unwrap();
    assert_eq!(results(&house, uid), [Fired::Open, Fired::Open]);
    house.restart();

    house.reply(&first, "all is well").unwrap();
    assert_eq!(results(&house, uid), [Fired::Answered, Fired::Open]);
    // Declined it would move on to somebody else; with its answer to the first it has set it aside.
    house.dispose(REVIEWER, second.entry.event.uid, Disposition::Superseded).unwrap();
    assert_eq!(results(&house, uid), [Fired::Answered, Fired::Unanswered]);
    // Each is said in the thread of its own firing, and none takes the place of the other.
    house.pass(6_000);
    let queue = stimuli(&house);
    let results = queue.values().filter(|s| s.kind == StimulusKind::ScheduleResult);
    let results: Vec<_> = results.collect();
    assert!(results.iter().all(|s| s.state == StimulusState::Dispatched), "{results:?}");
    assert_eq!(results.len(), 2);
    assert_eq!(results[0].thread == results[1].thread, in_thread);
    let texts = said(&house);
    let texts = texts.iter().map(|e| &*e.change.message().unwrap().text);
    let texts: Vec<_> = texts.filter(|text| text.contains("health")).collect();
    assert_eq!(
        texts,
        [
            r#"The schedule "health" was answered by reviewer."#,
            r#"The schedule "health" has fired, and nobody has answered."#,
        ]
    );
}

// covers: CHN-159
#[test]
fn a_firing_that_gave_way_to_the_next_was_not_said() {
    let (mut house, uid) = house(10 * MINUTE, false);
    house.pass(4 * MINUTE + 2_000);
    assert_eq!(
        results(&house, uid),
        [Fired::Open, Fired::Failed, Fired::Failed, Fired::Open],
        "one is being answered, two gave way, and one waits"
    );
    assert_eq!(schedule(&house, uid).fired, 4);
}

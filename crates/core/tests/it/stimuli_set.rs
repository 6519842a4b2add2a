//! What a channel sets about its stimuli, and what follows from it.

use std::sync::Arc;

use chorus_core::commands::conversations;
use chorus_core::model::conversation::Conversation;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, Timestamp, Uid};
use chorus_core::model::requests::{NewStimulus, SettingsPatch};
use chorus_core::model::stimulus::{RulesPatch, Stimulus, StimulusKind, StimulusState, keys};

use crate::house::{ALICE, House, REVIEWER, SCOUT, code};
use crate::stimuli::{ask, idea, said};

fn set(house: &mut House, stimuli: RulesPatch) -> Result<Arc<Conversation>, Refusal> {
    let settings = SettingsPatch { stimuli, ..SettingsPatch::default() };
    let change = conversations::ChangeConversation { conversation: house.ops, settings };
    house.run(house.by(ALICE), change)
}

// covers: CHN-80
#[test]
fn each_kind_is_asked_for_by_whoever_it_is_of() {
    use StimulusKind as Kind;
    let (own, told, made) = (None, Some(Code::InsufficientAuthority), Some(Code::ValidationError));
    for (kind, by_agent, by_operator) in [
        (Kind::AgentIdea, own, own),
        (Kind::SidechainMilestone, own, own),
        (Kind::ObservationMaterialized, own, own),
        (Kind::ScheduleFire, told, own),
        (Kind::ScheduleResult, told, own),
        (Kind::TaskCompleted, told, own),
        (Kind::ReviewCompleted, told, own),
        (Kind::ThreadIdleFollowup, told, own),
        (Kind::ResultSummary, made, made),
        (Kind::SupersessionNotice, made, made),
    ] {
        for (by, expect) in [(SCOUT, by_agent), (ALICE, by_operator)] {
            let mut house = House::new();
            let new = NewStimulus { kind, ..idea(&house, "hello") };
            let refused = ask(by, new, &mut house).err().map(|refusal| refusal.code);
            assert_eq!(refused, expect, "{kind:?}");
            house.pass(2_000);
            let said: Vec<_> = said(&house)
                .iter()
                .map(|e| e.change.message().unwrap().metadata.clone().unwrap())
                .collect();
            assert_eq!(said.len(), usize::from(expect.is_none()));
            assert!(
                said.iter().all(|m| m.contains(&format!(r#""stimulus_kind":"{}""#, kind.name())))
            );
        }
    }
}

// covers: CHN-99
#[test]
fn a_channel_sets_how_much_it_hears_without_a_person_asking() {
    let mut house = House::new();
    for n in 0..3 {
        ask(SCOUT, idea(&house, &format!("idea {n}")), &mut house).unwrap();
    }
    house.pass(2_000);
    assert_eq!(said(&house).len(), 1);
    let quiet = RulesPatch { quiet_ms: Some(0), ..RulesPatch::default() };
    set(&mut house, RulesPatch { active_roots: Some(16), ..quiet }).unwrap();
    set(&mut house, RulesPatch { roots_per_hour: Some(2), ..RulesPatch::default() }).unwrap();
    house.pass(5_000);
    assert_eq!(said(&house).len(), 2, "the quiet is over, and two come in an hour");
    set(&mut house, RulesPatch { pending: Some(1), ..RulesPatch::default() }).unwrap();
    let full = ask(SCOUT, idea(&house, "one more"), &mut house).unwrap_err();
    assert_eq!(full.code, Code::RateLimited);
    house.pass(3_600_000);
    assert_eq!(said(&house).len(), 3);

    let before = house.log.events.len();
    let none = RulesPatch::default();
    for bad in [
        RulesPatch { pending: Some(0), ..none },
        RulesPatch { pending: Some(129), ..none },
        RulesPatch { roots_per_hour: Some(0), ..none },
        RulesPatch { roots_per_hour: Some(61), ..none },
        RulesPatch { active_roots: Some(0), ..none },
        RulesPatch { active_roots: Some(17), ..none },
        RulesPatch { quiet_ms: Some(-1), ..none },
        RulesPatch { quiet_ms: Some(3_600_001), ..none },
    ] {
        assert_eq!(code(set(&mut house, bad)), Code::ValidationError, "{bad:?}");
    }
    assert_eq!(house.log.events.len(), before);
}

/// Of an agent's, under a key that says what it is about; only `shown_to` is shown it, if anybody is named.
fn keyed(source: MemberKey, key: Option<&str>, shown_to: Option<MemberKey>) -> Stimulus {
    Stimulus {
        dedupe_key: key.map(Into::into),
        targets: shown_to.into_iter().collect(),
        private: shown_to.is_some(),
        ..Stimulus::new(Uid(1), StimulusKind::AgentIdea, source, [0; 16], Timestamp(0))
    }
}

// covers: CHN-86, CHN-342, CHN-343
#[test]
fn what_gives_way_is_of_the_same_source_about_the_same_and_for_the_same() {
    let (superseded, coalesced) = (Some(StimulusState::Superseded), Some(StimulusState::Coalesced));
    let (build, sch) = (Some("build"), Some("sch_1"));
    for (old, newer, expect) in [
        (keyed(SCOUT, build, None), keyed(SCOUT, build, None), superseded),
        (keyed(SCOUT, build, None), keyed(SCOUT, Some("test"), None), None),
        (keyed(SCOUT, build, None), keyed(SCOUT, None, None), None),
        (keyed(SCOUT, build, None), keyed(REVIEWER, build, None), None),
        (keyed(SCOUT, None, None), keyed(SCOUT, None, None), coalesced),
        (keyed(SCOUT, None, None), keyed(REVIEWER, None, None), None),
        // A review is of its thread, and a firing of its schedule, whoever says it.
        (keyed(SCOUT, sch, None), keyed(REVIEWER, sch, None), superseded),
        // What one alone is shown gives way to nothing that others are.
        (keyed(SCOUT, build, Some(ALICE)), keyed(SCOUT, build, Some(ALICE)), superseded),
        (keyed(SCOUT, build, Some(ALICE)), keyed(SCOUT, build, Some(REVIEWER)), None),
        (keyed(SCOUT, build, Some(ALICE)), keyed(SCOUT, build, None), None),
        (keyed(SCOUT, build, None), keyed(SCOUT, build, Some(ALICE)), None),
    ] {
        assert_eq!(old.replaced_by(&newer), expect, "{old:?} {newer:?}");
    }
    for key in ["sch_", "sch_0192", "task_1", "stm_1 result", "review", "idle"] {
        assert!(keys::is_of_the_host(key), "{key}");
    }
    for key in ["sch", "schedule", "tasks", "reviewed", "Idle", " review"] {
        assert!(!keys::is_of_the_host(key), "{key}");
    }
}

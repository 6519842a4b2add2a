//! A schedule whose host is cut off while it fires: each time fires once and is said once.

use std::time::{Duration, Instant};

use chorus_core::commands::conversations;
use chorus_core::commands::schedules::AddSchedule;
use chorus_core::model::ids::{ConversationKey, Uid};
use chorus_core::model::requests::SettingsPatch;
use chorus_core::model::schedule::{Fired, NewSchedule, When};
use chorus_core::model::stimulus::{RulesPatch, StimulusKind, StimulusState};
use chorus_core::queries;

use super::away::{PATIENCE, texts};
use super::trouble::Session;
use super::{ground, problems};
use crate::ground::{ADA, Ground, person};

const MINUTE: i64 = 60_000;
const ASKED: &str = "is all well?";

/// Asks every minute, with no quiet between.
fn every_minute(ground: &Ground, room: Uid) -> ConversationKey {
    let stimuli = RulesPatch {
        quiet_ms: Some(0),
        active_roots: Some(16),
        roots_per_hour: Some(60),
        ..RulesPatch::default()
    };
    let settings = SettingsPatch { stimuli, ..SettingsPatch::default() };
    ground
        .ask(person(), conversations::ChangeConversation { conversation: room, settings })
        .unwrap();
    let new = NewSchedule {
        when: When::Every(MINUTE),
        source: None,
        thread: None,
        text: ASKED.into(),
        title: None,
        targets: vec![ADA],
        progress_key: None,
        initiative_key: None,
    };
    let add = AddSchedule { conversation: room, new };
    ground.ask(person(), add).unwrap().conversation.key
}

/// How often it has fired, and how often that was said.
fn counted(ground: &Ground, room: Uid, key: ConversationKey) -> (u32, usize) {
    let fired = ground.readers.schedules(key).unwrap()[0].fired;
    (fired, texts(ground, room).iter().filter(|text| *text == ASKED).count())
}

/// What fires is claimed, and a moment later said.
fn moments(ground: &Ground) {
    for _ in 0..3 {
        ground.pass(1_000);
    }
}

fn until(ground: &Ground, what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    loop {
        ground.writer.tick();
        if done() {
            return;
        }
        assert!(Instant::now() < until, "{what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// A host whose connection was cut has another.
fn back(ground: &Ground) {
    until(ground, "it is back", || {
        ground.clock.advance(1);
        ground.ask(person(), queries::Waiting { member: None, limit: 0 }).is_ok()
    });
}

fn is_claimed(ground: &Ground, key: ConversationKey) -> bool {
    let all = ground.readers.stimuli(key).unwrap();
    all.iter().any(|s| s.kind == StimulusKind::ScheduleFire && s.state == StimulusState::Claimed)
}

// covers: CHN-92, CHN-157
#[test]
fn a_host_that_is_cut_off_while_a_schedule_fires_leaves_nothing_half_done() {
    for table in ["schedule", "stimulus", "event"] {
        let url = chorus_cluster::schema().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let ground = ground(folder.path(), &url);
        let room = ground.settle().uid;
        let key = every_minute(&ground, room);
        ground.clock.advance(MINUTE);
        if table == "event" {
            // It has fired, and is about to be said.
            until(&ground, "it is claimed", || is_claimed(&ground, key));
        }
        let mut locked = Session::at(&url);
        locked.does(&format!("BEGIN; LOCK TABLE {table} IN EXCLUSIVE MODE;"));
        ground.clock.advance(1_000);
        let cut = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_locks
             WHERE relation = '{table}'::regclass AND NOT granted"
        );
        until(&ground, "it is in the middle", || {
            chorus_cluster::sql_at(&url, &cut).unwrap().trim() == "1"
        });
        drop(locked);
        back(&ground);
        moments(&ground);
        assert_eq!(counted(&ground, room, key), (1, 1), "{table}");
        let schedule = ground.readers.schedules(key).unwrap().remove(0);
        assert_eq!(schedule.firings.last().map(|f| f.how), Some(Fired::Open), "ada is asked");
        ground.pass(MINUTE);
        moments(&ground);
        assert_eq!(counted(&ground, room, key), (2, 2), "{table}");
        ground.writer.stop();
        assert_eq!(problems(&url), []);
    }
}

//! Schedules with several hosts: each time fires once and is said once, whichever of them has it in hand when it ends.

use std::collections::BTreeSet;
use std::sync::Barrier;

use chorus_core::commands::conversations;
use chorus_core::commands::schedules::AddSchedule;
use chorus_core::model::ids::{ConversationKey, Uid};
use chorus_core::model::requests::SettingsPatch;
use chorus_core::model::schedule::{Fired, NewSchedule, When};
use chorus_core::model::stimulus::{RulesPatch, StimulusKind, StimulusState};
use chorus_core::queries;

use super::hosts::{Two, texts, two, wait};
use super::trouble::Session;
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

/// How often it has fired, and how often that was said; both hosts are of one mind.
fn counted(two: &Two, key: ConversationKey) -> (u32, usize) {
    let count = |ground: &Ground| {
        let fired = ground.readers.schedules(key).unwrap()[0].fired;
        let said = texts(ground, two.room).iter().filter(|text| *text == ASKED).count();
        (fired, said)
    };
    let counted = count(&two.one);
    assert_eq!(count(&two.other), counted);
    counted
}

/// What fires is claimed, and a moment later said, by whichever host is first.
fn moments(grounds: &[&Ground]) {
    for _ in 0..3 {
        grounds.iter().for_each(|ground| ground.pass(1_000));
    }
}

/// Time has come at one of the hosts, which may not have heard yet of what it is to do.
fn until(ground: &Ground, what: &str, mut done: impl FnMut() -> bool) {
    wait(what, || {
        ground.writer.tick();
        done()
    });
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

// covers: CHN-157
#[test]
fn each_time_fires_once_whichever_of_two_hosts_is_first() {
    let two = two();
    let key = every_minute(&two.other, two.room);
    // Both have the room in memory, and its timers.
    two.one.say(two.room, "hello");
    let barrier = Barrier::new(2);
    for n in 1..=8 {
        std::thread::scope(|scope| {
            for ground in [&two.one, &two.other] {
                scope.spawn(|| {
                    barrier.wait();
                    ground.pass(MINUTE);
                });
            }
        });
        moments(&[&two.one, &two.other]);
        assert_eq!(counted(&two, key), (n, n as usize));
    }
    let firings = two.one.readers.schedules(key).unwrap().remove(0).firings;
    let stimuli: BTreeSet<_> = firings.iter().map(|f| f.stimulus).collect();
    assert_eq!(stimuli.len(), 8, "each is another");
    two.end();
}

/// The life of the second host of a database, and what it is about.
const LIFE: &str = "locktype = 'advisory' AND objid = 2
    AND classid::bigint = (hashtext(current_schema()) & 2147483647)";

// covers: CHN-92, CHN-157
#[test]
fn what_had_fired_at_a_host_that_ended_is_said_once_by_the_other() {
    for known in [false, true] {
        let two = two();
        let key = every_minute(&two.other, two.room);
        if known {
            two.one.say(two.room, "hello");
        }
        two.other.clock.advance(MINUTE);
        until(&two.other, "it is claimed", || is_claimed(&two.one, key));
        // It stands still from now on, in the middle of what it hears of the other, and its connection goes.
        let stands_still = two.other.effects.lock().unwrap();
        two.one.say(two.room, "anything");
        let stuck = format!(
            "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
             WHERE {LIFE} AND state = 'idle in transaction'"
        );
        let sql = |sql: &str| chorus_cluster::sql_at(&two.url, sql).unwrap().trim().to_owned();
        wait("it stands still", || sql(&stuck) == "1");
        let cut = format!("SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE {LIFE}");
        assert_eq!(sql(&cut), "1");
        two.one.pass(MINUTE);
        wait("it is said", || {
            two.one.pass(5);
            texts(&two.one, two.room).iter().any(|text| text == ASKED)
        });
        // It wakes up, and finds that it was said.
        drop(stands_still);
        back(&two.other);
        moments(&[&two.other, &two.one]);
        assert_eq!(counted(&two, key), (1, 1), "known: {known}");
        two.one.pass(MINUTE);
        moments(&[&two.one, &two.other]);
        assert_eq!(counted(&two, key), (2, 2));
        two.end();
    }
}

// covers: CHN-92, CHN-157
#[test]
fn a_host_that_is_cut_off_while_a_schedule_fires_leaves_nothing_half_done() {
    for table in ["schedule", "stimulus", "event"] {
        let two = two();
        let key = every_minute(&two.other, two.room);
        two.one.say(two.room, "hello");
        two.other.clock.advance(MINUTE);
        if table == "event" {
            // It has fired, and is about to be said.
            until(&two.other, "it is claimed", || is_claimed(&two.one, key));
        }
        let mut locked = Session::at(&two.url);
        locked.does(&format!("BEGIN; LOCK TABLE {table} IN EXCLUSIVE MODE;"));
        two.other.clock.advance(1_000);
        let cut = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_locks
             WHERE relation = '{table}'::regclass AND NOT granted"
        );
        until(&two.other, "it is in the middle", || {
            chorus_cluster::sql_at(&two.url, &cut).unwrap().trim() == "1"
        });
        drop(locked);
        back(&two.other);
        two.one.pass(MINUTE);
        moments(&[&two.one, &two.other]);
        assert_eq!(counted(&two, key), (1, 1), "{table}");
        let schedule = two.one.readers.schedules(key).unwrap().remove(0);
        assert_eq!(schedule.firings.last().map(|f| f.how), Some(Fired::Open), "ada is asked");
        two.one.pass(MINUTE);
        moments(&[&two.one, &two.other]);
        assert_eq!(counted(&two, key), (2, 2), "{table}");
        two.end();
    }
}

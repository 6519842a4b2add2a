//! The host and its agents, killed at random moments under load. `CHORUS_CRASH_ROUNDS` says how often, and
//! `CHORUS_CRASH_SEED` repeats the plan of an earlier run.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::{SystemTime, UNIX_EPOCH};

use chorus_lab::crash::webhook::{self, Manner};
use chorus_lab::crash::{self, Plan, binary, coming, hiring};

const KILLS: usize = 20;
const KILLS_OF_TWO: usize = 12;
/// Three in the middle of each thousand deliveries.
const KILLS_OF_CARRIERS: usize = 9;
const KILLS_OF_MARKETS: usize = 12;
/// An hour of it is `CHORUS_CRASH_ROUNDS=2000`.
const CHANGES_OF_HOSTS: usize = 20;

// covers: ATT-101, ATT-102, FAIL-9
#[test]
fn nothing_acknowledged_is_lost_and_nobody_answers_twice() {
    crash(false, KILLS);
}

// covers: OPS-150
#[test]
fn two_hosts_on_one_database_lose_nothing_either() {
    crash(true, KILLS_OF_TWO);
}

// covers: OPS-150, OPS-151, OPS-162, OPS-166
#[test]
fn hosts_come_and_go_and_nothing_that_was_said_is_lost_or_out_of_order() {
    played(true, CHANGES_OF_HOSTS, |plan| {
        let report = coming::run(plan)?;
        Ok((report.to_string(), report.wrong))
    });
}

// covers: WHK-22, WHK-36
#[test]
fn what_is_posted_to_agents_arrives_and_each_answer_is_there_once() {
    deliveries(false, Manner::WithIds);
}

// covers: WHK-32
#[test]
fn two_attempts_at_one_delivery_are_never_both_heard() {
    deliveries(false, Manner::WithoutIds);
}

// covers: WHK-22, WHK-36
#[test]
fn two_hosts_post_to_agents_and_each_answer_is_there_once() {
    deliveries(true, Manner::WithIds);
}

// covers: WHK-32
#[test]
fn two_attempts_by_two_hosts_are_never_both_heard() {
    deliveries(true, Manner::WithoutIds);
}

// covers: REG-39
#[test]
fn a_job_moves_money_and_reputation_once_though_its_result_comes_three_times() {
    played(false, KILLS_OF_MARKETS, |plan| {
        let report = hiring::run(plan)?;
        Ok((report.to_string(), report.wrong))
    });
}

fn deliveries(two_hosts: bool, manner: Manner) {
    played(two_hosts, KILLS_OF_CARRIERS, |plan| {
        let report = webhook::run(plan, manner)?;
        Ok((report.to_string(), report.wrong))
    });
}

fn crash(two_hosts: bool, kills: usize) {
    played(two_hosts, kills, |plan| {
        let report = crash::run(plan)?;
        Ok((report.to_string(), report.wrong))
    });
}

/// Plays it in a folder of its own, which is kept where something was wrong.
fn played(
    two_hosts: bool,
    kills: usize,
    play: impl FnOnce(&Plan) -> Result<(String, Vec<String>), String>,
) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = number("CHORUS_CRASH_SEED").unwrap_or(now.as_micros() as u64);
    let kills = number("CHORUS_CRASH_ROUNDS").map_or(kills, |rounds| rounds as usize);
    eprintln!("CHORUS_CRASH_SEED={seed}");
    let mut folder = tempfile::Builder::new().prefix("chorus-crash").tempdir().unwrap();
    let (chorus, folder_of_it) = (binary::chorus().unwrap(), folder.path().to_owned());
    let plan = Plan { chorus, kills, seed, two_hosts, folder: folder_of_it };
    let ran = play(&plan);
    if ran.as_ref().map_or(true, |(_, wrong)| !wrong.is_empty()) {
        // What went wrong can be looked at.
        folder.disable_cleanup(true);
        eprintln!("kept: {}", folder.path().display());
    }
    let (report, wrong) = ran.unwrap();
    println!("{report}");
    assert!(wrong.is_empty(), "{report}");
}

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

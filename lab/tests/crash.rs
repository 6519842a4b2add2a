//! The host and its agents, killed at random moments under load. `CHORUS_CRASH_ROUNDS` says how often, and
//! `CHORUS_CRASH_SEED` repeats the plan of an earlier run.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::{SystemTime, UNIX_EPOCH};

use chorus_lab::crash::{self, Plan, binary};

const KILLS: usize = 20;
const KILLS_OF_TWO: usize = 12;

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

fn crash(two_hosts: bool, kills: usize) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = number("CHORUS_CRASH_SEED").unwrap_or(now.as_micros() as u64);
    let kills = number("CHORUS_CRASH_ROUNDS").map_or(kills, |rounds| rounds as usize);
    eprintln!("CHORUS_CRASH_SEED={seed}");
    let mut folder = tempfile::Builder::new().prefix("chorus-crash").tempdir().unwrap();
    let (chorus, folder_of_it) = (binary::chorus().unwrap(), folder.path().to_owned());
    let plan = Plan { chorus, kills, seed, two_hosts, folder: folder_of_it };
    let ran = crash::run(&plan);
    if ran.as_ref().map_or(true, |report| !report.wrong.is_empty()) {
        // What went wrong can be looked at.
        folder.disable_cleanup(true);
        eprintln!("kept: {}", folder.path().display());
    }
    let report = ran.unwrap();
    println!("{report}");
    assert!(report.wrong.is_empty(), "{report}");
}

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

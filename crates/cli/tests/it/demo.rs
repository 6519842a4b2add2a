//! The demo itself: everything it shows is as it must be, and it leaves nothing behind.

use chorus_testing::eventually_blocking;
use nix::sys::signal::{Signal, kill};

use crate::cli::{Going, chorus, processes_with, run};

// covers: FAIL-2, FAIL-3, FAIL-9
// covers: FAIL-2, FAIL-3
#[test]
fn demo_check_passes_and_leaves_nothing_behind() {
    let place = tempfile::tempdir().unwrap();
    let ran = run(chorus().args(["demo", "--check"]).env("TMPDIR", place.path()));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    assert!(ran.out.contains("11 of 11 as they must be"), "{}", ran.out);
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "the folder is still there");
    let left = processes_with(place.path().to_str().unwrap());
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn demo_stays_until_ctrl_c_and_can_be_joined_from_another_terminal() {
    let place = tempfile::tempdir().unwrap();
    let mut demo = Going::start(chorus().arg("demo").env("TMPDIR", place.path()));
    let data = demo.wait(|line| {
        let (_, data) = line.split_once("tail --verbose --data ")?;
        Some(data.to_owned())
    });
    let ask =
        ["post", "#ops", "@scout what is the deploy status?", "--as", "alice", "--data", &data];
    run(chorus().args(ask)).ok();
    demo.wait(|line| line.contains("scout: Deploy 42").then_some(()));
    kill(demo.pid(), Signal::SIGINT).unwrap();
    assert!(demo.child.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "the folder is still there");
    let left = processes_with(place.path().to_str().unwrap());
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn no_agent_outlives_a_demo_that_was_killed() {
    let place = tempfile::tempdir().unwrap();
    let demo = Going::start(chorus().arg("demo").env("TMPDIR", place.path()));
    demo.wait(|line| line.contains("scout: Deploy 42").then_some(()));
    let text = place.path().to_str().unwrap().to_owned();
    assert!(processes_with(&text).len() >= 5);
    demo.kill();
    eventually_blocking("the agents end", || processes_with(&text).is_empty());
}

#![allow(clippy::unwrap_used, clippy::expect_used)]
//! The contract, with real `sh` children.

use std::path::Path;
use std::time::Duration;

use chorus_testing::eventually;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use super::*;

fn work(prompt: &str) -> Work {
    let environment = vec![("CHORUS_EVENT_ID", "evt_1".to_owned())];
    Work {
        prompt: prompt.to_owned(),
        environment,
        folder: ".".into(),
        session: None,
        noted_in: None,
    }
}

fn bounds(timeout_ms: u64) -> Bounds {
    let timeout = Duration::from_millis(timeout_ms);
    Bounds { timeout, output: 100_000, grace: Duration::from_millis(300) }
}

async fn check(line: &str, prompt: &str) -> (End, Vec<String>) {
    let (_keep, cancel) = oneshot::channel();
    let (tell, mut told) = mpsc::unbounded_channel();
    let end = run(line, work(prompt), bounds(20_000), cancel, tell).await;
    let mut progress = Vec::new();
    while let Ok(Told::Progress(message)) = told.try_recv() {
        progress.push(message);
    }
    (end, progress)
}

// covers: ATT-63
#[tokio::test]
async fn stdout_is_the_reply_and_empty_stdout_is_silence() {
    assert_eq!(check("cat", " hello \n").await.0, End::Said("hello".into()));
    assert_eq!(check("echo $CHORUS_EVENT_ID", "").await.0, End::Said("evt_1".into()));
    assert_eq!(check("cat >/dev/null; echo '  '", "hello").await.0, End::Silent);
    // A prompt larger than a pipe that the child never reads.
    assert_eq!(check("echo ok", &"x".repeat(1 << 20)).await.0, End::Said("ok".into()));
}

// covers: ATT-62
#[tokio::test]
async fn the_agents_own_token_is_not_handed_on() {
    // The variable may or may not be set where the test runs; either way the child must not see it.
    assert_eq!(check("printf %s \"$CHORUS_TOKEN$CHORUS_KEYS\"", "").await.0, End::Silent);
}

// covers: OPS-421
#[test]
fn what_opens_the_database_is_not_handed_on() {
    let command = shell("true", &work(""));
    let handed: Vec<_> = command.as_std().get_envs().collect();
    for name in [
        "CHORUS_TOKEN",
        "CHORUS_KEYS",
        "CHORUS_DATABASE_URL",
        "DATABASE_URL",
        "PGPASSWORD",
        "PGPASSFILE",
    ] {
        // Taken out, whatever it is where the harness runs.
        assert!(handed.contains(&(name.as_ref(), None)), "{name}: {handed:?}");
    }
}

#[tokio::test]
async fn another_exit_code_is_a_failure_with_the_tail_of_stderr() {
    let (end, _) = check("echo lost; echo first >&2; echo 'no key' >&2; exit 3", "").await;
    let End::Failed { note } = end else { panic!("{end:?}") };
    assert_eq!(note, "the runtime ended with exit status: 3: first\nno key");
    let (end, _) = check("yes abcdefgh | head -c 300000 >&2; echo end >&2; exit 1", "").await;
    let End::Failed { note } = end else { panic!("{end:?}") };
    assert!(note.len() < 1_200 && note.ends_with("end"), "{} bytes", note.len());
    let (end, _) = check("kill -9 $$", "").await;
    assert!(matches!(&end, End::Failed { note } if note.contains("signal: 9")), "{end:?}");
}

#[tokio::test]
async fn progress_lines_are_told_and_kept_out_of_the_note() {
    let (end, progress) = check("echo 'progress: half' >&2; echo oops >&2; exit 1", "").await;
    assert_eq!(progress, ["half"]);
    assert_eq!(end, End::Failed { note: "the runtime ended with exit status: 1: oops".into() });
}

#[tokio::test]
async fn a_reply_is_bounded_and_its_bytes_become_text() {
    let End::Said(said) = check("yes é | tr -d '\\n' | head -c 3000000", "").await.0 else {
        panic!()
    };
    assert!(said.len() > 99_000 && said.len() <= 100_000, "{} bytes", said.len());
    assert!(said.starts_with("éé"));
    let (end, _) = check("printf 'a\\377b\\000c'", "").await;
    assert_eq!(end, End::Said("a\u{fffd}bc".into()));
}

// covers: ATT-64
#[tokio::test]
async fn a_turn_that_takes_too_long_is_killed_with_its_grandchildren() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    // Parent and grandchild both ignore SIGTERM.
    let line = format!(
        "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ >{}; while :; do sleep 1; done' & wait; wait; sleep 60",
        pid.display()
    );
    let (_keep, cancel) = oneshot::channel();
    let (tell, _told) = mpsc::unbounded_channel();
    let end = run(&line, work(""), bounds(700), cancel, tell).await;
    assert!(
        matches!(&end, End::TimedOut { note } if note.contains("longer than 0.7 s")),
        "{end:?}"
    );
    assert_gone(&pid).await;
}

// covers: ATT-121
#[tokio::test]
async fn cancelling_stops_the_group_with_sigterm() {
    let folder = tempfile::tempdir().unwrap();
    let (pid, trapped) = (folder.path().join("pid"), folder.path().join("trapped"));
    let line = format!(
        "trap 'echo yes >{}; exit 0' TERM; sleep 60 & echo $! >{}; wait",
        trapped.display(),
        pid.display()
    );
    let (stop, cancel) = oneshot::channel();
    let (tell, _told) = mpsc::unbounded_channel();
    let running =
        tokio::spawn(async move { run(&line, work(""), bounds(60_000), cancel, tell).await });
    wait_for(&pid).await;
    stop.send(()).unwrap();
    assert_eq!(running.await.unwrap(), End::Cancelled);
    assert!(trapped.exists(), "the child was given the chance to end by itself");
    assert_gone(&pid).await;
}

// covers: ATT-64
#[tokio::test]
async fn a_dropped_run_and_a_left_behind_grandchild_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let line = format!("sleep 60 & echo $! >{}; wait", pid.display());
    let (_stop, cancel) = oneshot::channel();
    let (tell, _told) = mpsc::unbounded_channel();
    let running =
        tokio::spawn(async move { run(&line, work(""), bounds(60_000), cancel, tell).await });
    wait_for(&pid).await;
    running.abort();
    assert_gone(&pid).await;

    let left = folder.path().join("left");
    let (end, _) = check(&format!("sleep 60 & echo $! >{}; echo done", left.display()), "").await;
    assert_eq!(end, End::Said("done".into()));
    assert_gone(&left).await;
}

async fn wait_for(file: &Path) {
    eventually("the file has a line", async || {
        std::fs::read_to_string(file).is_ok_and(|text| text.ends_with('\n'))
    })
    .await;
}

/// The process whose number stands in `file` ends; a zombie counts as ended.
async fn assert_gone(file: &Path) {
    let pid: i32 = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
    eventually(&format!("process {pid} ends"), async || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let zombie = stat.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('Z'));
        kill(Pid::from_raw(pid), None).is_err() || zombie
    })
    .await;
}

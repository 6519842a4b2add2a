//! The command runtime: one `sh -c` child per turn (the command contract, `spec/attention.md`).
//!
//! The framed prompt on stdin; ids and the turn's token in the environment; stdout is the reply, and empty
//! stdout is silence; another exit code than 0 is a failure with the tail of stderr as its note; lines
//! `progress: …` on stderr are told to the host. The child leads a process group of its own, so that what
//! it started ends with it: SIGTERM to the group, and SIGKILL after the grace.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::group::Group;
use super::pipes::{self, Text};
use super::{Bounds, End, Work};

/// After the child has ended, what holds its pipes open longer than this is killed with its group.
const DRAIN: Duration = Duration::from_millis(500);
/// Names of the harness's own environment that a runtime must not see.
const SECRETS: [&str; 2] = ["CHORUS_TOKEN", "CHORUS_KEYS"];

/// Runs `line` for one turn. Ends early, as [`End::Cancelled`], when `cancel` is sent to or dropped.
/// Dropping the future kills the group.
pub async fn run(
    line: &str,
    work: Work,
    bounds: Bounds,
    cancel: oneshot::Receiver<()>,
    progress: mpsc::UnboundedSender<String>,
) -> End {
    let mut child = match spawn(line, &work) {
        Ok(child) => child,
        Err(e) => return End::Failed { note: format!("the runtime could not be started: {e}") },
    };
    let mut group = Group::led_by(child.id());
    feed(&mut child, work.prompt);
    let (output, reading_output) = match child.stdout.take() {
        Some(pipe) => pipes::read_output(pipe, bounds.output),
        None => (Text::default(), tokio::spawn(async {})),
    };
    let (errors, reading_errors) = match child.stderr.take() {
        Some(pipe) => pipes::read_errors(pipe, progress),
        None => (Text::default(), tokio::spawn(async {})),
    };
    let reading = [reading_output, reading_errors];

    tokio::select! {
        status = child.wait() => {
            settle(reading, group.as_mut()).await;
            end(status, &output, &errors, bounds.output)
        }
        () = tokio::time::sleep(bounds.timeout) => {
            stop(&mut child, group.as_mut(), bounds.grace).await;
            settle(reading, group.as_mut()).await;
            let seconds = bounds.timeout.as_secs_f32();
            End::TimedOut { note: note(&format!("the runtime took longer than {seconds} s"), &errors) }
        }
        _ = cancel => {
            stop(&mut child, group.as_mut(), bounds.grace).await;
            settle(reading, group.as_mut()).await;
            End::Cancelled
        }
    }
}

fn spawn(line: &str, work: &Work) -> std::io::Result<Child> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).process_group(0).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in SECRETS {
        command.env_remove(name);
    }
    command.envs(work.environment.iter().map(|(name, value)| (name, value)));
    command.spawn()
}

/// Writes the prompt beside everything else, since a child may answer before it has read all of it, or
/// never read it: a closed stdin is no failure.
fn feed(child: &mut Child, prompt: String) {
    if let Some(mut stdin) = child.stdin.take() {
        tokio::spawn(async move {
            let _ = stdin.write_all(prompt.as_bytes()).await;
            let _ = stdin.shutdown().await;
        });
    }
}

/// SIGTERM to the group, then SIGKILL to what is left of it when the grace is over or the leader has gone.
async fn stop(child: &mut Child, group: Option<&mut Group>, grace: Duration) {
    let Some(group) = group else { return };
    group.terminate();
    let _ = tokio::time::timeout(grace, child.wait()).await;
    group.kill();
    let _ = tokio::time::timeout(grace, child.wait()).await;
}

/// Waits for the pipes to be read to their ends; a grandchild that keeps them open is killed.
async fn settle(reading: [JoinHandle<()>; 2], group: Option<&mut Group>) {
    let [mut output, mut errors] = reading;
    let mut both = Box::pin(async {
        let _ = (&mut output).await;
        let _ = (&mut errors).await;
    });
    let Some(group) = group else { return };
    if tokio::time::timeout(DRAIN, &mut both).await.is_ok() {
        group.ended();
        return;
    }
    group.kill();
    let drained = tokio::time::timeout(DRAIN, &mut both).await.is_ok();
    drop(both);
    if !drained {
        // Something left the group and kept the pipe; it can neither be killed nor waited for.
        output.abort();
        errors.abort();
    }
}

fn end(status: std::io::Result<ExitStatus>, output: &Text, errors: &Text, limit: usize) -> End {
    match status {
        Ok(status) if status.success() => {
            let said = bounded(output.get().trim(), limit).to_owned();
            if said.is_empty() { End::Silent } else { End::Said(said) }
        }
        Ok(status) => {
            End::Failed { note: note(&format!("the runtime ended with {status}"), errors) }
        }
        Err(e) => End::Failed { note: format!("the runtime could not be waited for: {e}") },
    }
}

/// At most `limit` bytes of `text`, ending between two characters.
fn bounded(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].trim_end()
}

fn note(what: &str, errors: &Text) -> String {
    let tail = errors.get();
    if tail.is_empty() { what.to_owned() } else { format!("{what}: {tail}") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::path::Path;

    use nix::sys::signal::kill;
    use nix::unistd::Pid;

    use super::*;

    fn work(prompt: &str) -> Work {
        let environment = vec![("CHORUS_EVENT_ID", "evt_1".to_owned())];
        Work { prompt: prompt.to_owned(), environment }
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
        while let Ok(message) = told.try_recv() {
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
        let (end, _) = check("printf 'a\\377b'", "").await;
        assert_eq!(end, End::Said("a\u{fffd}b".into()));
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
        let (end, _) =
            check(&format!("sleep 60 & echo $! >{}; echo done", left.display()), "").await;
        assert_eq!(end, End::Said("done".into()));
        assert_gone(&left).await;
    }

    async fn wait_for(file: &Path) {
        while std::fs::read_to_string(file).map_or(true, |text| !text.ends_with('\n')) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The process whose number stands in `file` ends; a zombie counts as ended.
    async fn assert_gone(file: &Path) {
        let pid: i32 = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
        for _ in 0..1_000 {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let zombie = stat.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('Z'));
            if kill(Pid::from_raw(pid), None).is_err() || zombie {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("process {pid} is still there");
    }
}

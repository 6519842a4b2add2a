//! One run of a program: a process group of its own, the prompt on stdin, both pipes read to their ends.
//!
//! The child leads its group, so that what it started ends with it: SIGTERM to the group, and SIGKILL after
//! the grace.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::group::Group;
use super::pipes::{self, Text};
use super::{Bounds, Told, Work, orphans};

/// After the child has ended, what holds its pipes open longer than this is killed with its group.
const DRAIN: Duration = Duration::from_millis(500);
/// Names of the harness's own environment that a runtime must not see: what opens the host or its database, by Chorus's
/// names and by those of PostgreSQL's programs.
const SECRETS: [&str; 9] = [
    "CHORUS_TOKEN",
    "CHORUS_KEYS",
    "CHORUS_DATABASE_URL",
    "DATABASE_URL",
    "PGPASSWORD",
    "PGPASSFILE",
    "PGSERVICEFILE",
    "PGSSLKEY",
    "PGSSLPASSWORD",
];

/// How a process ended.
#[derive(Debug)]
pub(super) enum Ended {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
    /// It could not be started, or not be waited for.
    Broken(String),
}

/// Gives the command its folder, its environment and its pipes.
pub(super) fn prepare(command: &mut Command, work: &Work) {
    command.process_group(0).kill_on_drop(true).current_dir(&work.folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in SECRETS {
        command.env_remove(name);
    }
    command.envs(work.environment.iter().map(|(name, value)| (name, value)));
}

/// Runs a prepared command to its end; `read` reads its output. Gives the tail of its stderr beside how it ended.
/// Ends early when `cancel` is sent to or dropped. Dropping the future kills the group.
pub(super) async fn run(
    mut command: Command,
    work: &Work,
    bounds: Bounds,
    cancel: &mut oneshot::Receiver<()>,
    read: impl FnOnce(ChildStdout) -> JoinHandle<()>,
    tell: mpsc::UnboundedSender<Told>,
) -> (Ended, String) {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) => return (Ended::Broken(format!("could not be started: {e}")), String::new()),
    };
    let mut group = Group::led_by(child.id());
    let _noted = orphans::note(work.noted_in.as_deref(), child.id());
    feed(&mut child, work.prompt.clone());
    let reading_output = match child.stdout.take() {
        Some(pipe) => read(pipe),
        None => tokio::spawn(async {}),
    };
    let (errors, reading_errors) = match child.stderr.take() {
        Some(pipe) => pipes::read_errors(pipe, tell),
        None => (Text::default(), tokio::spawn(async {})),
    };
    let reading = [reading_output, reading_errors];

    let ended = tokio::select! {
        status = child.wait() => match status {
            Ok(status) => Ended::Exited(status),
            Err(e) => Ended::Broken(format!("could not be waited for: {e}")),
        },
        () = tokio::time::sleep(bounds.timeout) => Ended::TimedOut,
        _ = cancel => Ended::Cancelled,
    };
    if matches!(ended, Ended::TimedOut | Ended::Cancelled) {
        stop(&mut child, group.as_mut(), bounds.grace).await;
    }
    settle(reading, group.as_mut()).await;
    (ended, errors.get())
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

/// What a runtime says in the end: no message may have a NUL, and none is longer than `limit` bytes.
pub(super) fn said(text: &str, limit: usize) -> Option<String> {
    let text = text.replace('\0', "");
    let text = text.trim();
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text[..end].trim_end();
    (!text.is_empty()).then(|| text.to_owned())
}

/// What went wrong, and the words that the process had for it.
pub(super) fn note(what: &str, words: &str) -> String {
    if words.is_empty() { what.to_owned() } else { format!("{what}: {words}") }
}

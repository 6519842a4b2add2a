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
use super::orphans;
use super::pipes::{self, Text};
use super::{Bounds, End, Work};

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
    let _noted = orphans::note(work.noted_in.as_deref(), child.id());
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
    shell(line, work).spawn()
}

fn shell(line: &str, work: &Work) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).process_group(0).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in SECRETS {
        command.env_remove(name);
    }
    command.envs(work.environment.iter().map(|(name, value)| (name, value)));
    command
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
            // No message may have a NUL.
            let text = output.get().replace('\0', "");
            let said = bounded(text.trim(), limit).to_owned();
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
mod tests;

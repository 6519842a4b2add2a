//! The command runtime: one `sh -c` child per turn (the command contract, `spec/attention.md`).
//!
//! The framed prompt on stdin; ids and the turn's token in the environment; stdout is the reply, and empty
//! stdout is silence; another exit code than 0 is a failure with the tail of stderr as its note; lines
//! `progress: …` on stderr are told to the host.

use tokio::process::Command;
use tokio::sync::{mpsc, oneshot};

use super::pipes::{self, Text};
use super::process::{self, Ended, note};
use super::{Bounds, End, Told, Work};

/// What its prompt says about how the answer is given.
pub(super) const OUTPUT: &str = "\
C2A OUTPUT
- What you print on standard output is posted as your reply to the event, as it stands.
- Print nothing to stay silent.

";

/// Runs `line` for one turn. Ends early, as [`End::Cancelled`], when `cancel` is sent to or dropped.
/// Dropping the future kills the group.
pub async fn run(
    line: &str,
    work: Work,
    bounds: Bounds,
    mut cancel: oneshot::Receiver<()>,
    tell: mpsc::UnboundedSender<Told>,
) -> End {
    let output = Text::default();
    let read = |pipe| pipes::read_output(pipe, bounds.output, output.clone());
    let (ended, errors) =
        process::run(shell(line, &work), &work, bounds, &mut cancel, read, tell).await;
    match ended {
        Ended::Exited(status) if status.success() => {
            process::said(&output.get(), bounds.output).map_or(End::Silent, End::Said)
        }
        Ended::Exited(status) => {
            End::Failed { note: note(&format!("the runtime ended with {status}"), &errors) }
        }
        Ended::TimedOut => {
            let seconds = bounds.timeout.as_secs_f32();
            let what = format!("the runtime took longer than {seconds} s");
            End::TimedOut { note: note(&what, &errors) }
        }
        Ended::Cancelled => End::Cancelled,
        Ended::Broken(why) => End::Failed { note: format!("the runtime {why}") },
    }
}

fn shell(line: &str, work: &Work) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line);
    process::prepare(&mut command, work);
    command
}

#[cfg(test)]
mod tests;

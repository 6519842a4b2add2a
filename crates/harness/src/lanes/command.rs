//! The user's own command for wakes: a line for `sh`, with the prompt in a variable.
//!
//! Invariant: a command that is missing, or fails at once, has not woken anybody.

use std::sync::PoisonError;
use std::time::{Duration, SystemTime};

use tokio::time::timeout;

use super::context::LaneContext;
use super::flags::CommandLine;
use super::outcome::{Outcome, Reason, Turn, TurnEnd, WakeInput, bounded};
use super::seats::{CommandSeat, RunningCommand};
use super::terminal::{Starter, Typist};

/// A command that runs for so long has found what it starts.
const START: Duration = Duration::from_secs(2);

pub(super) async fn wake<T: Typist + Starter>(
    input: &WakeInput<'_>,
    context: &LaneContext<'_, T>,
) -> Outcome {
    let Some(command) = context.command else {
        return Outcome::Failed { why: Reason::NoCommand.into() };
    };
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let line = CommandLine {
        program: "/bin/sh".to_owned(),
        arguments: vec!["-c".to_owned(), command.to_owned()],
        environment: vec![
            variable("CHORUS_PROMPT", input.prompt),
            variable("CHORUS_WAKE", input.wake),
        ],
        ..CommandLine::default()
    };
    let since = Some(SystemTime::now());
    let mut started = match context.terminal.start(line).await {
        Ok(started) => started,
        Err(why) => return Outcome::failed(Reason::NotStarted, why),
    };
    let (evidence, running) = match timeout(START, &mut started.ended).await {
        Err(_) => ("the command runs", RunningCommand::Now(started.ended)),
        Ok(Ok(ended)) if ended.code == Some(0) => {
            ("the command has succeeded", RunningCommand::Over(ended))
        }
        Ok(ended) => {
            let (code, screen) = ended.map(|ended| (ended.code, ended.screen)).unwrap_or_default();
            let code = code.map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"));
            let detail = format!("it ended with {code}: {}", bounded(&screen, 200));
            return Outcome::failed(Reason::Exited, detail);
        }
    };
    *context.seats.command.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
    Outcome::Confirmed { evidence: evidence.to_owned(), turn: Turn { since, ..Turn::default() } }
}

impl CommandSeat {
    /// Waits for the command's end.
    pub(super) async fn watch_end(&self) -> TurnEnd {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ended = match running {
            Some(RunningCommand::Over(ended)) => Some(ended),
            Some(RunningCommand::Now(ended)) => ended.await.ok(),
            None => None,
        };
        match ended {
            Some(ended) if ended.code == Some(0) => {
                TurnEnd::completed("exit code 0", &ended.screen)
            }
            Some(ended) => TurnEnd {
                last: bounded(&ended.screen, 4096),
                ..TurnEnd::broken("the command failed")
            },
            None => TurnEnd::broken("the command is gone"),
        }
    }
}

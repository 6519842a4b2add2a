//! `resume` and `new_session`: the program is started in a terminal of the runner's, with the prompt as an argument.
//!
//! The interactive forms, so that a person can attach. Invariants: the proof is the program's own, as for keys; a session
//! that the program does not know any more is `session_lost`, and one that another process has is `session_alive`.

use std::time::{Duration, SystemTime};

use tokio::time::{Instant, sleep, sleep_until};

use super::context::LaneContext;
use super::flags::{Begin, Launch, command_line};
use super::outcome::{Outcome, Reason, Turn, bounded};
use super::terminal::{Ended, Starter, Typist};

/// The slowest program takes 4 s to start.
const START: Duration = Duration::from_secs(30);
/// Between two looks at the screen.
const LOOK: Duration = Duration::from_millis(200);

/// What programs say of a session that they do not have.
const LOST: [&str; 5] = [
    "no rollout found",
    "No saved session found",
    "No conversation found with session ID",
    "Invalid session identifier",
    "No previous sessions found",
];
/// What they say of one that another process has.
const TAKEN: [&str; 2] = ["already has an active writer", "open in another app"];

pub(super) async fn wake<T: Typist + Starter>(
    begin: Begin<'_>,
    prompt: &str,
    context: &LaneContext<'_, T>,
) -> Outcome {
    let line = command_line(&Launch { begin, ..context.launch });
    let (since, chosen) = (SystemTime::now(), line.session.clone());
    let mut started = match context.terminal.start(line).await {
        Ok(started) => started,
        Err(why) => return Outcome::failed(Reason::NotStarted, why),
    };
    // The lanes that see it are those of the new process.
    let context = LaneContext {
        process: started.process,
        session: chosen.as_deref(),
        launch: context.launch,
        ..*context
    };
    let until = Instant::now() + START;
    let mut seeing = std::pin::pin!(context.sees(prompt, since));
    loop {
        tokio::select! {
            (evidence, mut turn) = &mut seeing => {
                turn.session = turn.session.or(chosen.clone());
                return Outcome::Confirmed { evidence, turn: Turn { since: Some(since), ..turn } };
            }
            ended = &mut started.ended => {
                let none = || Ended { code: None, screen: String::new() };
                return after_its_end(&ended.unwrap_or_else(|_| none()));
            }
            () = sleep(LOOK) => {
                // Codex stays on a page of its own then, and waits for a key.
                if judge(&context.terminal.screen()) == Some(Reason::SessionAlive) {
                    context.terminal.stop();
                    return Outcome::failed(Reason::SessionAlive, "another process has the session");
                }
            }
            () = sleep_until(until) => {
                return Outcome::unknown(Reason::NoProof, "it runs, and does not show the prompt");
            }
        }
    }
}

fn after_its_end(ended: &Ended) -> Outcome {
    let screen = bounded(&ended.screen, 250);
    let reason = judge(&ended.screen).unwrap_or(Reason::Exited);
    match ended.code {
        Some(code) => Outcome::failed(reason, format_args!("exit code {code}: {screen}")),
        None => Outcome::failed(reason, format_args!("ended by a signal: {screen}")),
    }
}

/// What a program says of its session. A terminal breaks lines anywhere, so spaces do not count.
fn judge(screen: &str) -> Option<Reason> {
    let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let screen = plain(screen);
    let says = |words: &[&str]| words.iter().any(|words| screen.contains(&plain(words)));
    if says(&LOST) {
        Some(Reason::SessionLost)
    } else if says(&TAKEN) {
        Some(Reason::SessionAlive)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_say_of_their_sessions_is_understood() {
        let check = |screen: &str, wanted| assert_eq!(judge(screen), wanted, "{screen}");
        let lost = Some(Reason::SessionLost);
        check(
            "Error: thread/resume failed: no rollout found for thread id b5cc (code -32600)",
            lost,
        );
        check("ERROR: No saved session fo\nund with ID a5a5. Run `codex resume`", lost);
        check("No conversation found with session ID: a3cc", lost);
        check("Invalid session identifier \"0000\".", lost);
        let taken = Some(Reason::SessionAlive);
        check("thread-store conflict: thread 01a2 already has an active writer", taken);
        check(" 🔒  This conversation is open in another app      r to retry", taken);
        check("401 Unauthorized", None);
        let ended = Ended { code: Some(1), screen: "no credit".into() };
        assert_eq!(
            after_its_end(&ended),
            Outcome::failed(Reason::Exited, "exit code 1: no credit")
        );
    }
}

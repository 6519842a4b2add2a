//! Keys into the supervised terminal.
//!
//! Invariant: that the keys were written proves nothing. The program's own files or socket do, or what the screen showed.

use std::time::{Duration, SystemTime};

use tokio::time::timeout;

use super::context::LaneContext;
use super::outcome::{Kind, Outcome, Reason, Turn};
use super::terminal::{Starter, Typed, Typist};

/// As the sockets' own proofs, with the time that a terminal program takes to draw.
const START: Duration = Duration::from_secs(6);

pub(super) async fn wake<T: Typist + Starter>(
    prompt: &str,
    context: &LaneContext<'_, T>,
) -> Outcome {
    let since = SystemTime::now();
    // As an argument, so at the keyboard: `@scout` would put files into the prompt.
    let plain = match context.launch.kind {
        Kind::Gemini => prompt.replace('@', "\\@"),
        _ => prompt.to_owned(),
    };
    let seen = match context.terminal.type_prompt(&plain).await {
        Typed::Typed { seen } => seen,
        Typed::Refused(why) => return Outcome::failed(Reason::PersonTyping, why),
        Typed::Stopped => {
            return Outcome::failed(Reason::StoppedByPerson, "a person pressed a key");
        }
    };
    if let Some(evidence) = seen {
        let session = context.session.map(str::to_owned);
        return Outcome::Confirmed {
            evidence,
            turn: Turn { id: None, session, since: Some(since) },
        };
    }
    match timeout(START, context.sees(prompt, since)).await {
        Ok((evidence, turn)) => Outcome::Confirmed { evidence, turn },
        Err(_) => Outcome::unknown(Reason::NoProof, "the keys went in, and nothing moved"),
    }
}

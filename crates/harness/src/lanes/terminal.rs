//! What a lane needs of the runner's terminal: to type, to start a program in it, and to look at it.
//!
//! The terminal itself is the runner's. These are the two traits that it gives a lane.

use std::future::Future;

use tokio::sync::oneshot;

use super::flags::CommandLine;

/// Types a prompt into the program's terminal.
pub trait Typist {
    /// Types the text as one message and submits it, never into what a person has half typed.
    fn type_prompt(&self, text: &str) -> impl Future<Output = Typed> + Send;
}

/// How typing ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// All of it was typed and submitted. `seen` says by what the screen showed that a turn began, if it did.
    Typed { seen: Option<String> },
    /// Nothing was typed: this was in the way.
    Refused(String),
    /// A key of a person stopped it in the middle; what had been typed is taken back where that is possible.
    Stopped,
}

/// Starts programs in a terminal of the runner's own.
pub trait Starter {
    /// Starts this, with its files written and its server beside it. No other program runs in the terminal.
    fn start(&self, line: CommandLine) -> impl Future<Output = Result<Started, String>> + Send;

    /// The text on the screen.
    fn screen(&self) -> String;

    /// Ends what was started, without waiting for it.
    fn stop(&self);
}

/// A program that runs.
#[derive(Debug)]
pub struct Started {
    pub process: Option<u32>,
    /// Sent when it ends.
    pub ended: oneshot::Receiver<Ended>,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// What was on the screen at its end.
    pub screen: String,
}

//! Why a command failed: a code, a sentence, and what to do next; printed as one line, or as the error
//! envelope with `--json` (design section 4, "Errors").
//!
//! Invariant: exit code 1 is a refusal or a failure, 2 a command that was written wrongly.

use std::io::Write;

use chorus_client::Error;
use chorus_core::model::error::Code;
use chorus_wire::code;
use chorus_wire::error::{Envelope, ErrorBody};

/// A result of a command.
pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

#[derive(Debug)]
pub(crate) struct Failure {
    body: ErrorBody,
    /// What to do next, when the message does not say it already.
    next: Option<String>,
    /// Nothing more is to be said: it was told already, or the reader of our output has gone.
    quiet: bool,
    exit: u8,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        let body = ErrorBody::new(code, message, "");
        Self { body, next: None, quiet: false, exit: 1 }
    }

    /// The command contradicts itself or names something that cannot be.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: 2, ..Self::new(Code::ValidationError, message) }
    }

    /// Something of this machine failed: a file, a process. `INTERNAL` is for our own mistakes.
    pub(crate) fn here(what: &str, error: impl std::fmt::Display) -> Self {
        Self::new(Code::Unavailable, format!("{what}: {error}"))
    }

    pub(crate) fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// It may have been done all the same.
    pub(crate) const LOST: [Code; 2] = [Code::OutcomeUnknown, Code::Unavailable];

    /// What to do next, if it is a refusal of one of these kinds.
    pub(crate) fn next_if(mut self, codes: &[Code], next: impl FnOnce() -> String) -> Self {
        if self.body.known().is_some_and(|code| codes.contains(&code)) {
            self.next = Some(next());
        }
        self
    }

    /// Standard output was closed, as `| head` does.
    pub(crate) fn no_reader() -> Self {
        Self { quiet: true, exit: 0, ..Self::new(Code::Internal, "standard output was closed") }
    }

    /// The program that was run here ended with this code, and has said what it had to say.
    pub(crate) fn exited(code: u8) -> Self {
        Self { quiet: true, exit: code, ..Self::new(Code::Internal, "the program failed") }
    }

    /// What is wrong was the command's answer, and stands above.
    pub(crate) fn told() -> Self {
        Self { quiet: true, ..Self::new(Code::Internal, "see above") }
    }

    /// The answer named what was written wrongly.
    pub(crate) fn wrongly_written(self) -> Self {
        Self { exit: 2, ..self }
    }

    /// Nobody answered.
    pub(crate) fn is_unreachable(&self) -> bool {
        self.body.known() == Some(Code::Unavailable)
    }

    pub(crate) fn is(&self, code: Code) -> bool {
        self.body.known() == Some(code)
    }

    pub(crate) fn exit_code(&self) -> u8 {
        self.exit
    }

    /// Tells the person or the program that asked.
    pub(crate) fn print(&self, json: bool, verbose: bool) {
        if self.quiet {
            return;
        }
        if json {
            let mut body = self.body.clone();
            if let Some(next) = &self.next {
                body.message = format!("{}; {next}", body.message);
            }
            // An envelope is plain strings, which always serialize.
            let line = serde_json::to_string(&Envelope { error: body }).unwrap_or_default();
            // Where nobody reads, there is nobody to tell.
            let _ = writeln!(std::io::stdout(), "{}", crate::print::escaped(&line));
        } else {
            let _ = writeln!(std::io::stderr(), "{}", self.as_text(verbose));
        }
    }

    /// What is wrong and what to do next; `verbose` adds the code and the request's id in the host's log.
    fn as_text(&self, verbose: bool) -> String {
        let code = if verbose { format!("{}: ", self.body.code) } else { String::new() };
        let mut text = format!("error: {code}{}", crate::print::line(&self.body.message));
        if let Some(next) = &self.next {
            text.push_str("; ");
            text.push_str(next);
        }
        if verbose && !self.body.request_id.is_empty() {
            text.push_str(&format!(" ({})", crate::print::line(&self.body.request_id)));
        }
        text
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused { code, message, request_id, .. } => {
                let next = if message.contains(NOT_IN_IT) {
                    Some("somebody in it lets you in with: chorus channel add CHANNEL YOU")
                } else if SAYS_IT.iter().any(|words| message.contains(words)) {
                    None
                } else {
                    code::from_name(&code).and_then(hint)
                };
                let next = next.map(str::to_owned);
                let body = ErrorBody { code, message, request_id };
                Self { body, next, quiet: false, exit: 1 }
            }
            Error::Unreachable { .. } | Error::Untrusted { .. } => {
                Self::new(Code::Unavailable, error.to_string())
            }
            Error::Address(_) => Self::usage(error.to_string()),
            Error::Protocol(_) => Self::new(Code::Unavailable, error.to_string()),
        }
    }
}

/// What the host says to who speaks where it is not.
const NOT_IN_IT: &str = "join it first";

/// What the host says where it knows what helps.
const SAYS_IT: [&str; 2] = ["ask for a new one", "chorus signin"];

/// What helps against a refusal, where the host cannot know how it was called.
fn hint(code: Code) -> Option<&'static str> {
    match code {
        Code::Unauthorized => Some(
            "ask whoever runs the host for a new invitation, or run `chorus signin` on the host's machine",
        ),
        Code::InsufficientAuthority => Some(
            "ask an operator; on the host's machine the operator's token is used with --data DIR",
        ),
        _ => None,
    }
}

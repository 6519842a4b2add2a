//! The agent's side of Chorus: what takes deliveries from the host's C2A transport, turns them into turns of a
//! runtime, and brings back replies and dispositions.
//!
//! Invariants: a state folder is of one workspace; a delivery is on disk before it is acknowledged, and a reply before it is sent ([`journal`]);
//! what to run, when, is decided without I/O ([`turns`]); a runtime gets the token of its turn and never the
//! agent's own ([`runtime`]). The protocol is `spec/attention.md`; the command contract is there too.
//!
//! [`run`] is one harness: one agent, one state folder, one connection that is opened again and again.

pub mod journal;
pub mod lanes;
pub mod options;
pub mod runtime;
pub mod terminal;
pub mod turns;

mod clock;
mod harness;
mod link;
mod outbound;
mod prompt;
mod sending;
mod turn;

use std::fmt;
use std::future::Future;

pub use options::{Knocks, Notice, Options};
pub use runtime::{Allow, Program, Runtime};

/// Runs a harness until `shutdown` is done, the token is refused, or the journal fails.
///
/// Runs that are under way at `shutdown` are stopped by signal and begun again by the next harness on the
/// same state folder, which goes on with the same session.
pub async fn run(options: Options, shutdown: impl Future<Output = ()> + Send) -> Result<(), Error> {
    harness::run(options, shutdown).await
}

/// Why a harness ended by itself.
#[derive(Debug)]
pub enum Error {
    /// The state folder is used by another harness, or cannot be written. Nothing is acknowledged any more.
    Journal(journal::Error),
    /// The host refuses the token, or the agent: trying again would not help.
    Refused(chorus_client::Error),
    /// The token is of another agent than the options name.
    WrongAgent { expected: String, token: String },
    /// Another harness has connected as the same session. Coming back would only take it from that one.
    TakenOver { reason: String },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Journal(e) => e.fmt(f),
            Self::Refused(e) => write!(f, "the host refuses this agent: {e}"),
            Self::TakenOver { reason } => {
                write!(
                    f,
                    "{reason}; run one harness a session, or give this one its own --state-dir"
                )
            }
            Self::WrongAgent { expected, token } => {
                write!(f, "the token is of agent {token}, not {expected}; issue one for {expected}")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<journal::Error> for Error {
    fn from(e: journal::Error) -> Self {
        Self::Journal(e)
    }
}

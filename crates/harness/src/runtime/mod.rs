//! Runtimes: what turns a framed prompt into a reply.
//!
//! Invariant: whatever a runtime does, a turn ends within its timeout, leaves no process behind that holds
//! its pipes, and hands back at most one bounded text.

pub mod command;
mod group;
pub mod orphans;
mod pipes;

use std::path::PathBuf;
use std::time::Duration;

use chorus_core::model::limits::{TEXT_BYTES, TURN_CAP_MS};

/// Which runtime an agent has.
#[derive(Clone, Debug)]
pub enum Runtime {
    /// A line for `sh -c`, run once per turn.
    Command { line: String },
}

/// One turn's work for a runtime.
#[derive(Clone, Debug)]
pub struct Work {
    /// The framed prompt, given on stdin.
    pub prompt: String,
    /// Names and values; never the agent's own token.
    pub environment: Vec<(&'static str, String)>,
    /// Where the run is noted, so that it can be found if it outlives the harness.
    pub noted_in: Option<PathBuf>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Trimmed, not empty, at most [`Bounds::output`] bytes.
    Said(String),
    Silent,
    /// It printed nothing, and its event has ended or was put off by what it told the host itself.
    Disposed,
    /// It could not be started, or exited with something else than 0.
    Failed {
        note: String,
    },
    TimedOut {
        note: String,
    },
    /// The harness stopped it.
    Cancelled,
}

/// What a run may take.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub timeout: Duration,
    /// Longest reply in bytes; what exceeds it is read and dropped, so that the runtime is not blocked.
    pub output: usize,
    /// Between SIGTERM and SIGKILL.
    pub grace: Duration,
}

impl Bounds {
    /// The bounds for a turn: `timeout`, but never above the cap of a turn (design section 5).
    pub fn of_turn(timeout: Duration) -> Self {
        let cap = Duration::from_millis(TURN_CAP_MS.unsigned_abs());
        Self { timeout: timeout.min(cap), output: TEXT_BYTES, grace: Duration::from_secs(2) }
    }
}

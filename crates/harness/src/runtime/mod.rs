//! Runtimes: what turns a framed prompt into a reply.
//!
//! Invariant: whatever a runtime does, a turn ends within its timeout, leaves no process behind that holds
//! its pipes, and hands back at most one bounded text.

pub mod command;
mod group;
pub mod orphans;
mod pipes;
mod process;
pub mod program;

use std::path::PathBuf;
use std::time::Duration;

use chorus_core::model::limits::{TEXT_BYTES, TURN_CAP_MS};
pub use program::{Allow, Program};
use tokio::sync::{mpsc, oneshot};

/// Which runtime an agent has.
#[derive(Clone, Debug)]
pub enum Runtime {
    /// A line for `sh -c`, run once per turn.
    Command { line: String },
    /// A program made for agents, run headless once per turn, in one session per conversation.
    Program(Program),
}

impl Runtime {
    /// Its name on the wire and in the journal.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Command { .. } => "cmd",
            Self::Program(program) => program.name(),
        }
    }

    /// What a prompt says about how the answer is given.
    pub(crate) fn output_rules(&self) -> &'static str {
        match self {
            Self::Command { .. } => command::OUTPUT,
            Self::Program(_) => program::OUTPUT,
        }
    }

    /// Runs one turn. Ends early, as [`End::Cancelled`], when `cancel` is sent to or dropped.
    pub(crate) async fn run(
        &self,
        work: Work,
        bounds: Bounds,
        cancel: oneshot::Receiver<()>,
        tell: mpsc::UnboundedSender<Told>,
    ) -> End {
        match self {
            Self::Command { line } => command::run(line, work, bounds, cancel, tell).await,
            Self::Program(program) => program.run(work, bounds, cancel, tell).await,
        }
    }
}

/// One turn's work for a runtime.
#[derive(Clone, Debug)]
pub struct Work {
    /// The framed prompt, given on stdin.
    pub prompt: String,
    /// Names and values; never the agent's own token.
    pub environment: Vec<(&'static str, String)>,
    /// The working folder.
    pub folder: PathBuf,
    /// The program's own session to go on with.
    pub session: Option<String>,
    /// Where the run is noted, so that it can be found if it outlives the harness.
    pub noted_in: Option<PathBuf>,
}

/// What a run tells before it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// How far it is, for others to see.
    Progress(String),
    /// The program's own id of the session that the next turn of the conversation goes on with.
    Session(String),
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

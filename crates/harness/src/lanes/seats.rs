//! What a runner keeps between wakes: its ACP agent, and its command.

use std::sync::Mutex as Lock;

use tokio::sync::{Mutex, oneshot};

use super::acp_agent::Agent;
use super::terminal::Ended;

/// One of these a runner.
#[derive(Debug, Default)]
pub struct Seats {
    pub acp: AcpSeat,
    pub command: CommandSeat,
}

/// The agent that runs, if one does. It ends when this is dropped.
#[derive(Debug, Default)]
pub struct AcpSeat(pub(super) Mutex<Option<Agent>>);

/// The command that runs.
#[derive(Debug, Default)]
pub struct CommandSeat(pub(super) Lock<Option<RunningCommand>>);

#[derive(Debug)]
pub(super) enum RunningCommand {
    Now(oneshot::Receiver<Ended>),
    Over(Ended),
}

impl AcpSeat {
    /// Whether an agent runs.
    pub fn is_taken(&self) -> bool {
        // It is locked for as long as a prompt is answered.
        self.0.try_lock().map_or(true, |mut seat| seat.as_mut().is_some_and(Agent::runs))
    }

    /// Ends the agent, once the prompt that it has is answered.
    pub async fn clear(&self) {
        *self.0.lock().await = None;
    }
}

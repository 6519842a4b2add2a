//! The place of the program that runs now, shared by the runner and the task of its wake.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::time::timeout;

use crate::terminal::{Exit, TerminalHandle};

/// How long a program has to end.
const LAST: Duration = Duration::from_secs(5);

/// Empty while the program sleeps.
#[derive(Clone, Debug, Default)]
pub(super) struct Seat(Arc<Mutex<Option<TerminalHandle>>>);

impl Seat {
    /// The terminal of the program, while it runs.
    pub(super) fn get(&self) -> Option<TerminalHandle> {
        let seat = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seat.as_ref().filter(|terminal| terminal.is_alive()).cloned()
    }

    pub(super) fn set(&self, terminal: Option<TerminalHandle>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = terminal;
    }
}

/// Ends a program as the end of its terminal does; one that goes on is killed.
pub(super) async fn hang_up(program: &TerminalHandle) -> Exit {
    for how in [Signal::SIGHUP, Signal::SIGKILL] {
        // One that has just ended needs no telling.
        let _ = program.signal(how);
        if let Ok(exit) = timeout(LAST, program.exited()).await {
            return exit;
        }
    }
    program.exited().await
}

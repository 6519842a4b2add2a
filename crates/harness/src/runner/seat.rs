//! The place of the program that runs now, shared by the runner and the task of its wake.

use std::sync::{Arc, Mutex, PoisonError};

use crate::terminal::TerminalHandle;

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

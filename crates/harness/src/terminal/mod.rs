//! A supervised terminal: a program in a PTY of ours, which people see and type into, and into which the runner types.
//!
//! Invariants: the person's own terminal is always put back ([`raw`]); what the program prints and what a person types
//! goes through unchanged ([`relay`]); nothing is typed for the runner over a person's draft, and a person's key stops
//! an injection at once ([`typing`], [`injection`]); no viewer but the foreground one can hold the program up
//! ([`viewers`]).

mod attach;
mod frames;
mod handle;
mod modes;
mod pty;
mod raw;
mod relay;
mod screen;
mod spans;
mod viewers;
mod writer;

pub mod injection;
pub mod parsers;
pub mod typing;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use attach::{Detached, attach};
pub use handle::TerminalHandle;
pub use injection::{Gate, Injected, Plan, Profile, Refusal};
pub use nix::sys::signal::Signal;
pub use pty::{Terminal, spawn};
pub use raw::{RawMode, person_size, restore};
pub use relay::relay;
pub use viewers::serve;

/// The program to run. Its environment is ours with `environment` over it.
#[derive(Clone, Debug)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    pub folder: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub rows: u16,
    pub columns: u16,
}

impl Size {
    /// What a terminal that does not know its size gets: programs divide by it.
    pub const DEFAULT: Self = Self { rows: 24, columns: 80 };
    /// Of a terminal that nobody looks at.
    pub const DETACHED: Self = Self { rows: 40, columns: 120 };

    /// This size with 80x24 in the place of zeros.
    #[must_use]
    pub fn or_default(self) -> Self {
        if self.rows == 0 || self.columns == 0 { Self::DEFAULT } else { self }
    }
}

/// How the program ended: its code, or 128 and the number of the signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    pub code: u8,
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        let code = match (status.code(), status.signal()) {
            (Some(code), _) => code,
            (None, Some(signal)) => 128 + signal,
            (None, None) => 1,
        };
        Self { code: u8::try_from(code).unwrap_or(u8::MAX) }
    }
}

/// A lock whose holder panicked is still a lock: each of them guards a state that is whole between two statements.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the program has ended")
}

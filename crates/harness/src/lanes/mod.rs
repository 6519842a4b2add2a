//! Lanes: the ways to bring a prompt into a program that waits (design section 5, "Wake").
//!
//! Invariants: a lane ends in [`Outcome::Confirmed`], `Failed` or `Unknown`, within a bounded time; only `Confirmed`
//! ends the search ([`chooser`]), and it means that the program itself has shown the turn. What is sent is on disk
//! before it is sent ([`wake_note`]), so that it is looked up and not sent twice. Nothing is written into the user's own
//! configuration.

pub mod chooser;
pub mod claude_inbox;
pub mod codex_socket;
pub mod flags;
pub mod wake_note;

mod outcome;
mod owned;

pub use outcome::{Found, Kind, Lane, MessageId, Outcome, Reason, Turn, TurnEnd, WakeInput, Why};

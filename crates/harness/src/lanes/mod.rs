//! Lanes: the ways to bring a prompt into a program that waits (design section 5, "Wake").
//!
//! Invariants: a lane ends in [`Outcome::Confirmed`], `Failed` or `Unknown`, within a bounded time; only `Confirmed`
//! ends the search ([`chooser`]), and it means that the program itself has shown the turn. What is sent is on disk
//! before it is sent ([`wake_note`]), so that it is looked up and not sent twice. Nothing is written into the user's own
//! configuration ([`flags`]).
//!
//! A runner (which is yet to be built on this) asks [`chooser::choose`], notes what it is about to send, calls [`Waking::try_wake`], and then
//! [`Waking::watch_end`]; after a restart, [`Waking::look_up`].

pub mod chooser;
pub mod claude_inbox;
pub mod codex_socket;
pub mod flags;
pub mod terminal;
pub mod wake_note;

mod acp;
mod acp_agent;
mod attempt;
mod command;
mod context;
pub mod dialog;
mod gemini_chats;
mod outcome;
mod owned;
mod pty;
mod seats;
mod started;

#[cfg(test)]
mod tests;

pub use attempt::Waking;
pub use context::LaneContext;
pub use outcome::{Found, Kind, Lane, MessageId, Outcome, Reason, Turn, TurnEnd, WakeInput, Why};
pub use seats::{AcpSeat, CommandSeat, Seats};

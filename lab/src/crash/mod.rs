//! The crash test: people and agents at work on a real host that is killed with SIGKILL, again and again.
//!
//! What must hold afterwards, whatever the moment of each kill (design section 6): every acknowledged post is
//! there once, with the seq it was acknowledged with; one whose answer was lost is there at most once; the
//! log has no hole and its chain is whole; everybody who was asked was told, and none answered twice.
//!
//! The host, the harnesses and the commands are the one binary in processes of their own, and everything is
//! seen over the transports. Moments, places and words are drawn from a seed, which the report prints; what the
//! machine makes of them is its own, so a seed repeats a plan and not a run. [`check`] judges what was seen
//! and does no I/O, so that its tests show that each loss would be noticed.

mod balance;
pub mod binary;
pub(crate) mod chance;
mod check;
pub mod coming;
pub(crate) mod door;
mod evidence;
pub(crate) mod harness;
pub mod hiring;
pub(crate) mod host;
mod house;
mod people;
mod plan;
mod report;
pub(crate) mod room;
mod run;
pub mod webhook;

pub use check::check;
pub use evidence::{Asked, Directed, Evidence, Fate, Line, Log, Owed, Said};
pub use plan::Plan;
pub use report::Report;
pub use run::run;

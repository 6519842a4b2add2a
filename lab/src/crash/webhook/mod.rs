//! The crash test of agents behind connection strings: the host is killed in the middle of a thousand outstanding deliveries, again
//! and again, while its agents, which are HTTP servers of their own and live on, take them and answer.
//!
//! What must hold afterwards, whatever the moment of each kill: every delivery has arrived at least once; an agent that gives its
//! answers an id is in the log exactly once for each, however often it was asked and however often it had to say so; and of one that gives
//! none no two attempts at one message were heard (WHK-32). [`check`] judges what was seen and does no I/O.

mod agents;
mod check;
mod run;

pub use check::{Answered, Arrived, Evidence, Fate, Manner, Reply, check};
pub use run::{Report, run};

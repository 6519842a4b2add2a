//! The crash test of agents for hire: the two Python programs of `docs/hire.md`, taken from the
//! page itself, and a host that is killed between what they say to it.
//!
//! The seller sends each result three times, and again while nobody answers; the buyer asks again
//! under the job's id. What must hold afterwards, whatever the moment of each kill (REG-39): every
//! job that a buyer was told of has ended in success, its budget was held once, paid once and
//! returned once, and its agent's reputation has moved once. [`check`] judges what was seen and
//! does no I/O.

mod check;
mod program;
mod run;

pub use check::{Entry, Evidence, Hired, Sent, check};
pub use run::{Report, run};

//! Attention: for one message and one member, whether it is meant for the member, what the member
//! owes, and what the member is shown.
//!
//! Everything in here is pure. The spec is `spec/attention.md`; design section 5 gives the order of
//! the rules.

mod addressees;

pub mod directedness;
pub mod flow;
mod greeting;
mod incoming;
pub mod policy;
mod warning;

pub mod compose;
pub mod framing;
pub mod knock;

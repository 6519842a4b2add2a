//! Attention: for one message and one member, who is meant, what they owe, and what they are shown.
//!
//! Everything in here is pure. The spec is `spec/attention.md`; the order of the rules is the design's
//! section 5.

mod addressees;

pub mod directedness;
pub mod flow;
mod greeting;
mod incoming;
pub mod policy;

pub mod compose;
pub mod framing;
pub mod knock;

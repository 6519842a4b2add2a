//! The pure core of Chorus: every decision that needs no I/O.
//!
//! There is no I/O, clock, randomness or wire format in here. Times and ids are passed in, and
//! every rule is a function from facts to a decision. So a policy table is tested as a table, and a
//! week of traffic is simulated in a second.
//!
//! The modules form layers; each uses only those above it.

pub mod model;

pub mod language;

pub mod codec;

pub mod state;

pub mod attention;

pub mod commands;

pub mod queries;

//! Everything Chorus can decide without asking the world.
//!
//! No I/O, no clock, no randomness and no wire format in here: time and ids are passed in, and every
//! rule is a function from facts to a decision. That is what makes a policy table a table test and a
//! week of traffic a one-second simulation.
//!
//! The modules stand in layers; each uses only those above it.

pub mod model;

pub mod language;

pub mod codec;

pub mod state;

pub mod attention;

pub mod commands;

pub mod queries;

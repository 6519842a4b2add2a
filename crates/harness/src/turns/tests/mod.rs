#![allow(clippy::unwrap_used, clippy::expect_used)]
//! Scenarios over the machine: what comes in at which millisecond, and every effect it has.

mod compose;
mod failure;
mod knocks;
mod restart;
pub(crate) mod sim;

//! What is tried on the whole: hosts that are killed, disks that lose writes, weeks of a busy team, and
//! the release binary itself.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod binary;
mod crash;
mod ownership;
mod power_cut;
mod trace;

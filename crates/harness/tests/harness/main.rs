#![allow(clippy::unwrap_used, clippy::expect_used)]
//! The whole harness, with real `sh` runtimes, against a host made for the test.

mod host;
mod joins;
mod outbox;
mod turns;

//! `spec/attention.md` at the real transport: a host on a temporary folder and real connections, one test for each
//! requirement that only a transport can show. What the core alone can show is in the core's own tests.

#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub, reason = "a test's own house")]

mod house;

mod connection;
mod reading;
mod sending;

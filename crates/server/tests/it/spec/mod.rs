//! `spec/attention.md` over real connections: a host on a temporary folder, and one test for each
//! requirement that only a transport can show. What the core alone can show is in the core's own
//! tests.

#![allow(unreachable_pub, reason = "the host of these tests is theirs alone")]

mod connection;
mod house;
mod reading;
mod sending;

//! The shapes on the wire, module by module. Snapshots hold what is written; a change of one is a change of
//! the protocol, and of `spec/attention.md`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod attention;
mod canonical;
mod code;
mod examples;
mod jsonrpc;
mod named;
mod part;
mod rest;
mod shared;
mod time;
mod tools;

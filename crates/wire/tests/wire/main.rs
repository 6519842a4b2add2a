//! The shapes on the wire, module by module. The snapshots show what is written; changing one changes
//! the protocol and `spec/attention.md`.

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

//! The host through its real doors, on a real folder: one module per door.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod harness;
mod house;

mod admin;
mod approvals;
mod archive;
mod attention;
mod audit;
mod bad_input;
mod clock;
mod connection;
mod crowd;
mod deliveries;
mod digests;
mod ephemeral;
mod erase;
mod identity;
mod issuers;
mod leave;
mod leaving;
mod limits;
mod listen;
mod live;
mod oidc;
mod openapi;
mod owed;
mod pauses;
mod postgres;
mod redact;
mod restart;
mod retention;
mod sqlite;
mod tails;
mod traces;
mod web;

//! The real binary, end to end: a host in one process, harnesses and commands in others.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cli;
mod host;

mod bad_days;
mod channels;
mod commands;
mod config;
mod connect;
mod copies;
mod demo;
mod errors;
mod first_hour;
mod harness;
mod inboxes;
mod mcp;
mod mcp_setup;
mod mistakes;
mod names;
mod operate;
mod projects;
mod registry;
mod repair;
mod run;
mod runtimes;
mod secrets;
mod serve;
mod shell;
mod signing_in;
mod tls;
mod turns;
mod wakes;
mod workspace;

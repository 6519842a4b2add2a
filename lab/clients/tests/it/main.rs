//! Real clients against a real host.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bare_machine;
mod browser;
mod cards;
mod conformance;
mod connect;
mod delivered;
mod desk;
mod first_hour;
mod house;
mod lanes;
mod libraries;
mod objects;
mod page;
mod programs;
mod runtimes;
mod setup;
mod wake;
mod webhooks;

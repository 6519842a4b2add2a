//! The client against a host made for the test: what is sent, and what becomes of every kind of answer.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bridge;
mod c2a;
mod host;
mod post;
mod rest;
mod sse;

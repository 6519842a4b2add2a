//! The harness's end of C2A: a [`Connection`] over WebSocket, single calls by POST ([`post`]), and a
//! [`bridge`] between lines and frames for `chorus c2a`.
//!
//! When to connect again is the harness's matter; a connection that ends says so once and is over.

mod bridge;
mod connection;
mod life;
mod post;
mod socket;

pub use bridge::bridge;
pub use connection::{Connection, Incoming, connect};
pub use post::{call_tool, post};

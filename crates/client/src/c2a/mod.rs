//! The harness's end of C2A: a [`Connection`] over WebSocket, single calls by POST ([`post`]), and a
//! [`bridge`] between lines and frames for `chorus c2a`.
//!
//! When to connect again is the harness's matter; a connection that ends says so once and is over.

mod connection;

mod calls;
mod life;
mod reader;
mod socket;

mod bridge;
mod post;

pub use bridge::bridge;
pub(crate) use bridge::read_line;
pub use connection::{Connection, connect};
pub use post::{call_tool, post};
pub use reader::Incoming;

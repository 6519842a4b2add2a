//! The protocols the load generator speaks, each no further than a load needs.

mod http;
mod mcp;
mod redis;
mod websocket;

pub(crate) use http::{Get, Once, Post, exchange, head_and_body, request};
pub(crate) use mcp::{CHORUS, Endpoint, Tool, call};
pub(crate) use redis::Script;
pub(crate) use websocket::{Calls, frame, next_frame};

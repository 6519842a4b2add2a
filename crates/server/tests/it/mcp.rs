//! MCP through the official SDK's client, over real HTTP and on both wires.

pub(crate) mod clients;
mod fence;
mod findings;
mod given;
mod methods;
mod news;
pub(crate) mod refused;
mod sessions;
mod slice;
mod threads;

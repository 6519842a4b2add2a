//! Client of the host's own transports: REST ([`Client`]), server-sent events ([`sse`]) and C2A ([`c2a`]).
//!
//! Every method names the call it makes; every failure is one [`Error`] that says whether the host refused,
//! could not be reached, or spoke in a way we do not understand. Nothing here retries: whoever calls knows
//! whether that is safe. [`backoff`] says how long to wait.

mod backoff;
mod error;
mod http;
mod trust;

mod rest;
mod tool;

pub mod c2a;
pub mod mcp;
pub mod sse;

pub use backoff::backoff;
pub use error::Error;
pub use http::{Client, is_local};
pub use rest::sign_in::sign_in;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
pub use trust::trust;

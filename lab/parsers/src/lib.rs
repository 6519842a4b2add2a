//! What every parser that a stranger reaches is held to (OPS-466).
//!
//! A target is a function that takes any bytes, gives them to one parser and panics when a property does not hold. Two
//! callers share them: libFuzzer (`lab/fuzz`, by `cargo xtask lab fuzz`), and a test that plays every seed of
//! `seeds/TARGET/` once, so that no target rots. What fuzzing finds becomes a seed.
//!
//! No target reads a clock or the network. Only the keys of [`token`] are drawn at random, once in a process.

mod json;
#[cfg(feature = "host")]
mod outside;
mod packed;
#[cfg(feature = "host")]
mod screen;
#[cfg(feature = "host")]
mod stream;
mod text;

pub use json::{callback, jsonrpc, parts};
#[cfg(feature = "host")]
pub use outside::{connection, import, picture, redact, token};
pub use packed::packed;
#[cfg(feature = "host")]
pub use screen::screen;
#[cfg(feature = "host")]
pub use stream::ndjson;
pub use text::{cron, prompt, search};

/// Panics when a property does not hold.
pub type Target = fn(&[u8]);

/// Each target under the name that its seeds and its program have.
#[cfg(feature = "host")]
pub const TARGETS: [(&str, Target); 14] = [
    ("callback", callback),
    ("connection", connection),
    ("cron", cron),
    ("import", import),
    ("jsonrpc", jsonrpc),
    ("ndjson", ndjson),
    ("packed", packed),
    ("parts", parts),
    ("picture", picture),
    ("prompt", prompt),
    ("redact", redact),
    ("screen", screen),
    ("search", search),
    ("token", token),
];

//! The `webhook` door: an agent behind a connection string (webhook spec; `spec/webhook.md`).
//!
//! A service POSTs a [`Delivery`] to the string; the agent POSTs [`CallbackEvent`]s to the URL that came with it.
//! Chorus is on both sides, so every type here is written and read. Unknown fields are skipped, since other
//! services and agents send their own.

mod callback;
mod delivery;

pub use callback::{Accepted, CallbackEvent, Lifecycle, StandingCallback};
pub use delivery::{
    Attention, Channel, Delivery, Extension, Knock, McpServer, McpServers, Message, Reminder,
    Reminds, Sender, Thread,
};

/// Where an agent of this host is reached: `/inbox/{secret}`.
pub const INBOX: &str = "/inbox/";
/// What a connection string's secret begins with.
pub const SECRET_PREFIX: &str = "sk_";
/// What a callback's token begins with.
pub const TOKEN_PREFIX: &str = "tok_";
/// The header that is the same whenever the same is posted again; both sides send it, and read it.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// Largest delivery that an inbox takes, in bytes: a message, its parts and its fragments.
pub const DELIVERY_BYTES: usize = 1024 * 1024;
/// Largest event that a callback takes, in bytes; a line of NDJSON is one.
pub const EVENT_BYTES: usize = 512 * 1024;

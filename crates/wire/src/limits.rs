//! Limits on what the tools accept. Those that hold inside the host too are
//! [`chorus_core::model::limits`].

/// Largest `limit` of the tools that read.
pub const MAX_LIMIT: u32 = 200;
/// Longest idempotency key, in bytes.
pub const KEY_BYTES: usize = 256;
/// Longest wait of `read_messages`, in seconds.
pub const MAX_WAIT_SECONDS: u32 = 300;
/// Most messages that `summarize_thread` looks at.
pub const MAX_SUMMARIZED: u32 = 1_000;
/// Longest `trigger_prompt`, in bytes: it shares the 8 KiB of a wake's prompt with what the host says.
pub const TRIGGER_PROMPT_BYTES: usize = 4_096;

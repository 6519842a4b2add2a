//! A wake as it is sent to its runner.

use std::sync::Arc;

use super::Wake;
use crate::model::ids::{SessionKey, Uid};

/// Everything that the notification to the runner says. The words are framed already.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct OutgoingWake {
    pub wake: Arc<Wake>,
    /// The runner's session, [`Wake::session`].
    pub session: SessionKey,
    /// The runner may have it already: it is the same wake and fence.
    pub again: bool,
    pub threads: Vec<OutgoingThread>,
    /// What the program is told; at most [`crate::model::limits::WAKE_PROMPT_BYTES`].
    #[redact(fixed = 3)]
    pub prompt: Arc<str>,
    /// What a new session is told besides, which knows nothing; at most
    /// [`crate::model::limits::WAKE_SUMMARY_BYTES`].
    #[redact(fixed = 3)]
    pub summary: Arc<str>,
}

/// One place to read.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct OutgoingThread {
    pub conversation: Uid,
    pub thread: Option<Uid>,
    /// Chosen by members.
    #[redact(fixed = 3)]
    pub title: Arc<str>,
    /// The newest message to read: its place in its thread, or in the conversation's log where it
    /// is in none.
    pub through_seq: u64,
    /// What the agent has read already, counted likewise.
    pub read_seq: u64,
}

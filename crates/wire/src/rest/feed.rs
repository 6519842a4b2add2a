//! `/v1/channels/{id}/feed`: what a channel is about. Subjects, what came of them, and what of their threads all should
//! see; replies and progress stay in the threads.

use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::messages::{Message, MessageAuthor};
use super::thread_work::Progress;
use super::threads::Thread;

/// Query of `GET /v1/channels/{id}/feed`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadFeed {
    /// The `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// 1 to 200, 50 unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// `GET /v1/channels/{id}/feed`, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Feed {
    pub entries: Vec<Entry>,
    /// Where to read on; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A message that opened a subject, or a thread that began without one.
    Subject,
    /// What came of a thread.
    ResultSummary,
    /// A message of a thread that all should see.
    Promotion,
}

#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    pub kind: EntryKind,
    pub event_id: String,
    pub seq: u64,
    pub actor: MessageAuthor,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    /// The subject's message, or the one that is promoted, as it is now with its reactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// What came of the thread, or why the message is promoted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub text: Option<String>,
    /// Absent for a subject that nobody has answered yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<Thread>,
    /// Messages in the thread.
    pub replies: u64,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub last_activity: Timestamp,
    /// The newest word on the thread's progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
}

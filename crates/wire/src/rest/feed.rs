//! `/v1/channels/{id}/feed`: an overview of a channel: its subjects, their results, and messages
//! promoted from their threads. Replies and progress stay in the threads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::messages::{Message, MessageAuthor};
use super::thread_work::Progress;
use super::threads::Thread;
use crate::time::Time;

/// Query of `GET /v1/channels/{id}/feed`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadFeed {
    /// The `next` of the previous page.
    pub before: Option<u64>,
    /// 1 to 200; 50 by default.
    pub limit: Option<u32>,
}

/// `GET /v1/channels/{id}/feed`, newest first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Feed {
    pub entries: Vec<Entry>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A message that opened a subject, or a thread that began without one.
    Subject,
    /// The result of a thread.
    ResultSummary,
    /// A message promoted from a thread.
    Promotion,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    pub kind: EntryKind,
    pub event_id: String,
    pub seq: u64,
    pub actor: MessageAuthor,
    pub created_at: Time,
    /// The subject's message, or the promoted one, in its current state with its reactions.
    pub message: Option<Message>,
    /// The result of the thread, or the reason for the promotion.
    #[redact(fixed = 3)]
    pub text: Option<String>,
    /// Absent if nobody has replied to the subject yet.
    pub thread: Option<Thread>,
    /// Number of messages in the thread.
    pub replies: u64,
    pub last_activity: Time,
    /// The newest progress report of the thread.
    pub progress: Option<Progress>,
}

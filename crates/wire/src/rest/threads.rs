//! `/v1/threads`: units of work inside conversations.

use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::thread_work::Work;
use crate::named::Named;
use crate::time::Time;

/// `POST /v1/threads` -> 201 [`Thread`]. Without `conversation`, a new conversation of kind
/// `thread` is created, which only the participants see.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewThread {
    pub conversation: Option<String>,
    /// The message that becomes the thread's root.
    pub root: Option<String>,
    #[redact(fixed = 3)]
    pub title: Option<String>,
    #[serde(rename = "type")]
    pub kind: Option<Named<ThreadKind>>,
    /// Member ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub participants: Vec<String>,
    pub owner: Option<String>,
}

/// `PATCH /v1/threads/{id}` -> [`Thread`]; absent fields are unchanged, a null owner removes the
/// owner.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThreadPatch {
    pub status: Option<Named<ThreadStatus>>,
    #[serde(deserialize_with = "super::nullable")]
    pub owner: Option<Option<String>>,
    #[redact(fixed = 3)]
    pub reason: Option<String>,
    /// The result, for the channel's feed. Allowed when the thread is resolved or closed, or later.
    #[redact(fixed = 3)]
    pub summary: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// `th_…`
    pub id: String,
    pub conversation: String,
    /// The event of the root message.
    pub root: Option<String>,
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(rename = "type")]
    pub kind: Named<ThreadKind>,
    pub status: Named<ThreadStatus>,
    pub owner: Option<String>,
    /// Member ids.
    pub participants: Vec<String>,
    /// Thread seq of the newest message.
    pub last_seq: u64,
    /// Number of agents' messages since a person last spoke or the status changed.
    #[serde(default)]
    pub unattended: u32,
    /// Whether agents are paused here until a person lets them continue.
    #[serde(default)]
    pub paused: bool,
    /// The state of its work; absent until something is reported.
    pub work: Option<Work>,
    pub created_at: Time,
    pub updated_at: Time,
}

/// `GET /v1/threads`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Threads {
    pub threads: Vec<Thread>,
}

/// Query of `GET /v1/threads`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListThreads {
    pub conversation: Option<String>,
    pub status: Option<Named<ThreadStatus>>,
}

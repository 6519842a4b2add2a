//! `/v1/threads`: the units of work inside conversations.

use chorus_core::thread::{ThreadKind, ThreadStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::thread_work::Work;
use crate::named::Named;
use crate::time::Time;

/// `POST /v1/threads` -> 201 [`Thread`]. Without a conversation a new one of kind `thread` is made, seen by
/// its participants only.
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

/// `PATCH /v1/threads/{id}` -> [`Thread`]; absent fields stay, a null owner is none.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThreadPatch {
    pub status: Option<Named<ThreadStatus>>,
    #[serde(deserialize_with = "super::nullable")]
    pub owner: Option<Option<String>>,
    #[redact(fixed = 3)]
    pub reason: Option<String>,
    /// What came of it, for the channel's feed; with resolving or closing it, or once it is resolved.
    #[redact(fixed = 3)]
    pub summary: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// `th_…`
    pub id: String,
    pub conversation: String,
    /// The root message's event.
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
    /// Agents' messages since a person spoke or the status changed.
    #[serde(default)]
    pub unattended: u32,
    /// Whether agents pause here until a person lets them go on.
    #[serde(default)]
    pub paused: bool,
    /// How its work stands; absent while nothing was said of that.
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

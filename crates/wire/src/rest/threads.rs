//! `/v1/threads`: the units of work inside conversations.

use chorus_core::model::ids::Timestamp;
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::thread_work::Work;
use crate::words;

/// `POST /v1/threads` -> 201 [`Thread`]. Without a conversation a new one of kind `thread` is made, seen by
/// its participants only.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewThread {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The message that becomes the thread's root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub title: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<ThreadKind>>")]
    pub kind: Option<ThreadKind>,
    /// Member ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub participants: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

/// `PATCH /v1/threads/{id}` -> [`Thread`]; absent fields stay, a null owner is none.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThreadPatch {
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<ThreadStatus>>")]
    pub status: Option<ThreadStatus>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "super::nullable")]
    #[schemars(with = "Option<String>")]
    pub owner: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub reason: Option<String>,
    /// What came of it, for the channel's feed; with resolving or closing it, or once it is resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub summary: Option<String>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// `th_…`
    pub id: String,
    pub conversation: String,
    /// The root message's event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(rename = "type", with = "words::one")]
    #[schemars(with = "words::As<ThreadKind>")]
    pub kind: ThreadKind,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<ThreadStatus>")]
    pub status: ThreadStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub updated_at: Timestamp,
}

/// `GET /v1/threads`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Threads {
    pub threads: Vec<Thread>,
}

/// Query of `GET /v1/threads`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListThreads {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<ThreadStatus>>")]
    pub status: Option<ThreadStatus>,
}

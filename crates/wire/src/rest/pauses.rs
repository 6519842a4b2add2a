//! `/v1/pauses`: timelines in which agents have used up their budget of messages without a person.
//! `POST /v1/channels/{id}/continue` and `POST /v1/threads/{id}/continue` -> [`Continued`], without
//! a body.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// `GET /v1/pauses`: those that the caller can see; operators see all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pauses {
    pub pauses: Vec<Pause>,
}

/// A timeline that waits for a person.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pause {
    pub conversation: String,
    /// Absent for the main timeline.
    pub thread_id: Option<String>,
    /// Its title; absent if the caller cannot see it.
    #[redact(fixed = 3)]
    pub title: Option<String>,
    /// Number of agents' messages since a person last spoke there.
    pub unattended: u32,
    /// Maximum number of such messages.
    pub budget: u32,
}

/// The result of a request to continue.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Continued {
    pub conversation: String,
    pub thread_id: Option<String>,
    /// Whether agents were paused; if not, nothing changed.
    pub was_paused: bool,
}

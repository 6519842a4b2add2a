//! `/v1/pauses`: lines of talk where agents have used their no-human budget up. `POST
//! /v1/channels/{id}/continue` and `POST /v1/threads/{id}/continue` -> [`Continued`], without a body.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `GET /v1/pauses`: where the caller may see it, and for who runs the room everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pauses {
    pub pauses: Vec<Pause>,
}

/// One line of talk that waits for a person.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pause {
    pub conversation: String,
    /// Absent for the main line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// What it is called; absent when the caller may not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub title: Option<String>,
    /// Agents' messages since a person spoke there.
    pub unattended: u32,
    /// How many they may say.
    pub budget: u32,
}

/// What a word to go on did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Continued {
    pub conversation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Whether agents had paused; where they had not, nothing was changed.
    pub was_paused: bool,
}

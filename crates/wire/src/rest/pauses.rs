//! `/v1/pauses`: lines of talk where agents have used their no-human budget up. `POST
//! /v1/channels/{id}/continue` and `POST /v1/threads/{id}/continue` -> [`Continued`], without a body.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// `GET /v1/pauses`: where the caller may see it, and for who runs the room everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pauses {
    pub pauses: Vec<Pause>,
}

/// One line of talk that waits for a person.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pause {
    pub conversation: String,
    /// Absent for the main line.
    pub thread_id: Option<String>,
    /// What it is called; absent when the caller may not see it.
    #[redact(fixed = 3)]
    pub title: Option<String>,
    /// Agents' messages since a person spoke there.
    pub unattended: u32,
    /// How many they may say.
    pub budget: u32,
}

/// What a word to go on did.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Continued {
    pub conversation: String,
    pub thread_id: Option<String>,
    /// Whether agents had paused; where they had not, nothing was changed.
    pub was_paused: bool,
}

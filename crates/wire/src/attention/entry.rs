//! One message or event, as `chat.list_events` and `chat.read_thread` show it.

use chorus_core::model::attention::{Directedness, Mode, Policy, Priority};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::reaction::Signal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::content::Author;
use crate::part::Part;
use crate::words;

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub event_id: String,
    pub conversation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    pub sequence: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_sequence: Option<u64>,
    pub author: Author<'static>,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    /// The parts, when they are more than `text`. Untrusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Part>>,
    /// Untrusted. Absent in a deleted message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<String>,
    /// The message that this event is an edit of: what is owed is owed for the edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub edited_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<Reaction>,
    /// What the host decided for the caller; absent for what it was not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attention: Option<EntryAttention>,
    /// Member ids: whom an ephemeral message is shown to; absent for others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

/// One signal on a message, with everybody who set it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reaction {
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Signal>")]
    pub signal: Signal,
    pub glyph: String,
    /// Member ids.
    pub members: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryAttention {
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Directedness>")]
    pub directedness: Directedness,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Policy>")]
    pub policy: Policy,
    pub reason: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Mode>")]
    pub mode: Mode,
}

/// One member that is told of a message, and why; the same on every transport.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Told {
    /// The member's id.
    pub member: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Directedness>")]
    pub directedness: Directedness,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Policy>")]
    pub policy: Policy,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Mode>")]
    pub mode: Mode,
    /// The rule that decided.
    pub reason: String,
    #[serde(default, with = "words::one", skip_serializing_if = "is_normal")]
    #[schemars(with = "words::As<Priority>")]
    pub priority: Priority,
}

/// A name with `@` in a message that fits nobody, so that nobody was told for it.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnknownName {
    /// As it was written, without the sign.
    #[redact(fixed = 3)]
    pub name: String,
    /// The most similar name of somebody who is here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    /// All of it in a sentence.
    #[redact(fixed = 3)]
    pub message: String,
}

fn is_normal(priority: &Priority) -> bool {
    *priority == Priority::Normal
}

/// A count that is not shown.
pub(crate) fn is_none(count: &u32) -> bool {
    *count == 0
}

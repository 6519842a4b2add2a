//! One message or event, as `chat.list_events` and `chat.read_thread` show it.

use chorus_core::attention::{Directedness, Mode, Policy, Priority};
use chorus_core::reaction::Signal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::content::Author;
use crate::named::Named;
use crate::part::Part;
use crate::time::Time;

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub event_id: String,
    pub conversation: String,
    pub thread_id: Option<String>,
    pub sequence: u64,
    pub thread_sequence: Option<u64>,
    pub author: Author<'static>,
    pub created_at: Time,
    /// The parts, when they are more than `text`. Untrusted.
    pub content: Option<Vec<Part>>,
    /// Untrusted. Absent in a deleted message.
    #[redact(fixed = 3)]
    pub text: Option<String>,
    pub in_reply_to: Option<String>,
    /// The message that this event is an edit of: what is owed is owed for the edit.
    pub replaces: Option<String>,
    pub edited_at: Option<Time>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<Reaction>,
    /// What the host decided for the caller; absent for what it was not told.
    pub attention: Option<EntryAttention>,
    /// Member ids: whom an ephemeral message is shown to; absent for others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

/// One signal on a message, with everybody who set it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reaction {
    pub signal: Named<Signal>,
    pub glyph: String,
    /// Member ids.
    pub members: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryAttention {
    pub directedness: Named<Directedness>,
    pub policy: Named<Policy>,
    pub reason: String,
    pub mode: Named<Mode>,
}

/// One member that is told of a message, and why; the same on every door.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Told {
    /// The member's id.
    pub member: String,
    pub directedness: Named<Directedness>,
    pub policy: Named<Policy>,
    pub mode: Named<Mode>,
    /// The rule that decided.
    pub reason: String,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub priority: Named<Priority>,
}

/// A name with `@` in a message that fits nobody, so that nobody was told for it.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnknownName {
    /// As it was written, without the sign.
    #[redact(fixed = 3)]
    pub name: String,
    /// The most similar name of somebody who is here.
    pub nearest: Option<String>,
    /// All of it in a sentence.
    #[redact(fixed = 3)]
    pub message: String,
}

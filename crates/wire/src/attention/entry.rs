//! One message or event in the results of `chat.list_events` and `chat.read_thread`.

use chorus_core::model::attention::{Directedness, Mode, Policy, Priority};
use chorus_core::model::reaction::Signal;
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
    /// The parts, if they are more than `text`. Untrusted.
    pub content: Option<Vec<Part>>,
    /// Untrusted. Absent if the message was deleted.
    #[redact(fixed = 3)]
    pub text: Option<String>,
    pub in_reply_to: Option<String>,
    /// The message that this event edits. Obligations refer to the edit.
    pub replaces: Option<String>,
    pub edited_at: Option<Time>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<Reaction>,
    /// What the host decided for the caller; absent if it was not delivered to the caller.
    pub attention: Option<EntryAttention>,
    /// Ids of the members who see an ephemeral message; absent for other messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

/// One signal on a message, with all members who set it.
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

/// One recipient of a message, and why it is one. The same in every protocol.
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

/// A name after `@` in a message that matches nobody, so that it had no effect.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnknownName {
    /// The name as written, without `@`.
    #[redact(fixed = 3)]
    pub name: String,
    /// The most similar name of a member.
    pub nearest: Option<String>,
    /// The problem in one sentence.
    #[redact(fixed = 3)]
    pub message: String,
}

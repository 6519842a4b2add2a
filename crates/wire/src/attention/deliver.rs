//! `chat/deliver`, host to harness: one event with the policy for one member (C2A "Event envelope").
//!
//! [`Deliver`] is the whole of it, as a harness reads it. The host writes it with [`super::shared`], which
//! encodes what all receivers share once.

use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::channel::ChannelDelivery;
use super::content::{Author, ConversationRef, Source, Timing, TurnGrant};
use crate::part::Part;
use crate::webhook::McpServer;
use crate::words::{self, Text};

/// The params of `chat/deliver`.
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deliver {
    /// `evt_…`: stable over every attempt; harnesses deduplicate by it.
    pub event_id: String,
    pub source: Source<'static>,
    pub conversation: ConversationRef<'static>,
    pub author: Author<'static>,
    pub timing: Timing,
    /// The event this one is an edit of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<String>,
    pub target: Target,
    /// Untrusted. Absent where the mode withholds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Part>>,
    pub attention: AttentionNote,
    pub injection: Injection,
    pub reliability: Reliability,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnGrant<'static>>,
    /// The public turn that it is run in, where turns are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Box<ChannelDelivery>>,
    /// Members that were told too. Agents that know do not answer twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<String>,
    /// How many were told beyond those that `audience` names.
    #[serde(default, skip_serializing_if = "is_none")]
    pub audience_more: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knock: Option<Knock<'static>>,
    /// The sender's own; untrusted, and withheld with the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub metadata: Option<Value>,
    /// Tools that another service sent along, for this agent's runtime alone (webhook spec section 2).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<McpServer>,
    /// What that service says of its channel; untrusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub channel_context: Option<String>,
}

/// Whether a count is not worth saying.
pub(super) fn is_none(count: &usize) -> bool {
    *count == 0
}

impl Deliver {
    /// The text of the content, untrusted; none where it is withheld.
    pub fn text(&self) -> Option<String> {
        self.content.as_deref().map(crate::part::text_of)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Member ids named in the message.
    #[serde(default)]
    pub mentions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    #[serde(with = "words::one")]
    pub directedness: Directedness,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttentionNote {
    #[serde(with = "words::one")]
    pub policy: Policy,
    /// The rule that decided, as `chorus why` shows it.
    pub reason: Text<'static>,
    #[serde(default, with = "words::one")]
    pub priority: Priority,
    /// Milliseconds from `timing.createdAt` within which an answer is owed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u32>,
    /// What the message wants, as the host reads it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::option")]
    pub intent: Option<Intent>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    #[serde(with = "words::one")]
    pub mode: Mode,
    /// `thread_window`: the harness puts recent messages of the thread beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Text<'static>>,
    /// `user`: the event is a user's words to the model, never the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Text<'static>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reliability {
    /// 1 for the first offer; rises with each.
    pub attempt: u16,
    /// `<eventId>:<member id>`
    pub idempotency_key: String,
}

/// What a member in mode `notify` is shown instead of the content. No word of any user stands in `topic`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Knock<'a> {
    /// `human:<id>` or `agent:<id>`
    pub from: Text<'a>,
    /// `channel:<title or id>`, `thread:<id>` or `dm:<id>`
    #[serde(rename = "where")]
    pub place: Text<'a>,
    #[serde(with = "words::one")]
    pub directedness: Directedness,
    #[serde(with = "words::one")]
    pub policy: Policy,
    #[serde(with = "words::one")]
    pub priority: Priority,
    /// Made by the host from a template.
    pub topic: Text<'a>,
    /// The tool that shows the content: `chat.read_thread`.
    pub pull_with: Text<'a>,
}

/// The result of `chat/deliver`: the harness has it, and will not lose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    pub accepted: bool,
}

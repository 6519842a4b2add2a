//! `chat/deliver`, host to harness: one event with the policy for one member (C2A "Event envelope").
//!
//! [`Deliver`] is the whole of it, as a harness reads it. The host writes it with [`super::shared`], which
//! encodes what all receivers share once.

use chorus_core::attention::{Directedness, Intent, Mode, Policy, Priority};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use super::channel::ChannelDelivery;
use super::content::Text;
use super::content::{Author, ConversationRef, Source, Timing, TurnGrant};
use crate::named::Named;
use crate::part::Part;
use crate::webhook::McpServer;

/// The params of `chat/deliver`.
#[skip_serializing_none]
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
    pub replaces: Option<String>,
    pub in_reply_to: Option<String>,
    pub target: Target,
    /// Untrusted. Absent where the mode withholds it.
    pub content: Option<Vec<Part>>,
    pub attention: AttentionNote,
    pub injection: Injection,
    pub reliability: Reliability,
    pub turn: Option<TurnGrant<'static>>,
    /// The public turn that it is run in, where turns are taken.
    pub channel: Option<Box<ChannelDelivery>>,
    /// Members that were told too. Agents that know do not answer twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<String>,
    /// How many were told beyond those that `audience` names.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub audience_more: usize,
    pub knock: Option<Knock<'static>>,
    /// The sender's own; untrusted, and withheld with the content.
    #[redact(fixed = 3)]
    pub metadata: Option<Value>,
    /// Tools that another service sent along, for this agent's runtime alone (webhook spec section 2).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<McpServer>,
    /// What that service says of its channel; untrusted.
    #[redact(fixed = 3)]
    pub channel_context: Option<String>,
}

impl Deliver {
    /// The text of the content, untrusted; none where it is withheld.
    pub fn text(&self) -> Option<String> {
        self.content.as_deref().map(crate::part::text_of)
    }
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Member ids named in the message.
    #[serde(default)]
    pub mentions: Vec<String>,
    pub recipient: Option<String>,
    pub directedness: Named<Directedness>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttentionNote {
    pub policy: Named<Policy>,
    /// The rule that decided, as `chorus why` shows it.
    pub reason: Text<'static>,
    #[serde(default)]
    pub priority: Named<Priority>,
    /// Milliseconds from `timing.createdAt` within which an answer is owed.
    pub deadline_ms: Option<u32>,
    /// What the message wants, as the host reads it.
    pub intent: Option<Named<Intent>>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    pub mode: Named<Mode>,
    /// `thread_window`: the harness puts recent messages of the thread beside it.
    pub context: Option<Text<'static>>,
    /// `user`: the event is a user's words to the model, never the system's.
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
    pub directedness: Named<Directedness>,
    pub policy: Named<Policy>,
    pub priority: Named<Priority>,
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

//! Notifications, which nobody answers (C2A "Cancellation and progress").

use chorus_core::model::attention::Policy;
use chorus_core::model::conversation::Visibility;
use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::jsonrpc::Id;
use crate::words;

/// `notifications/cancelled`, both ways: stop the delivery or call with this JSON-RPC id.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancelled {
    pub request_id: Id,
    /// The event whose delivery is cancelled, whatever the attempt; the host always says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub reason: Option<String>,
}

/// `notifications/typing`. From the host: the author of what was delivered types on. From a harness: its
/// agent composes; `author` is absent, since the connection says who it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Typing {
    pub conversation: String,
    /// Member id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    pub typing: bool,
}

/// `session/wake`, host to harness: there is mail in these conversations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wake {
    pub conversations: Vec<String>,
}

/// `notifications/digest`, host to harness: what happened in a channel that the member follows. It is not a
/// delivery: nothing is acknowledged, and what it names was delivered by itself where it had to be.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Digest {
    pub digest_id: String,
    pub conversation: String,
    /// Untrusted.
    #[redact(fixed = 3)]
    pub title: String,
    /// Who may read there: what is `private` is for no other conversation.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::option")]
    pub visibility: Option<Visibility>,
    pub after_sequence: u64,
    pub through_sequence: u64,
    #[serde(with = "crate::time::iso")]
    pub created_at: Timestamp,
    pub attention: DigestAttention,
    pub messages: u32,
    /// The events that name the member or give it work.
    #[redact(fixed = 3)]
    pub calls: Vec<String>,
    /// What the host's command wrote, else what the host made itself; it quotes members: untrusted.
    #[redact(fixed = 3)]
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestAttention {
    #[serde(with = "words::one")]
    pub policy: Policy,
    pub reason: String,
}

/// `notifications/closing`, host to harness: the connection is about to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closing {
    pub reason: String,
}

/// `notifications/progress`, harness to host: life and how far it got; never chat.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    pub progress_token: Id,
    pub progress: Number,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Number>,
    /// Untrusted, like every text of a runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub message: Option<String>,
    /// The event that is worked on. Where it is not said: the one that the token is of, else the turn's, else that of the
    /// run begun last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
}

/// `notifications/message`, harness to host: a line for the log.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogMessage {
    pub level: Level,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    #[redact(fixed = 3)]
    pub data: Value,
}

/// Severities, as in syslog (RFC 5424) and MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

//! Notifications, which have no response (C2A "Cancellation and progress").

use chorus_core::model::attention::Policy;
use chorus_core::model::conversation::Visibility;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use serde_with::skip_serializing_none;

use crate::jsonrpc::Id;
use crate::named::Named;
use crate::time::Time;

/// `notifications/cancelled`, both ways: stop the delivery or call with this JSON-RPC id.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancelled {
    pub request_id: Id,
    /// The event whose delivery is cancelled, in whatever attempt. The host always sends it.
    pub event_id: Option<String>,
    #[redact(fixed = 3)]
    pub reason: Option<String>,
}

/// `notifications/typing`. From the host: the author of a delivered message is typing. From a
/// harness: its agent is composing; `author` is absent because the connection identifies it.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Typing {
    pub conversation: String,
    /// Member id.
    pub author: Option<String>,
    pub typing: bool,
}

/// `notifications/digest`, host to harness: a summary of a channel that the member follows. It is
/// not a delivery: it is not acknowledged, and events in it that needed a delivery had their own.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Digest {
    pub digest_id: String,
    pub conversation: String,
    /// Untrusted.
    #[redact(fixed = 3)]
    pub title: String,
    /// Who can read the channel. Content of a `private` channel must not go into another
    /// conversation.
    pub visibility: Option<Named<Visibility>>,
    pub after_sequence: u64,
    pub through_sequence: u64,
    pub created_at: Time,
    pub attention: DigestAttention,
    pub messages: u32,
    /// The events that mention the member or assign work to it.
    #[redact(fixed = 3)]
    pub calls: Vec<String>,
    /// The text of the host's configured command, or else of the host itself. Untrusted, because it
    /// quotes members.
    #[redact(fixed = 3)]
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestAttention {
    pub policy: Named<Policy>,
    pub reason: String,
}

/// `notifications/closing`, host to harness: the host is about to close the connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closing {
    pub reason: String,
}

/// `notifications/progress`, harness to host: a sign of life with the progress of a run. It is
/// never shown as chat.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    pub progress_token: Id,
    pub progress: Number,
    pub total: Option<Number>,
    /// Untrusted, like all text from a runtime.
    #[redact(fixed = 3)]
    pub message: Option<String>,
    /// The event being worked on. By default the token's, else the turn's, else that of the run
    /// that started last.
    pub event_id: Option<String>,
}

/// `notifications/message`, harness to host: a log line.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogMessage {
    pub level: Level,
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

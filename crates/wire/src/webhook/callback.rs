//! What an agent POSTs to a callback (webhook spec section 3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::time::Time;

/// One JSON object of a callback's body; NDJSON has one a line.
///
/// The `id` of a message identifies repetitions (`spec/webhook.md`, WHK-23); the `id` of a tool
/// call links its result.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CallbackEvent {
    /// Posts a message in the channel.
    Message {
        #[redact(fixed = 3)]
        content: String,
        id: Option<String>,
    },
    ToolCall {
        #[redact(fixed = 3)]
        name: String,
        #[redact(fixed = 3)]
        args: Option<Value>,
        id: Option<String>,
    },
    ToolResult {
        id: Option<String>,
        #[redact(fixed = 3)]
        content: Option<Value>,
    },
    Status {
        #[redact(fixed = 3)]
        status: String,
    },
    Error {
        #[redact(fixed = 3)]
        message: String,
        code: Option<String>,
    },
    /// The run has started, is alive, or has ended.
    Lifecycle { state: Lifecycle },
    /// Requests a callback for the channel that is not bound to one delivery.
    RequestCallback,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    Processing,
    /// The run has ended.
    Idle,
}

/// The response of a callback.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Accepted {
    /// Number of accepted events, including duplicates.
    pub accepted: u64,
    /// Number of accepted events that were duplicates.
    #[serde(default)]
    pub duplicates: u64,
    /// The callback granted for `request_callback`.
    pub callback: Option<StandingCallback>,
}

/// A callback with which an agent can post without being asked (webhook spec section 7, question
/// 3).
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingCallback {
    #[redact(fixed = 3)]
    pub url: String,
    pub expires_at: Time,
}

//! What an agent POSTs to a callback (webhook spec section 3).

use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One JSON object of a callback's body; NDJSON has one a line.
///
/// `id` of a message makes it known when it comes again (`spec/webhook.md`, WHK-23); of a tool call it links the result.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CallbackEvent {
    /// Says something in the channel.
    Message {
        #[redact(fixed = 3)]
        content: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    ToolCall {
        #[redact(fixed = 3)]
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[redact(fixed = 3)]
        args: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    ToolResult {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// The run begins, lives, or is over.
    Lifecycle { state: Lifecycle },
    /// Asks for a callback of the channel that is not for one delivery.
    RequestCallback,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    Processing,
    /// Nothing more comes.
    Idle,
}

/// The answer of a callback.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Accepted {
    /// Events taken in, those among them that were known already.
    pub accepted: u64,
    /// Of those, the events that had come before.
    #[serde(default)]
    pub duplicates: u64,
    /// What `request_callback` was granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<StandingCallback>,
}

/// A callback with which an agent may speak unasked (webhook spec section 7, question 3).
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingCallback {
    #[redact(fixed = 3)]
    pub url: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub expires_at: Timestamp,
}

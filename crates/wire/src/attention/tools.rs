//! The chat tools (C2A "Chat tools"), one a file: their arguments and results. Here is what all calls
//! share.
//!
//! Results have MCP's format. A refusal is a tool error with the error envelope as structured
//! content, so that a model sees the same error code everywhere.

mod claim;
mod defer;
mod list_events;
mod react;
mod read_thread;
mod resolve;
mod send_message;

use chorus_core::model::error::Code;
pub use claim::{Claim, ClaimResult, Claimed, Released};
pub use defer::Defer;
pub use list_events::{Events, ListEvents};
pub use react::{React, Reacted};
pub use read_thread::{ReadThread, ThreadWindow};
pub use resolve::{Resolve, Resolved};
pub use send_message::{SendMessage, SendTarget, Sent, Visibility};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use serde_with::skip_serializing_none;

use super::files::ReadAsset;
use super::listing::{ListChannels, ListMembers};
use crate::error::{Envelope, ErrorBody};
use crate::part::{Part, text_of};
use crate::tool::{Arguments, Tool};

/// The chat tools, in the order of `tools/list`.
pub(crate) const TOOLS: &[&Tool] = &[
    ListChannels::TOOL,
    ListMembers::TOOL,
    ListEvents::TOOL,
    ReadThread::TOOL,
    ReadAsset::TOOL,
    SendMessage::TOOL,
    React::TOOL,
    Claim::TOOL,
    Defer::TOOL,
    Resolve::TOOL,
];

/// Params of `tools/call`. The arguments stay raw until the tool reads them.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize)]
pub struct CallParams {
    #[redact(fixed = 3)]
    pub name: String,
    #[redact(fixed = 3)]
    pub arguments: Option<Box<RawValue>>,
}

/// Result of `tools/call`.
#[derive(Clone, veil::Redact, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    /// One text part: the structured content as JSON, for clients that read only text.
    pub content: Vec<Part>,
    /// Raw, so that it is serialized once for both fields.
    #[serde(default)]
    #[redact(fixed = 3)]
    pub structured_content: Box<RawValue>,
    #[serde(default)]
    pub is_error: bool,
}

impl CallResult {
    pub fn ok<T: Serialize>(value: &T) -> Self {
        Self::new(value, false)
    }

    pub fn refused(error: ErrorBody) -> Self {
        Self::new(&Envelope { error }, true)
    }

    fn new<T: Serialize>(value: &T, is_error: bool) -> Self {
        // Results are structs with string keys, which cannot fail to serialize.
        let structured_content = to_raw_value(value).unwrap_or_default();
        let content = vec![Part::text(structured_content.get())];
        Self { content, structured_content, is_error }
    }

    /// The tool's result, or the reason for its refusal.
    pub fn into_result(self) -> Result<Value, ErrorBody> {
        let Self { content, structured_content, is_error } = self;
        let odd = |message| ErrorBody::new(Code::Internal, message, "");
        if !is_error {
            let value = serde_json::from_str(structured_content.get());
            return value.map_err(|e| odd(format!("the result is not valid JSON: {e}")));
        }
        match serde_json::from_str::<Envelope>(structured_content.get()) {
            Ok(envelope) => Err(envelope.error),
            // A tool error that is not ours has only its text.
            Err(_) => Err(odd(text_of(&content))),
        }
    }
}

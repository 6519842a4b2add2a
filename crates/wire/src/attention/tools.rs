//! The chat tools: their arguments and what they give (C2A "Chat tools").
//!
//! A tool's answer is MCP-shaped. A refusal is a tool error with the envelope as structured content, so that
//! the model reads the same code everywhere.

use chorus_core::model::attention::{Directedness, Policy};
use chorus_core::model::delivery::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::reaction::Signal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::content::TurnGrant;
use super::entry::{Entry, Told, UnknownName};
use crate::error::{Envelope, ErrorBody};
use crate::part::{Part, text_of};
use crate::words;

/// Params of `tools/call`. The arguments stay raw until the tool reads them.
#[derive(Clone, veil::Redact, Serialize, Deserialize)]
pub struct CallParams {
    #[redact(fixed = 3)]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub arguments: Option<Box<RawValue>>,
}

/// Result of `tools/call`.
#[derive(Clone, veil::Redact, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    /// One text: the structured content as JSON, for clients that read only text.
    pub content: Vec<Part>,
    /// Raw, so that it is written once for both.
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
        // Results are structs with text for keys, which always have a JSON text.
        let structured_content = to_raw_value(value).unwrap_or_default();
        let content = vec![Part::text(structured_content.get())];
        Self { content, structured_content, is_error }
    }

    /// What the tool gave, or why it refused.
    pub fn into_result(self) -> Result<Value, ErrorBody> {
        let Self { content, structured_content, is_error } = self;
        let odd = |message| ErrorBody::new(Code::Internal, message, "");
        if !is_error {
            let value = serde_json::from_str(structured_content.get());
            return value.map_err(|e| odd(format!("a result that cannot be read: {e}")));
        }
        match serde_json::from_str::<Envelope>(structured_content.get()) {
            Ok(envelope) => Err(envelope.error),
            // A tool error of another make: its text is all there is.
            Err(_) => Err(odd(text_of(&content))),
        }
    }
}

/// Where a message is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    Dm,
    Thread,
    Channel,
    /// To the named members only, and injected nowhere else.
    Ephemeral,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendTarget {
    pub conversation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

/// Arguments of `chat.send_message`. Exactly one of `text` and `content`.
#[derive(Clone, veil::Redact, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendMessage {
    pub target: SendTarget,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<String>,
    /// The same for every retry of this message.
    pub idempotency_key: String,
    pub visibility: Visibility,
    /// Member ids: whom a message of visibility `ephemeral` is shown to. Without any, whom the message it
    /// answers is shown to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The audience intended; it may lower an obligation, never raise it.
    #[serde(with = "words::one")]
    pub directedness: Directedness,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Part>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub metadata: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub turn: Option<String>,
    /// The text with which a run closes, as its harness sends it: what the run has emitted with `emit_output`
    /// is posted in its place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closing: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    pub event_id: String,
    pub conversation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    pub sequence: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_sequence: Option<u64>,
    #[serde(with = "crate::time::iso")]
    pub created_at: Timestamp,
    /// It had been sent before under the same key; nothing was sent now.
    pub duplicate: bool,
    /// Secrets that were blacked out of it.
    #[serde(default, skip_serializing_if = "super::entry::is_none")]
    pub redacted: u32,
    /// Whoever is told of it, as far as the sender may see them.
    pub told: Vec<Told>,
    /// Names in its text that fit nobody whom the sender may see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_names: Vec<UnknownName>,
}

/// Arguments of `chat.react`.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct React {
    pub in_reply_to: String,
    #[serde(with = "words::one")]
    pub signal: Signal,
    /// When it will be done, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub eta: Option<String>,
    /// Takes the signal back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reacted {
    /// The reaction's event; absent when nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// How the delivery answered by it ended.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::option")]
    pub disposition: Option<Disposition>,
}

/// Arguments of `chat.claim`.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Claim {
    pub event_id: String,
    /// Gives the claim back instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub release: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

#[derive(Clone, veil::Redact, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claimed {
    pub event_id: String,
    /// Member id.
    pub holder: String,
    pub fence: u32,
    #[serde(with = "crate::time::iso")]
    pub expires_at: Timestamp,
    pub turn: TurnGrant<'static>,
    /// The event as `chat/deliver` would bring it, with its content.
    #[redact(fixed = 3)]
    pub event: Box<RawValue>,
}

/// What `chat.claim` with `release` gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Released {
    pub event_id: String,
    pub released: bool,
}

/// Arguments of `chat.defer`.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Defer {
    pub event_id: String,
    #[redact(fixed = 3)]
    pub reason: String,
    /// When it comes back by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<crate::time::Until>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

/// Arguments of `chat.resolve`: one of the two ids.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resolve {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

/// What `chat.resolve` gives: the disposition of an event, or the status of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::option")]
    pub disposition: Option<Disposition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::option")]
    pub status: Option<chorus_core::model::thread::ThreadStatus>,
}

/// Arguments of `chat.list_events`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ListEvents {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    pub policy: Option<Policy>,
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    pub directedness: Option<Directedness>,
    /// Only events at or after this time.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    pub since: Option<Timestamp>,
    /// With `conversation`: only events after this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_sequence: Option<u64>,
    /// Only what still waits for the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<bool>,
    /// Only what was not answered in time and concerns the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overdue: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Events {
    pub events: Vec<Entry>,
    pub has_more: bool,
}

/// Arguments of `chat.read_thread`. One of `conversation`, `threadId` and `eventId`; the last shows the
/// window around an event, and counts as pulling a knock's content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ReadThread {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_sequence: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_sequence: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadWindow {
    pub conversation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Oldest first.
    pub messages: Vec<Entry>,
    pub has_more: bool,
    /// Events up to this one were dropped; absent when none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_sequence: Option<u64>,
}

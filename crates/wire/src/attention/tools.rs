//! The chat tools: their arguments and what they give (C2A "Chat tools").
//!
//! A tool's answer is MCP-shaped. A refusal is a tool error with the envelope as structured content, so that
//! the model reads the same code everywhere.

use chorus_core::attention::{Directedness, Policy};
use chorus_core::delivery::Disposition;
use chorus_core::error::Code;
use chorus_core::reaction::Signal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use serde_with::skip_serializing_none;

use super::content::TurnGrant;
use super::entry::{Entry, Told, UnknownName};
use crate::error::{Envelope, ErrorBody};
use crate::named::Named;
use crate::part::{Part, text_of};
use crate::time::Time;

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

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendTarget {
    pub conversation: String,
    pub thread: Option<String>,
}

/// Arguments of `chat.send_message`. Exactly one of `text` and `content`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendMessage {
    pub target: SendTarget,
    pub in_reply_to: Option<String>,
    /// The same for every retry of this message.
    pub idempotency_key: String,
    pub visibility: Visibility,
    /// Member ids: whom a message of visibility `ephemeral` is shown to. Without any, whom the message it
    /// answers is shown to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The audience intended; it may lower an obligation, never raise it.
    pub directedness: Named<Directedness>,
    #[redact(fixed = 3)]
    pub text: Option<String>,
    pub content: Option<Vec<Part>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<String>,
    pub recipient: Option<String>,
    #[redact(fixed = 3)]
    pub metadata: Option<Box<RawValue>>,
    #[redact(fixed = 3)]
    pub turn: Option<String>,
    /// The text with which a run closes, as its harness sends it: what the run has emitted with `emit_output`
    /// is posted in its place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closing: bool,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    pub event_id: String,
    pub conversation: String,
    pub thread_id: Option<String>,
    pub sequence: u64,
    pub thread_sequence: Option<u64>,
    pub created_at: Time,
    /// It had been sent before under the same key; nothing was sent now.
    pub duplicate: bool,
    /// Secrets that were blacked out of it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub redacted: u32,
    /// Whoever is told of it, as far as the sender may see them.
    pub told: Vec<Told>,
    /// Names in its text that fit nobody whom the sender may see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_names: Vec<UnknownName>,
}

/// Arguments of `chat.react`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct React {
    pub in_reply_to: String,
    pub signal: Named<Signal>,
    /// When it will be done, in words.
    #[redact(fixed = 3)]
    pub eta: Option<String>,
    /// Takes the signal back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reacted {
    /// The reaction's event; absent when nothing changed.
    pub event_id: Option<String>,
    /// How the delivery answered by it ended.
    pub disposition: Option<Named<Disposition>>,
}

/// Arguments of `chat.claim`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Claim {
    pub event_id: String,
    /// Gives the claim back instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub release: bool,
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
    pub expires_at: Time,
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
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Defer {
    pub event_id: String,
    #[redact(fixed = 3)]
    pub reason: String,
    /// When it comes back by itself.
    pub until: Option<crate::time::Until>,
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

/// Arguments of `chat.resolve`: one of the two ids.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resolve {
    pub event_id: Option<String>,
    pub thread_id: Option<String>,
    #[redact(fixed = 3)]
    pub note: Option<String>,
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

/// What `chat.resolve` gives: the disposition of an event, or the status of a thread.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    pub event_id: Option<String>,
    pub disposition: Option<Named<Disposition>>,
    pub thread_id: Option<String>,
    pub status: Option<Named<chorus_core::thread::ThreadStatus>>,
}

/// Arguments of `chat.list_events`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ListEvents {
    pub conversation: Option<String>,
    pub stream: Option<String>,
    pub policy: Option<Named<Policy>>,
    pub directedness: Option<Named<Directedness>>,
    /// Only events at or after this time.
    pub since: Option<Time>,
    /// With `conversation`: only events after this one.
    pub after_sequence: Option<u64>,
    /// Only what still waits for the caller.
    pub unsettled: Option<bool>,
    /// Only what was not answered in time and concerns the caller.
    pub overdue: Option<bool>,
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
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ReadThread {
    pub conversation: Option<String>,
    pub thread_id: Option<String>,
    pub event_id: Option<String>,
    pub before_sequence: Option<u64>,
    pub after_sequence: Option<u64>,
    pub limit: Option<u32>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadWindow {
    pub conversation: String,
    pub thread_id: Option<String>,
    /// Oldest first.
    pub messages: Vec<Entry>,
    pub has_more: bool,
    /// Events up to this one were dropped; absent when none were.
    pub base_sequence: Option<u64>,
}

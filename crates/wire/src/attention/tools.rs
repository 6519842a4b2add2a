//! The chat tools: their arguments and results (C2A "Chat tools").
//!
//! Results have MCP's format. A refusal is a tool error with the error envelope as structured
//! content, so that a model sees the same error code everywhere.

use chorus_core::model::attention::{Directedness, Policy};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::reaction::Signal;
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

/// Where a message is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    Dm,
    Thread,
    Channel,
    /// Only to the named members; it is delivered to nobody else.
    Ephemeral,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendTarget {
    pub conversation: String,
    pub thread: Option<String>,
}

/// Arguments of `chat.send_message`. Give exactly one of `text` and `content`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendMessage {
    pub target: SendTarget,
    pub in_reply_to: Option<String>,
    /// The same for every retry of this message.
    pub idempotency_key: String,
    pub visibility: Visibility,
    /// With visibility `ephemeral`: ids of the members who see the message. By default those who
    /// see the message it answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The intended audience. It can lower an obligation but never raise it.
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
    /// Whether this is the closing text of a run, sent by its harness. If the run has called
    /// `emit_output`, that output is posted instead.
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
    /// The message had already been sent with the same key; nothing was sent now.
    pub duplicate: bool,
    /// Number of secrets that were redacted from it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub redacted: u32,
    /// The recipients that the sender can see.
    pub told: Vec<Told>,
    /// Names in its text that match nobody the sender can see.
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
    /// When it will be done, as free text.
    #[redact(fixed = 3)]
    pub eta: Option<String>,
    /// Remove the signal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reacted {
    /// The reaction's event; absent if nothing changed.
    pub event_id: Option<String>,
    /// The disposition of the delivery that it answers.
    pub disposition: Option<Named<Disposition>>,
}

/// Arguments of `chat.claim`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Claim {
    pub event_id: String,
    /// Release the claim instead.
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
    /// The event in the form of `chat/deliver`, with its content.
    #[redact(fixed = 3)]
    pub event: Box<RawValue>,
}

/// The result of `chat.claim` with `release`.
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
    /// When the event is offered again.
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

/// The result of `chat.resolve`: the disposition of an event, or the status of a thread.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    pub event_id: Option<String>,
    pub disposition: Option<Named<Disposition>>,
    pub thread_id: Option<String>,
    pub status: Option<Named<chorus_core::model::thread::ThreadStatus>>,
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
    /// Only events that the caller has not settled.
    pub unsettled: Option<bool>,
    /// Only events that were not answered in time and concern the caller.
    pub overdue: Option<bool>,
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Events {
    pub events: Vec<Entry>,
    pub has_more: bool,
}

/// Arguments of `chat.read_thread`. Give one of `conversation`, `threadId` and `eventId`. The last
/// shows the messages around an event, and counts as fetching a knock's content.
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
    /// Events up to this one were removed; absent if none were.
    pub base_sequence: Option<u64>,
}

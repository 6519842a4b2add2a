//! `/v1/messages`: posting, reading, editing, deleting, reacting. A message is named by `msg_…` or by the
//! `evt_…` of its post; both are one id with two prefixes.

use chorus_core::model::attention::Directedness;
use chorus_core::model::event::{MessageKind, Reason};
use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::attention::content::Author;
pub use crate::attention::entry::{Reaction, Told, UnknownName};
pub use crate::attention::tools::Visibility;
use crate::part::Part;
use crate::words;

/// `POST /v1/messages` -> 201 [`Posted`], and `POST /v1/attention/preview`. Exactly one of `text` and
/// `content`.
#[derive(Clone, veil::Redact, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["conversation"]))]
pub struct NewMessage {
    pub conversation: String,
    /// `th_…`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Part>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<String>,
    /// The same for every retry of this message. Required to post.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Visibility>,
    /// Member ids: whom a message of visibility `ephemeral` is shown to. Without any, whom the message it
    /// answers is shown to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The audience intended; it may lower an obligation, never raise it.
    #[serde(skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<Directedness>>")]
    pub directedness: Option<Directedness>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub metadata: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<MessageSource>,
}

/// Where a message came from, when from another platform.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageSource {
    pub platform: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// The message's id there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How its author is called there; untrusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub author: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Posted {
    pub event_id: String,
    pub message_id: String,
    pub conversation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    pub seq: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_seq: Option<u64>,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    /// It had been posted before under the same key; nothing was posted now.
    pub duplicate: bool,
    /// Secrets that were blacked out of it.
    #[serde(default, skip_serializing_if = "crate::attention::entry::is_none")]
    pub redacted: u32,
    #[serde(default)]
    pub told: Vec<Told>,
    /// Names in its text that fit nobody whom the sender may see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_names: Vec<UnknownName>,
}

/// Query of `GET /v1/messages`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["conversation"]))]
pub struct ListMessages {
    pub conversation: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// `GET /v1/messages`, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Messages {
    pub messages: Vec<Message>,
    pub has_more: bool,
    /// Events up to this seq were dropped; absent when none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_seq: Option<u64>,
}

#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub event_id: String,
    pub message_id: String,
    pub conversation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    pub seq: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_seq: Option<u64>,
    pub author: MessageAuthor,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<MessageKind>")]
    pub kind: MessageKind,
    /// Untrusted. Absent in a deleted message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub text: Option<String>,
    /// The parts, when they are more than `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Part>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<String>,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub edited_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub deleted_at: Option<Timestamp>,
    /// What it said, in all its versions, is gone for good.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<Reaction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub metadata: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<MessageSource>,
    /// Agents' messages between this one and a person's.
    #[serde(default)]
    pub hop: u8,
    /// Member ids: whom an ephemeral message is shown to; absent for others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

/// An author in snake_case.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageAuthor {
    pub id: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<chorus_core::model::member::MemberKind>")]
    pub kind: chorus_core::model::member::MemberKind,
    #[redact(fixed = 3)]
    pub display_name: String,
}

impl From<Author<'_>> for MessageAuthor {
    fn from(author: Author<'_>) -> Self {
        let (id, display_name) = (author.id.into_owned(), author.display_name.into_owned());
        Self { id, kind: author.kind, display_name }
    }
}

/// `PATCH /v1/messages/{id}` -> [`Message`]: the new content.
#[derive(Clone, veil::Redact, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MessagePatch {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Part>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub metadata: Option<Box<RawValue>>,
}

/// `POST /v1/messages/{id}/erase` -> [`Message`]: without what it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Erasure {
    /// Why: one of a list, so that the reason does not say again what had to go.
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Reason>")]
    pub reason: Reason,
}

/// `PUT /v1/messages/{id}/reactions/{signal}`; the body may be absent.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReactionPut {
    /// When it will be done, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub eta: Option<String>,
}

/// The answer to `PUT` and `DELETE` of a reaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReactionAnswer {
    /// The reaction's event; absent when nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<chorus_core::model::delivery::Disposition>>")]
    pub disposition: Option<chorus_core::model::delivery::Disposition>,
}

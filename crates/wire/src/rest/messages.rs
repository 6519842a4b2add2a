//! `/v1/messages`: posting, reading, editing, deleting and reacting. A message is identified by
//! `msg_…` or by the `evt_…` of its post, which are the same id with two prefixes.

use chorus_core::model::attention::Directedness;
use chorus_core::model::event::{MessageKind, Reason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use serde_with::skip_serializing_none;

use crate::attention::content::Author;
pub use crate::attention::entry::{Reaction, Told, UnknownName};
pub use crate::attention::tools::Visibility;
use crate::named::Named;
use crate::part::Part;
use crate::time::Time;

/// `POST /v1/messages` -> 201 [`Posted`], and `POST /v1/attention/preview`. Give exactly one of
/// `text` and `content`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["conversation"]))]
pub struct NewMessage {
    pub conversation: String,
    /// `th_…`
    pub thread: Option<String>,
    #[redact(fixed = 3)]
    pub text: Option<String>,
    pub content: Option<Vec<Part>>,
    pub in_reply_to: Option<String>,
    /// The same for every retry of this message. Required to post.
    pub idempotency_key: Option<String>,
    pub recipient: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<String>,
    pub visibility: Option<Visibility>,
    /// With visibility `ephemeral`: ids of the members who see the message. By default those who
    /// see the message it answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Ids of members whom you leave out: they may read the message, and are told nothing of it,
    /// whatever names them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_to: Vec<String>,
    /// The intended audience. It can lower an obligation but never raise it.
    pub directedness: Option<Named<Directedness>>,
    #[redact(fixed = 3)]
    pub metadata: Option<Box<RawValue>>,
    pub source: Option<MessageSource>,
}

/// Where a message came from, when from another platform.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageSource {
    pub platform: String,
    pub workspace_id: Option<String>,
    /// The message's id there.
    pub id: Option<String>,
    /// The author's name there. Untrusted.
    #[redact(fixed = 3)]
    pub author: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Posted {
    pub event_id: String,
    pub message_id: String,
    pub conversation: String,
    pub thread_id: Option<String>,
    pub seq: u64,
    pub thread_seq: Option<u64>,
    pub created_at: Time,
    /// The message had already been posted with the same key; nothing was posted now.
    pub duplicate: bool,
    /// Number of secrets that were redacted from it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub redacted: u32,
    #[serde(default)]
    pub told: Vec<Told>,
    /// Names in its text that match nobody the sender can see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_names: Vec<UnknownName>,
}

/// Query of `GET /v1/messages`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["conversation"]))]
pub struct ListMessages {
    pub conversation: String,
    pub thread: Option<String>,
    pub after_seq: Option<u64>,
    pub before_seq: Option<u64>,
    pub limit: Option<u32>,
}

/// `GET /v1/messages`, oldest first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Messages {
    pub messages: Vec<Message>,
    pub has_more: bool,
    /// Events up to this seq were removed; absent if none were.
    pub base_seq: Option<u64>,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub event_id: String,
    pub message_id: String,
    pub conversation: String,
    pub thread_id: Option<String>,
    pub seq: u64,
    pub thread_seq: Option<u64>,
    pub author: MessageAuthor,
    pub kind: Named<MessageKind>,
    /// Untrusted. Absent if the message was deleted.
    #[redact(fixed = 3)]
    pub text: Option<String>,
    /// The parts, if they are more than `text`.
    pub content: Option<Vec<Part>>,
    pub in_reply_to: Option<String>,
    pub created_at: Time,
    pub edited_at: Option<Time>,
    pub deleted_at: Option<Time>,
    /// Its content was erased permanently, in all versions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<Reaction>,
    #[redact(fixed = 3)]
    pub metadata: Option<Value>,
    pub source: Option<MessageSource>,
    /// Number of agents' messages between this message and the last one of a person.
    #[serde(default)]
    pub hop: u8,
    /// Ids of the members who see an ephemeral message; absent for other messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

/// The author of a message.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageAuthor {
    pub id: String,
    pub kind: Named<chorus_core::model::member::MemberKind>,
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
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MessagePatch {
    #[redact(fixed = 3)]
    pub text: Option<String>,
    pub content: Option<Vec<Part>>,
    #[redact(fixed = 3)]
    pub metadata: Option<Box<RawValue>>,
}

/// `POST /v1/messages/{id}/erase` -> [`Message`], without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Erasure {
    /// One of a fixed list of reasons, so that the reason cannot repeat the erased content.
    pub reason: Named<Reason>,
}

/// `PUT /v1/messages/{id}/reactions/{signal}`; the body may be absent.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReactionPut {
    /// When it will be done, as free text.
    #[redact(fixed = 3)]
    pub eta: Option<String>,
}

/// The response to `PUT` and `DELETE` of a reaction.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReactionAnswer {
    /// The reaction's event; absent if nothing changed.
    pub event_id: Option<String>,
    pub disposition: Option<Named<chorus_core::model::disposition::Disposition>>,
}

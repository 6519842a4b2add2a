//! The threads protocol: the arguments of its MCP tools and what they give (`spec/threads.md`).
//!
//! Fields that state who is calling may stand in any arguments; the host compares them with the token and reads
//! them no further, so that they are in no type here. Everything is snake_case, as the protocol has it.

pub mod descriptors;
mod schema;

use chorus_core::model::event::MessageKind;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::attention::entry::UnknownName;
use crate::words;

/// The one version of a message's fields so far.
pub const SCHEMA_VERSION: u32 = 1;

/// Arguments of `create_thread`.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateThread {
    /// What the thread is about, one line
    #[redact(fixed = 3)]
    pub title: String,
    /// conversation: talk. workflow: agents work without a person. incident: something is broken
    #[serde(
        rename = "type",
        default,
        skip_serializing_if = "Option::is_none",
        with = "words::option"
    )]
    #[schemars(with = "Option<words::As<ThreadKind>>")]
    pub kind: Option<ThreadKind>,
    /// Member ids of those who take part; you always do
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub participants: Vec<String>,
    /// Open it in this channel, ch_…, seen by all who see that. Without it only the participants see the thread
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel_id: Option<String>,
    /// With channel_id: the message, msg_…, that becomes the thread's root
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_message_id: Option<String>,
    /// Stable key of this thread, the same for every retry, so that it is created once
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::key")]
    pub idempotency_key: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Created {
    pub thread_id: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<ThreadStatus>")]
    pub status: ThreadStatus,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    /// The conversation that the thread is in.
    pub channel_id: String,
    /// It had been created before under the same key; nothing was created now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
}

/// Arguments of `get_thread`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetThread {
    /// Thread id, th_…
    pub thread_id: String,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    pub thread_id: String,
    pub workspace_id: String,
    /// The conversation that the thread is in.
    pub channel_id: String,
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(rename = "type", with = "words::one")]
    #[schemars(with = "words::As<ThreadKind>")]
    pub kind: ThreadKind,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<ThreadStatus>")]
    pub status: ThreadStatus,
    /// Member ids.
    pub participants: Vec<String>,
    /// The seq of its newest message; 0 when there is none.
    pub last_seq: u64,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub updated_at: Timestamp,
    /// How far you have read it, as `ack_read` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
}

/// A member's read cursor in a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cursor {
    pub agent_id: String,
    /// 0 when nothing was acknowledged yet.
    pub last_read_seq: u64,
    /// The message at that seq; absent when nothing was acknowledged yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_acked_message_id: Option<String>,
    /// Messages of others behind the cursor; 200 stands for all that are more.
    pub unread: u32,
}

/// Arguments of `post_message`.
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostMessage {
    /// Thread id, th_…
    pub thread_id: String,
    /// Version of these fields: 1
    #[schemars(schema_with = "schema::version")]
    pub schema_version: u32,
    /// chat: what you say. event: something that happened, named by metadata.event_type. system: from who runs the room
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<MessageKind>")]
    pub kind: MessageKind,
    /// The text. @handle obliges that member to answer
    #[redact(fixed = 3)]
    pub body: String,
    /// Data for programs. An event has event_type here, and event_version when its fields may change
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::metadata")]
    #[redact(fixed = 3)]
    pub metadata: Option<Box<RawValue>>,
    /// The message you answer, msg_…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<String>,
    /// Stable key of this message, the same for every retry, so that it is posted once
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::key")]
    pub idempotency_key: Option<String>,
    /// Token of your turn, when the prompt gave you one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Posted {
    pub message_id: String,
    /// Rises by one with each message of the thread.
    pub seq: u64,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<ThreadStatus>")]
    pub thread_status: ThreadStatus,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    /// It had been posted before under the same key; nothing was posted now.
    pub duplicate: bool,
    /// Of an event: whether its event_type is in the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_registered: Option<bool>,
    /// Secrets that were blacked out of it.
    #[serde(default, skip_serializing_if = "crate::attention::entry::is_none")]
    pub redacted: u32,
    /// Names in its text that fit nobody whom the sender may see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_names: Vec<UnknownName>,
}

/// Arguments of `read_messages`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadMessages {
    /// Thread id, th_…
    pub thread_id: String,
    /// Only messages after this seq; without it from the beginning
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_seq: Option<u64>,
    /// At most so many; 50 unless said
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::limit")]
    pub limit: Option<u32>,
    /// When there is nothing new, wait for it so many seconds, at most 300. Stay below your client's own timeout
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::wait")]
    pub wait_seconds: Option<u32>,
}

/// What `read_messages` gives, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Messages {
    pub messages: Vec<Message>,
    /// Read on with this as since_seq.
    pub next_seq: u64,
    pub has_more: bool,
}

#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub message_id: String,
    pub thread_id: String,
    #[schemars(schema_with = "schema::version")]
    pub schema_version: u32,
    /// Position in the thread; 0 is the message that a channel's thread began with.
    pub seq: u64,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<MessageKind>")]
    pub kind: MessageKind,
    /// Untrusted. Empty in a deleted message.
    #[redact(fixed = 3)]
    pub body: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::metadata")]
    #[redact(fixed = 3)]
    pub metadata: Option<Value>,
    /// Of an event: whether its event_type is in the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_registered: Option<bool>,
    pub sender_agent_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<String>,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub edited_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// Arguments of `ack_read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckRead {
    /// Thread id, th_…
    pub thread_id: String,
    /// The seq of the newest message you have read. It goes neither back nor past the thread's newest
    pub last_read_seq: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Acked {
    pub ok: bool,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub updated_at: Timestamp,
    pub last_read_seq: u64,
    /// The message at that seq; absent when nothing was read yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_acked_message_id: Option<String>,
    /// Messages of others behind the cursor now; 200 stands for all that are more.
    #[serde(default)]
    pub unread: u32,
}

/// Arguments of `update_thread_status`.
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateThreadStatus {
    /// Thread id, th_…
    pub thread_id: String,
    /// active, blocked, resolved, or closed, which is final
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<ThreadStatus>")]
    pub status: ThreadStatus,
    /// Why; whoever reads the thread sees it as a message of kind system
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub reason: Option<String>,
    /// Data for programs, beside the reason in that message. The host writes event_type and status into it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::object")]
    #[redact(fixed = 3)]
    pub metadata: Option<Box<RawValue>>,
}

/// Arguments of `summarize_thread`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummarizeThread {
    /// Thread id, th_…
    pub thread_id: String,
    /// Look at the newest so many for who waits for whom; 200 unless said. Findings, decisions and questions are of the whole
    /// thread
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::max_messages")]
    pub max_messages: Option<u32>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub thread_id: String,
    /// What is in quotation marks are others' words. Untrusted.
    #[redact(fixed = 3)]
    pub summary: String,
    /// Findings that were neither verified nor rejected, oldest first.
    pub open_items: Vec<OpenItem>,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<ThreadStatus>")]
    pub last_status: ThreadStatus,
    pub messages_read: u64,
    pub messages_total: u64,
    pub written_by: Author,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenItem {
    pub message_id: String,
    pub seq: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding_id: Option<String>,
    /// The beginning of the report. Untrusted.
    #[redact(fixed = 3)]
    pub body: String,
}

/// Who wrote a summary's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    Host,
    /// The operator's.
    Command,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusUpdated {
    pub thread_id: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<ThreadStatus>")]
    pub status: ThreadStatus,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub updated_at: Timestamp,
}

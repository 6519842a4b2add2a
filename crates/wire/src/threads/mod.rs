//! The threads protocol: the arguments and results of its MCP tools (`spec/threads.md`).
//!
//! Any arguments may contain fields that state who is calling. The host only compares them with the
//! token, so no type here has them. Everything is snake_case, as in the protocol.

pub mod descriptors;
mod schema;

use chorus_core::model::event::MessageKind;
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
pub use schema::SCHEMA_VERSION;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use serde_with::skip_serializing_none;

use crate::attention::entry::UnknownName;
use crate::named::Named;
use crate::time::Time;

/// Arguments of `create_thread`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateThread {
    /// What the thread is about, one line
    #[redact(fixed = 3)]
    pub title: String,
    /// conversation: talk. workflow: agents work without a person. incident: something is broken
    #[serde(rename = "type")]
    pub kind: Option<Named<ThreadKind>>,
    /// The participants, @handle or id; you are always one
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub participants: Vec<String>,
    /// Open it in this channel, #ops or ch_…, visible to everybody who sees the channel. Without it
    /// only the participants see the thread
    pub channel_id: Option<String>,
    /// With channel_id: the message, msg_…, that becomes the thread's root
    pub root_message_id: Option<String>,
    /// Stable key of this thread, the same for every retry, so that it is created once
    #[serde(default)]
    #[schemars(schema_with = "schema::key")]
    pub idempotency_key: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Created {
    pub thread_id: String,
    pub status: Named<ThreadStatus>,
    pub created_at: Time,
    /// The conversation that the thread is in.
    pub channel_id: String,
    /// The thread had already been created with the same key; nothing was created now.
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

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    pub thread_id: String,
    pub workspace_id: String,
    /// The conversation that the thread is in.
    pub channel_id: String,
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(rename = "type")]
    pub kind: Named<ThreadKind>,
    pub status: Named<ThreadStatus>,
    /// Member ids.
    pub participants: Vec<String>,
    /// The seq of its newest message; 0 if there is none.
    pub last_seq: u64,
    pub created_at: Time,
    pub updated_at: Time,
    /// Your read cursor, as set with `ack_read`.
    pub cursor: Option<Cursor>,
}

/// A member's read cursor in a thread.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cursor {
    pub agent_id: String,
    /// 0 if nothing has been acknowledged yet.
    pub last_read_seq: u64,
    /// The message at that seq; absent if nothing has been acknowledged yet.
    pub last_acked_message_id: Option<String>,
    /// Number of others' messages after the cursor; 200 means 200 or more.
    pub unread: u32,
}

/// Arguments of `post_message`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostMessage {
    /// Thread id, th_…
    pub thread_id: String,
    /// Version of these fields: 1
    #[schemars(schema_with = "schema::version")]
    pub schema_version: u32,
    /// chat: what you say. event: something that happened, named by metadata.event_type. system:
    /// from an operator or orchestrator
    pub kind: Named<MessageKind>,
    /// The text. @handle obliges that member to answer
    #[redact(fixed = 3)]
    pub body: String,
    /// Data for programs. An event has its event_type here, and an event_version if its fields may
    /// change
    #[serde(default)]
    #[schemars(schema_with = "schema::metadata")]
    #[redact(fixed = 3)]
    pub metadata: Option<Box<RawValue>>,
    /// The message you answer, msg_…
    pub in_reply_to: Option<String>,
    /// Stable key of this message, the same for every retry, so that it is posted once
    #[serde(default)]
    #[schemars(schema_with = "schema::key")]
    pub idempotency_key: Option<String>,
    /// Token of your turn, when the prompt gave you one
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Posted {
    pub message_id: String,
    /// Rises by one with each message of the thread.
    pub seq: u64,
    pub thread_status: Named<ThreadStatus>,
    pub created_at: Time,
    /// The message had already been posted with the same key; nothing was posted now.
    pub duplicate: bool,
    /// For an event: whether its event_type is registered.
    pub event_registered: Option<bool>,
    /// Number of secrets that were redacted from it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub redacted: u32,
    /// Names in its text that match nobody the sender can see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_names: Vec<UnknownName>,
}

/// Arguments of `read_messages`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadMessages {
    /// Thread id, th_…
    pub thread_id: String,
    /// Only messages after this seq; without it from the beginning
    pub since_seq: Option<u64>,
    /// Maximum number of messages; 50 by default
    #[serde(default)]
    #[schemars(schema_with = "schema::limit")]
    pub limit: Option<u32>,
    /// If there is nothing new, wait for it this many seconds, at most 300. Stay below your
    /// client's own timeout
    #[serde(default)]
    #[schemars(schema_with = "schema::wait")]
    pub wait_seconds: Option<u32>,
}

/// What `read_messages` gives, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Messages {
    pub messages: Vec<Message>,
    /// The since_seq of the next call.
    pub next_seq: u64,
    pub has_more: bool,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub message_id: String,
    pub thread_id: String,
    #[schemars(schema_with = "schema::version")]
    pub schema_version: u32,
    /// Position in the thread; 0 is the root message of a channel's thread.
    pub seq: u64,
    pub kind: Named<MessageKind>,
    /// Untrusted. Empty if the message was deleted.
    #[redact(fixed = 3)]
    pub body: String,
    #[serde(default)]
    #[schemars(schema_with = "schema::metadata")]
    #[redact(fixed = 3)]
    pub metadata: Option<Value>,
    /// For an event: whether its event_type is registered.
    pub event_registered: Option<bool>,
    pub sender_agent_id: String,
    pub sender_session_id: Option<String>,
    pub in_reply_to: Option<String>,
    pub created_at: Time,
    pub edited_at: Option<Time>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// Arguments of `ack_read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckRead {
    /// Thread id, th_…
    pub thread_id: String,
    /// The seq of the newest message you have read. It cannot move back, nor past the thread's
    /// newest message
    pub last_read_seq: u64,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Acked {
    pub ok: bool,
    pub updated_at: Time,
    pub last_read_seq: u64,
    /// The message at that seq; absent if nothing has been read yet.
    pub last_acked_message_id: Option<String>,
    /// Number of others' messages after the cursor; 200 means 200 or more.
    #[serde(default)]
    pub unread: u32,
}

/// Arguments of `update_thread_status`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateThreadStatus {
    /// Thread id, th_…
    pub thread_id: String,
    /// active, blocked, resolved, or closed, which is final
    pub status: Named<ThreadStatus>,
    /// The reason; readers of the thread see it as a message of kind system
    #[redact(fixed = 3)]
    pub reason: Option<String>,
    /// Data for programs, in the same message as the reason. The host adds event_type and status to
    /// it
    #[serde(default)]
    #[schemars(schema_with = "schema::object")]
    #[redact(fixed = 3)]
    pub metadata: Option<Box<RawValue>>,
}

/// Arguments of `summarize_thread`.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummarizeThread {
    /// Thread id, th_…
    pub thread_id: String,
    /// How many of the newest messages to examine for who waits for whom; 200 by default. Findings,
    /// decisions and questions always cover the whole thread
    #[serde(default)]
    #[schemars(schema_with = "schema::max_messages")]
    pub max_messages: Option<u32>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub thread_id: String,
    /// Untrusted. Text in quotation marks is quoted from messages.
    #[redact(fixed = 3)]
    pub summary: String,
    /// Findings that were neither verified nor rejected, oldest first.
    pub open_items: Vec<OpenItem>,
    pub last_status: Named<ThreadStatus>,
    pub messages_read: u64,
    pub messages_total: u64,
    pub written_by: Author,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenItem {
    pub message_id: String,
    pub seq: u64,
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
    /// The command that the operator configured.
    Command,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusUpdated {
    pub thread_id: String,
    pub status: Named<ThreadStatus>,
    pub updated_at: Time,
}

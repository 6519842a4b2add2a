//! `read_messages`: the messages of a thread in order, and a wait for new ones.

use chorus_core::model::event::MessageKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use super::schema;
use crate::named::Named;
use crate::time::Time;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

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

impl Arguments for ReadMessages {
    type Result = Messages;

    const TOOL: &'static Tool = &Tool {
        name: "read_messages",
        title: "Read a thread's messages",
        description: "Read the messages of a thread in order, after since_seq. With wait_seconds it \
                      waits for new messages instead of polling. Reading does not move your cursor: use \
                      ack_read.",
        effect: Effect::Reads,
        reach: Reach::Named,
        for_turns: true,
        sends: false,
        caller_fields: Some(&["agent_id"]),
        shape: Shape::derived::<Self>(),
    };
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

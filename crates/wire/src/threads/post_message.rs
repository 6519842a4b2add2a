//! `post_message`: what somebody says in a thread, or an event of the work.

use chorus_core::model::event::MessageKind;
use chorus_core::model::thread::ThreadStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_with::skip_serializing_none;

use super::schema;
use crate::attention::entry::UnknownName;
use crate::named::Named;
use crate::time::Time;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

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

impl Arguments for PostMessage {
    type Result = Posted;

    const TOOL: &'static Tool = &Tool {
        name: "post_message",
        title: "Post a message to a thread",
        description: "Post a chat message or an event to a thread. Report work as events, with \
                      metadata.event_type: finding_reported, fix_pushed, re_review_requested, \
                      finding_verified, finding_rejected, decision_made, question_asked, \
                      question_answered, thread_escalated or thread_resolved. Reuse the same \
                      idempotency_key when you retry.",
        effect: Effect::Adds,
        reach: Reach::Named,
        for_turns: true,
        sends: true,
        caller_fields: Some(&["sender_agent_id", "sender_session_id"]),
        shape: Shape::derived::<Self>(),
    };
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

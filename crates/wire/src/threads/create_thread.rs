//! `create_thread`: opens a thread to work in.

use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::schema;
use crate::named::Named;
use crate::time::Time;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

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

impl Arguments for CreateThread {
    type Result = Created;

    const TOOL: &'static Tool = &Tool {
        name: "create_thread",
        title: "Create a thread",
        description: "Create a communication thread to work with other agents and people: give it a \
                      title and the participants. With channel_id it is opened in that channel; \
                      otherwise only the participants see it. Reuse the same idempotency_key when you \
                      retry.",
        effect: Effect::Adds,
        reach: Reach::All { narrowed_by: "channel_id", widened_by: None },
        for_turns: false,
        sends: false,
        caller_fields: Some(&["workspace_id", "created_by"]),
        shape: Shape::derived::<Self>(),
    };
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

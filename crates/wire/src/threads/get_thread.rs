//! `get_thread`: what a thread is, and how far the caller has read it.

use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// Arguments of `get_thread`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetThread {
    /// Thread id, th_…
    pub thread_id: String,
}

impl Arguments for GetThread {
    type Result = Thread;

    const TOOL: &'static Tool = &Tool {
        name: "get_thread",
        title: "Get a thread",
        description: "Get a thread's title, type, status, participants, newest seq, and your read \
                      cursor.",
        effect: Effect::Reads,
        reach: Reach::Named,
        for_turns: true,
        sends: false,
        caller_fields: Some(&[]),
        shape: Shape::derived::<Self>(),
    };
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

//! `ack_read`: moves the caller's read cursor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::time::Time;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

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

impl Arguments for AckRead {
    type Result = Acked;

    const TOOL: &'static Tool = &Tool {
        name: "ack_read",
        title: "Acknowledge what was read",
        description: "Record up to which seq you have read a thread's messages. Your cursor never moves \
                      back.",
        effect: Effect::Sets,
        reach: Reach::Named,
        for_turns: false,
        sends: false,
        caller_fields: Some(&["agent_id"]),
        shape: Shape::derived::<Self>(),
    };
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

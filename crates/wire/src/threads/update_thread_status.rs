//! `update_thread_status`: says how far a thread's work is.

use chorus_core::model::thread::ThreadStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_with::skip_serializing_none;

use super::schema;
use crate::named::Named;
use crate::time::Time;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

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

impl Arguments for UpdateThreadStatus {
    type Result = StatusUpdated;

    const TOOL: &'static Tool = &Tool {
        name: "update_thread_status",
        title: "Update a thread's status",
        description: "Change a thread's status to active, blocked, resolved or closed, with the reason. \
                      Closed is final.",
        effect: Effect::Ends,
        reach: Reach::Named,
        for_turns: false,
        sends: false,
        caller_fields: Some(&["agent_id"]),
        shape: Shape::derived::<Self>(),
    };
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusUpdated {
    pub thread_id: String,
    pub status: Named<ThreadStatus>,
    pub updated_at: Time,
}

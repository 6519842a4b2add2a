//! `heartbeat_session`: a program says that its session is there (threads spec section 3.7).

use chorus_core::model::member::SessionStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// Arguments of `heartbeat_session`.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatSession {
    /// Your member id, as in your token; optional
    pub agent_id: Option<String>,
    /// Your workspace, as in your token, or its name; optional
    pub workspace_id: Option<String>,
    /// The session: an id of this host, sess_…, or the one that the runtime calls it by. By default
    /// your token's session
    pub session_id: Option<String>,
    /// What runs the model: codex_cli, claude_code, gemini_cli
    pub runtime: Option<String>,
    /// Whether the runtime can resume the session by its id after it has ended; false by default
    #[serde(default)]
    pub resumable: bool,
    /// active while the model works, idle while it waits, offline when the session ends; idle by
    /// default
    pub status: Option<Named<SessionStatus>>,
}

impl Arguments for HeartbeatSession {
    type Result = Recorded;

    const TOOL: &'static Tool = &Tool {
        name: "heartbeat_session",
        title: "Say that your session is there",
        description: "Register the session you run in, or say what it is doing: active, idle or \
                      offline. The host uses it to decide how you can be woken. A session that was \
                      not heard of for 90 s counts as offline.",
        effect: Effect::Sets,
        reach: Reach::Named,
        for_turns: false,
        sends: false,
        // Its session_id names the session that is meant, which may be the runtime's own id.
        caller_fields: None,
        shape: Shape::derived::<Self>(),
    };
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    pub ok: bool,
    pub recorded_at: Time,
    /// `sess_…`, by which the host knows the session.
    pub session_id: String,
}

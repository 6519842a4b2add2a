//! `chat.defer`: a promise to answer later.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use crate::attention::disposition::DispositionResult;
use crate::attention::schema::{EVENT, TURN, disposition, object, object_open, text};
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// Arguments of `chat.defer`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Defer {
    pub event_id: String,
    #[redact(fixed = 3)]
    pub reason: String,
    /// When the event is offered again.
    pub until: Option<crate::time::Until>,
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

impl Arguments for Defer {
    type Result = DispositionResult;

    const TOOL: &'static Tool = &Tool {
        name: "chat.defer",
        title: "Defer a chat event",
        description: "Say that you will answer a must_respond message later, with the reason. With \
                      `until` it is offered to you again at that time, and its deadline counts from \
                      there. It records that you took responsibility; it posts nothing.",
        effect: Effect::Sets,
        reach: Reach::Named,
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::written::<Self>(input, output),
    };
}

fn input() -> Value {
    object(
        json!({
            "eventId": text(EVENT),
            "reason": text("Why not now"),
            "until": text("When it is offered again: ISO 8601 UTC, or a span such as 30m; at most 7d"),
            "turn": text(TURN),
        }),
        &["eventId", "reason"],
    )
}

fn output() -> Value {
    object_open(json!({"eventId": {"type": "string"}, "disposition": disposition()}), &[])
}

//! `chat.resolve`: what was handled without a message.

use chorus_core::model::disposition::Disposition;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use crate::attention::schema::{EVENT, TURN, disposition, object, object_open, text};
use crate::named::Named;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// Arguments of `chat.resolve`: one of the two ids.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resolve {
    pub event_id: Option<String>,
    pub thread_id: Option<String>,
    #[redact(fixed = 3)]
    pub note: Option<String>,
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

impl Arguments for Resolve {
    type Result = Resolved;

    const TOOL: &'static Tool = &Tool {
        name: "chat.resolve",
        title: "Resolve an event or thread",
        description: "Mark a chat event as handled without a message, or a thread as resolved. Pass \
                      eventId or threadId, and a note that says what was done.",
        effect: Effect::Sets,
        reach: Reach::Named,
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::written::<Self>(input, output),
    };
}

/// The result of `chat.resolve`: the disposition of an event, or the status of a thread.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    pub event_id: Option<String>,
    pub disposition: Option<Named<Disposition>>,
    pub thread_id: Option<String>,
    pub status: Option<Named<chorus_core::model::thread::ThreadStatus>>,
}

fn input() -> Value {
    object(
        json!({
            "eventId": text(EVENT),
            "threadId": text("Thread id, th_…"),
            "note": text("What was done"),
            "turn": text(TURN),
        }),
        &[],
    )
}

fn output() -> Value {
    object_open(
        json!({
            "eventId": {"type": "string"},
            "disposition": disposition(),
            "threadId": {"type": "string"},
            "status": {"type": "string"},
        }),
        &[],
    )
}

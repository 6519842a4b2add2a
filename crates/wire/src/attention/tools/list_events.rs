//! `chat.list_events`: events that the caller may see, filtered.

use chorus_core::model::attention::{Directedness, Policy};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use crate::attention::entry::Entry;
use crate::attention::schema::{CONVERSATION, count, limit, list, object, one_of, text};
use crate::named::Named;
use crate::time::Time;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// Arguments of `chat.list_events`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ListEvents {
    pub conversation: Option<String>,
    pub stream: Option<String>,
    pub policy: Option<Named<Policy>>,
    pub directedness: Option<Named<Directedness>>,
    /// Only events at or after this time.
    pub since: Option<Time>,
    /// With `conversation`: only events after this one.
    pub after_sequence: Option<u64>,
    /// Only events that the caller has not settled.
    pub unsettled: Option<bool>,
    /// Only events that were not answered in time and concern the caller.
    pub overdue: Option<bool>,
    pub limit: Option<u32>,
}

impl Arguments for ListEvents {
    type Result = Events;

    const TOOL: &'static Tool = &Tool {
        name: "chat.list_events",
        title: "List chat events",
        description: "List chat messages and events you may see: your inbox, mail, mentions and \
                      unanswered knocks. Filter by conversation, stream, response policy, directedness \
                      or time; `unsettled: true` shows only what you have not settled, `overdue: true` \
                      what concerns you and was not answered in time. Reading creates no obligation.",
        effect: Effect::Reads,
        reach: Reach::All { narrowed_by: "conversation", widened_by: Some("stream") },
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::written::<Self>(input, output),
    };
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Events {
    pub events: Vec<Entry>,
    pub has_more: bool,
}

fn input() -> Value {
    object(
        json!({
            "conversation": text(CONVERSATION),
            "stream": text("Stream id, str_…"),
            "policy": one_of::<Policy>("Only events with this response policy"),
            "directedness": one_of::<Directedness>("Only events with this directedness"),
            "since": text("Only events at or after this time, ISO 8601 UTC"),
            "afterSequence": count("With conversation: only later events"),
            "unsettled": {"type": "boolean", "description": "Only events that you have not settled"},
            "overdue": {"type": "boolean", "description": "Only events that were not answered in time"},
            "limit": limit(),
        }),
        &[],
    )
}

fn output() -> Value {
    list("events")
}

//! `chat.read_thread`: the messages of a thread or a conversation.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use crate::attention::entry::Entry;
use crate::attention::schema::{CONVERSATION, count, limit, list, object, text};
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// Arguments of `chat.read_thread`. Give one of `conversation`, `threadId` and `eventId`. The last
/// shows the messages around an event, and counts as fetching a knock's content.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ReadThread {
    pub conversation: Option<String>,
    pub thread_id: Option<String>,
    pub event_id: Option<String>,
    pub before_sequence: Option<u64>,
    pub after_sequence: Option<u64>,
    pub limit: Option<u32>,
}

impl Arguments for ReadThread {
    type Result = ThreadWindow;

    const TOOL: &'static Tool = &Tool {
        name: "chat.read_thread",
        title: "Read a thread or conversation",
        description: "Read the messages of a chat thread, channel or direct conversation, oldest first. \
                      Use it to fetch the content behind a knock (pass its eventId) or to get context \
                      before you answer.",
        effect: Effect::Reads,
        reach: Reach::Named,
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::written::<Self>(input, output),
    };
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadWindow {
    pub conversation: String,
    pub thread_id: Option<String>,
    /// Oldest first.
    pub messages: Vec<Entry>,
    pub has_more: bool,
    /// Events up to this one were removed; absent if none were.
    pub base_sequence: Option<u64>,
}

fn input() -> Value {
    object(
        json!({
            "conversation": text(CONVERSATION),
            "threadId": text("Thread id, th_…"),
            "eventId": text("Show the messages up to and around this event"),
            "beforeSequence": count("Only messages before this sequence"),
            "afterSequence": count("Only messages after this sequence"),
            "limit": limit(),
        }),
        &[],
    )
}

fn output() -> Value {
    list("messages")
}

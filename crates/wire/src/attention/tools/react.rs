//! `chat.react`: an answer without words.

use chorus_core::model::disposition::Disposition;
use chorus_core::model::reaction::Signal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use crate::attention::schema::{EVENT, TURN, disposition, object, object_open, one_of, text};
use crate::named::Named;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// Arguments of `chat.react`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct React {
    pub in_reply_to: String,
    pub signal: Named<Signal>,
    /// When it will be done, as free text.
    #[redact(fixed = 3)]
    pub eta: Option<String>,
    /// Remove the signal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

impl Arguments for React {
    type Result = Reacted;

    const TOOL: &'static Tool = &Tool {
        name: "chat.react",
        title: "React to a message",
        description: "Answer a chat message with a reaction signal instead of words: seen, agree, \
                      working, queued, claimed, done, declined, blocked or unclear. Prefer it whenever a \
                      signal says enough, such as thanks, acknowledgement, accepting or declining work.",
        effect: Effect::Sets,
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
pub struct Reacted {
    /// The reaction's event; absent if nothing changed.
    pub event_id: Option<String>,
    /// The disposition of the delivery that it answers.
    pub disposition: Option<Named<Disposition>>,
}

fn input() -> Value {
    object(
        json!({
            "inReplyTo": text(EVENT),
            "signal": one_of::<Signal>("What you want to say"),
            "eta": text("When it will be done, in words"),
            "remove": {"type": "boolean", "description": "Remove the signal"},
            "turn": text(TURN),
        }),
        &["inReplyTo", "signal"],
    )
}

fn output() -> Value {
    object_open(json!({"eventId": {"type": "string"}, "disposition": disposition()}), &[])
}

//! Helpers to write the JSON Schemas of the chat tools.

use chorus_core::model::disposition::Disposition;
use serde_json::{Map, Value, json};

use crate::limits::MAX_LIMIT;
use crate::named::{self, NamedEnum};

/// What names a conversation, an event and a turn.
pub(super) const CONVERSATION: &str = "A channel's name, #ops, or a conversation id, ch_…";
pub(super) const EVENT: &str = "Event id, evt_…";
pub(super) const TURN: &str = "Token of your turn, when the prompt gave you one";

pub(super) fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

pub(super) fn count(description: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": description})
}

pub(super) fn limit() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "description": "Maximum number of results"})
}

pub(super) fn one_of<E: NamedEnum>(description: &str) -> Value {
    json!({"type": "string", "enum": named::names::<E>(), "description": description})
}

pub(super) fn disposition() -> Value {
    one_of::<Disposition>("How the delivery ended")
}

pub(super) fn list(name: &str) -> Value {
    let mut properties = Map::new();
    properties.insert(name.to_owned(), json!({"type": "array", "items": {"type": "object"}}));
    properties.insert("hasMore".to_owned(), json!({"type": "boolean"}));
    object_open(Value::Object(properties), &[])
}

/// An object of arguments. Unknown properties are refused.
pub(super) fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = object_open(properties, required);
    schema["additionalProperties"] = json!(false);
    schema
}

/// An object in a result, which may get more properties later. At the top nothing is required,
/// because a refusal's envelope must satisfy the schema too.
pub(super) fn object_open(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

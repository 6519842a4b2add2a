//! JSON Schema, as far as the tools' descriptors need it.

use chorus_core::model::delivery::Disposition;
use serde_json::{Map, Value, json};

use super::descriptors::MAX_LIMIT;
use crate::words::Word;

pub(super) fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

pub(super) fn count(description: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": description})
}

pub(super) fn limit() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "description": "At most so many"})
}

pub(super) fn words<W: Word>(description: &str) -> Value {
    let words: Vec<_> = W::WORDS.iter().map(|word| word.word()).collect();
    json!({"type": "string", "enum": words, "description": description})
}

pub(super) fn disposition() -> Value {
    words::<Disposition>("How the delivery ended")
}

pub(super) fn list(name: &str) -> Value {
    let mut properties = Map::new();
    properties.insert(name.to_owned(), json!({"type": "array", "items": {"type": "object"}}));
    properties.insert("hasMore".to_owned(), json!({"type": "boolean"}));
    object_open(Value::Object(properties), &[])
}

/// Arguments: what is not named is a mistake.
pub(super) fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = object_open(properties, required);
    schema["additionalProperties"] = json!(false);
    schema
}

/// Results: they may grow. Nothing is required, since a refusal's envelope must pass the schema too.
pub(super) fn object_open(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

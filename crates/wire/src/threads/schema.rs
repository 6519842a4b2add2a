//! Schemas of fields whose type says too little.

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::attention::descriptors::{KEY_BYTES, MAX_LIMIT};

/// Longest wait of `read_messages`, in seconds.
pub const MAX_WAIT_SECONDS: u32 = 300;

/// Most messages that `summarize_thread` looks at.
pub const MAX_SUMMARIZED: u32 = 1_000;

pub(super) fn version(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": 1, "maximum": super::SCHEMA_VERSION})
}

pub(super) fn metadata(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "properties": {
        "event_type": {"type": "string"},
        "event_version": {"type": "integer", "minimum": 1},
    }})
}

pub(super) fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object"})
}

pub(super) fn key(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "minLength": 1, "maxLength": KEY_BYTES})
}

pub(super) fn limit(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": 1, "maximum": MAX_LIMIT})
}

pub(super) fn max_messages(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": 1, "maximum": MAX_SUMMARIZED})
}

pub(super) fn wait(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": 0, "maximum": MAX_WAIT_SECONDS})
}

//! Schemas of fields whose types alone are not precise enough.

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::limits::{KEY_BYTES, MAX_LIMIT, MAX_SUMMARIZED, MAX_WAIT_SECONDS, TRIGGER_PROMPT_BYTES};

/// The one version of a message's fields so far.
pub const SCHEMA_VERSION: u32 = 1;

pub(super) fn version(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": 1, "maximum": SCHEMA_VERSION})
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

pub(super) fn trigger_prompt(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "maxLength": TRIGGER_PROMPT_BYTES})
}

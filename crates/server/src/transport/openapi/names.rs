//! The parameters of paths: a name means the same wherever it stands.

use chorus_core::model::reaction::Signal;
use chorus_wire::named::Named;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::Operation;

/// What `{name}` in a path means, and one that could be there.
pub(super) type Meaning = (&'static str, &'static str);

/// What a name in the operation's path means: its group says so, unless several groups have the name.
pub(super) fn meaning(operation: &Operation, name: &str) -> Option<Meaning> {
    let own = operation.names.iter().find(|(own, _)| *own == name);
    own.map(|(_, meaning)| *meaning).or_else(|| shared(operation.path, name))
}

/// The names that several groups have.
fn shared(path: &str, name: &str) -> Option<Meaning> {
    Some(match name {
        "id" if path.starts_with("/v1/channels") => {
            ("The conversation: `ch_…`.", "ch_0192f0c1a2b37c4d8e5f60718293a4b5")
        }
        "id" if path.starts_with("/v1/messages") => (
            "The message: `msg_…`, or the `evt_…` of its post.",
            "msg_0192f0c1a2b37c4d8e5f60718293a4b5",
        ),
        "id" if path.starts_with("/v1/threads") => {
            ("The thread: `th_…`.", "th_0192f0c1a2b37c4d8e5f60718293a4b5")
        }
        "channel_id" => ("The channel: `ch_…`.", "ch_0192f0c1a2b37c4d8e5f60718293a4b5"),
        "member" => ("The member's id.", "reviewer_agent"),
        _ => return None,
    })
}

/// The schema of a parameter of a path.
pub(super) fn schema(name: &str, schemas: &mut SchemaGenerator) -> Value {
    match name {
        "signal" => Named::<Signal>::json_schema(schemas).to_value(),
        _ => json!({"type": "string", "minLength": 1}),
    }
}

/// The names in a path, in order.
pub(super) fn of(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

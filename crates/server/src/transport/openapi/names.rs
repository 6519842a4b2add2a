//! The parameters of paths: a name means the same wherever it stands.

use chorus_core::model::reaction::Signal;
use chorus_wire::named::Named;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

/// What `{name}` in a path means, and one that could be there.
pub(super) fn meaning(path: &str, name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "id" if path.starts_with("/v1/approvals") => {
            ("What waits for a person: `apr_…`.", "apr_0192f0c1a2b37c4d8e5f60718293a4b7")
        }
        "id" if path.starts_with("/v1/assets") => {
            ("The file: `ast_…`.", "ast_0192f0c1a2b37c4d8e5f60718293a4b5")
        }
        "id" if path.starts_with("/v1/channels") => {
            ("The conversation: `ch_…`.", "ch_0192f0c1a2b37c4d8e5f60718293a4b5")
        }
        "id" if path.starts_with("/v1/inboxes") => {
            ("The inbox: `inb_…`.", "inb_0192f0c1a2b37c4d8e5f60718293a4b5")
        }
        "id" if path.starts_with("/v1/members") => ("The member's id.", "reviewer_agent"),
        "id" if path.starts_with("/v1/projects") => {
            ("The project: `prj_…`.", "prj_0192f0c1a2b37c4d8e5f60718293a4b5")
        }
        "id" if path.starts_with("/v1/roles") => ("The member's id.", "reviewer_agent"),
        "id" if path.starts_with("/v1/messages") => (
            "The message: `msg_…`, or the `evt_…` of its post.",
            "msg_0192f0c1a2b37c4d8e5f60718293a4b5",
        ),
        "id" if path.starts_with("/v1/threads") => {
            ("The thread: `th_…`.", "th_0192f0c1a2b37c4d8e5f60718293a4b5")
        }
        "id" if path.starts_with("/v1/events") => {
            ("The event: `evt_…`.", "evt_0192f0c1a2b37c4d8e5f60718293a4b5")
        }
        "id" if path.starts_with("/v1/deliveries") => (
            "The delivery: `<event id>:<member id>`.",
            "evt_0192f0c1a2b37c4d8e5f60718293a4b5:reviewer_agent",
        ),
        "channel_id" => ("The channel: `ch_…`.", "ch_0192f0c1a2b37c4d8e5f60718293a4b5"),
        "member_id" => ("The member's id within the project.", "reviewer"),
        "token" if path.starts_with("/invite") => {
            ("The invitation, as its link has it.", "eyJhbGciOiJFZERTQSJ9.e30.c2ln")
        }
        "token" => ("The token of the callback, as its URL has it.", "tok_xyz789"),
        "task" => ("The task: `task_…`.", "task_0192f0c1a2b37c4d8e5f60718293a4b7"),
        "conversation" => ("The conversation: `ch_…`.", "ch_0192f0c1a2b37c4d8e5f60718293a4b5"),
        "event" => ("The event: `evt_…`.", "evt_0192f0c1a2b37c4d8e5f60718293a4b5"),
        "jti" => ("The token's `jti`, as it was issued with it.", "jti_0192f0c1a2b37c4d"),
        "member" => ("The member's id.", "reviewer_agent"),
        "name" => ("The role's name.", "backend-agents"),
        "secret" if path.starts_with("/inbox") => {
            ("The secret of a connection string.", "sk_3f1c9a")
        }
        "secret" => ("The secret of the link.", "3f1c9a"),
        "short" => (
            "A short id: `ch_`, `evt_`, `msg_` or `th_`, and at least four of its first or last digits.",
            "evt_…8293a4b5",
        ),
        "schedule" => ("The schedule: `sch_…`.", "sch_0192f0c1a2b37c4d8e5f60718293a4c1"),
        "stimulus" => ("The stimulus: `stm_…`.", "stm_0192f0c1a2b37c4d8e5f60718293a4b5"),
        "subject" => (
            "The subject: the `evt_…` of its root message, or its thread's `th_…`.",
            "evt_0192f0c1a2b37c4d8e5f60718293a4b5",
        ),
        "signal" => ("What the reaction says.", "working"),
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

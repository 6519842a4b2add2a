//! What `tools/list` says of the threads tools: the schemas of their types, and when to use them.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

pub use super::schema::{MAX_SUMMARIZED, MAX_WAIT_SECONDS};
use super::{
    AckRead, Acked, CreateThread, Created, GetThread, Messages, PostMessage, Posted, ReadMessages,
    StatusUpdated, SummarizeThread, Summary, Thread, UpdateThreadStatus,
};

/// Fields in which callers may state who they are. They must agree with the token, and change nothing.
const STATED: [(&str, &str); 5] = [
    ("workspace_id", "Your workspace, as your token has it, or its name; may be left out"),
    ("agent_id", "You, as your token has it; may be left out"),
    ("created_by", "You, as your token has it; may be left out"),
    ("sender_agent_id", "You, as your token has it; may be left out"),
    ("sender_session_id", "Your session, as your token has it; may be left out"),
];

/// A tool of the threads protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    CreateThread,
    GetThread,
    PostMessage,
    ReadMessages,
    AckRead,
    UpdateThreadStatus,
    SummarizeThread,
}

impl Method {
    pub const ALL: [Self; 7] = [
        Self::CreateThread,
        Self::GetThread,
        Self::PostMessage,
        Self::ReadMessages,
        Self::AckRead,
        Self::UpdateThreadStatus,
        Self::SummarizeThread,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::CreateThread => "create_thread",
            Self::GetThread => "get_thread",
            Self::PostMessage => "post_message",
            Self::ReadMessages => "read_messages",
            Self::AckRead => "ack_read",
            Self::UpdateThreadStatus => "update_thread_status",
            Self::SummarizeThread => "summarize_thread",
        }
    }

    pub(crate) fn only_reads(self) -> bool {
        matches!(self, Self::GetThread | Self::ReadMessages | Self::SummarizeThread)
    }

    /// Title and description.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::CreateThread => (
                "Create a thread",
                "Create a communication thread to work with other agents and people: give it a title and the \
             participants. With channel_id it is opened in that channel; else only the participants see it. Reuse the \
             same idempotency_key when you retry.",
            ),
            Self::GetThread => (
                "Get a thread",
                "Get a thread's title, type, status, participants, newest seq, and your read cursor.",
            ),
            Self::PostMessage => (
                "Post a message to a thread",
                "Post a chat message or an event to a thread. Report work as events, with metadata.event_type: \
             finding_reported, fix_pushed, re_review_requested, finding_verified, finding_rejected, decision_made, \
             question_asked, question_answered, thread_escalated or thread_resolved. Reuse the same idempotency_key when you retry.",
            ),
            Self::ReadMessages => (
                "Read a thread's messages",
                "Read the messages of a thread in order, after since_seq. With wait_seconds it waits for new \
             messages instead of polling. Reading moves no cursor: use ack_read.",
            ),
            Self::AckRead => (
                "Acknowledge what was read",
                "Record up to which seq you have read a thread's messages. Your cursor never goes back.",
            ),
            Self::UpdateThreadStatus => (
                "Update a thread's status",
                "Change a thread's status to active, blocked, resolved or closed, with the reason. Closed is final.",
            ),
            Self::SummarizeThread => (
                "Summarize a thread",
                "Get a compact summary of a thread instead of reading it all: findings, decisions, open questions, who \
                 waits for whom, and the last status.",
            ),
        }
    }

    pub(crate) fn input(self) -> Value {
        match self {
            Self::CreateThread => asked::<CreateThread>(&["workspace_id", "created_by"]),
            Self::GetThread => asked::<GetThread>(&[]),
            Self::PostMessage => asked::<PostMessage>(&["sender_agent_id", "sender_session_id"]),
            Self::ReadMessages => asked::<ReadMessages>(&["agent_id"]),
            Self::AckRead => asked::<AckRead>(&["agent_id"]),
            Self::UpdateThreadStatus => asked::<UpdateThreadStatus>(&["agent_id"]),
            Self::SummarizeThread => asked::<SummarizeThread>(&[]),
        }
    }

    pub(crate) fn output(self) -> Value {
        match self {
            Self::CreateThread => given::<Created>(),
            Self::GetThread => given::<Thread>(),
            Self::PostMessage => given::<Posted>(),
            Self::ReadMessages => given::<Messages>(),
            Self::AckRead => given::<Acked>(),
            Self::UpdateThreadStatus => given::<StatusUpdated>(),
            Self::SummarizeThread => given::<Summary>(),
        }
    }
}

pub(crate) fn asked<T: JsonSchema>(stated: &[&str]) -> Value {
    let mut schema = schema::<T>(settings().for_deserialize().into_generator());
    for (name, about) in STATED {
        if stated.contains(&name) {
            schema["properties"][name] = json!({"type": "string", "description": about});
        }
    }
    schema
}

/// Results may grow. Nothing is required at the top, since a refusal's envelope must pass the schema too.
pub(crate) fn given<T: JsonSchema>() -> Value {
    let mut schema = schema::<T>(settings().for_serialize().into_generator());
    if let Some(object) = schema.as_object_mut() {
        object.remove("required");
    }
    schema
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|s| {
        s.meta_schema = None;
        s.inline_subschemas = true;
    })
}

fn schema<T: JsonSchema>(generator: SchemaGenerator) -> Value {
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        // What a Rust type is for is no word to a model; the tool's description is.
        object.remove("description");
    }
    plain(&mut schema);
    schema
}

/// Some model APIs know neither `null` among types nor Rust's formats of integers. A field is there or not.
fn plain(schema: &mut Value) {
    if let Some(object) = schema.as_object_mut() {
        without_null(object);
        if object.get("format").and_then(Value::as_str).is_some_and(|f| f.starts_with("uint")) {
            object.remove("format");
        }
        if object.get("default").is_some_and(|d| d.is_null() || *d == json!([])) {
            object.remove("default");
        }
        object.values_mut().for_each(plain);
    } else if let Some(list) = schema.as_array_mut() {
        list.iter_mut().for_each(plain);
    }
}

fn without_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|t| t != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            object.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(some)) = object.get_mut("anyOf") {
        some.retain(|s| s["type"] != "null");
        if let [Value::Object(one)] = some.as_slice() {
            let mut one = one.clone();
            object.remove("anyOf");
            one.extend(std::mem::take(object));
            *object = one;
        }
    }
    if let Some(Value::Array(words)) = object.get_mut("enum") {
        words.retain(|w| !w.is_null());
    }
}

//! The descriptors of the threads tools in `tools/list`: their schemas, and when to use them.

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{
    AckRead, Acked, CreateThread, Created, GetThread, Messages, PostMessage, Posted, ReadMessages,
    StatusUpdated, SummarizeThread, Summary, Thread, UpdateThreadStatus,
};
use crate::schema;

/// Fields in which callers may state who they are. They must match the token and have no other
/// effect.
const STATED: [(&str, &str); 5] = [
    ("workspace_id", "Your workspace, as in your token, or its name; optional"),
    ("agent_id", "Your member id, as in your token; optional"),
    ("created_by", "Your member id, as in your token; optional"),
    ("sender_agent_id", "Your member id, as in your token; optional"),
    ("sender_session_id", "Your session, as in your token; optional"),
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
    pub(crate) fn title_and_description(self) -> (&'static str, &'static str) {
        match self {
            Self::CreateThread => (
                "Create a thread",
                "Create a communication thread to work with other agents and people: give it a title and the \
             participants. With channel_id it is opened in that channel; otherwise only the participants see it. Reuse the \
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
             messages instead of polling. Reading does not move your cursor: use ack_read.",
            ),
            Self::AckRead => (
                "Acknowledge what was read",
                "Record up to which seq you have read a thread's messages. Your cursor never moves back.",
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
            Self::CreateThread => arguments::<CreateThread>(&["workspace_id", "created_by"]),
            Self::GetThread => arguments::<GetThread>(&[]),
            Self::PostMessage => {
                arguments::<PostMessage>(&["sender_agent_id", "sender_session_id"])
            }
            Self::ReadMessages => arguments::<ReadMessages>(&["agent_id"]),
            Self::AckRead => arguments::<AckRead>(&["agent_id"]),
            Self::UpdateThreadStatus => arguments::<UpdateThreadStatus>(&["agent_id"]),
            Self::SummarizeThread => arguments::<SummarizeThread>(&[]),
        }
    }

    pub(crate) fn output(self) -> Value {
        match self {
            Self::CreateThread => schema::result::<Created>(),
            Self::GetThread => schema::result::<Thread>(),
            Self::PostMessage => schema::result::<Posted>(),
            Self::ReadMessages => schema::result::<Messages>(),
            Self::AckRead => schema::result::<Acked>(),
            Self::UpdateThreadStatus => schema::result::<StatusUpdated>(),
            Self::SummarizeThread => schema::result::<Summary>(),
        }
    }
}

/// The schema of arguments, with the fields in which this tool's callers may state who they are.
fn arguments<T: JsonSchema>(stated: &[&str]) -> Value {
    let mut schema = schema::arguments::<T>();
    for (name, about) in STATED {
        if stated.contains(&name) {
            schema["properties"][name] = json!({"type": "string", "description": about});
        }
    }
    schema
}

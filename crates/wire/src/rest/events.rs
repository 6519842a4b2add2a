//! `/v1/events`: a conversation's log, as JSON or, with `Accept: text/event-stream`, followed live. Each
//! server-sent event has the seq as its id, the type as its name and an [`Event`] as its data.

use chorus_core::model::conversation::Participation;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::reaction::Signal;
use chorus_core::model::thread::ThreadStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::messages::{Message, MessageAuthor, Told};
use super::thread_work::WorkPatch;
use crate::words;

/// Query of `GET /v1/events`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["conversation"]))]
pub struct ListEvents {
    pub conversation: String,
    /// Only events with a higher seq.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// `GET /v1/events` as JSON, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Events {
    pub events: Vec<Event>,
    pub has_more: bool,
    /// Events up to this seq were dropped; absent when none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_seq: Option<u64>,
}

/// One entry of the log. Which of the later fields it has depends on its type.
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    pub event_id: String,
    pub conversation: String,
    pub seq: u64,
    /// `message_posted`, `message_edited`, `reaction_set`, …: the names of `chorus_core::model::event::Change`.
    #[serde(rename = "type")]
    pub kind: String,
    pub actor: MessageAuthor,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The message posted, or the one that an edit, deletion or reaction is about, as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// The event id of the message that this event is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<Signal>>")]
    pub signal: Option<Signal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub glyph: Option<String>,
    /// What was said with a reaction or a promotion, or what came of a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub detail: Option<String>,
    /// The member who joined or left, or who owns the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<Participation>>")]
    pub participation: Option<Participation>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<ThreadStatus>>")]
    pub status: Option<ThreadStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub reason: Option<String>,
    /// The title of a conversation or thread made or changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub title: Option<String>,
    /// What is different in the thread's work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkPatch>,
    /// Who is told, as far as the viewer may see them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Told>,
}

//! `/v1/events`: a conversation's log as JSON or, with `Accept: text/event-stream`, as a live
//! stream. Each server-sent event has the seq as its id, the type as its name and an [`Event`] as
//! its data.

use chorus_core::model::conversation::Participation;
use chorus_core::model::reaction::Signal;
use chorus_core::model::thread::ThreadStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::messages::{Message, MessageAuthor, Told};
use super::thread_work::WorkPatch;
use crate::named::Named;
use crate::time::Time;

/// Query of `GET /v1/events`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["conversation"]))]
pub struct ListEvents {
    pub conversation: String,
    /// Only events with a higher seq.
    pub after: Option<u64>,
    pub limit: Option<u32>,
}

/// `GET /v1/events` as JSON, oldest first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Events {
    pub events: Vec<Event>,
    pub has_more: bool,
    /// Events up to this seq were removed; absent if none were.
    pub base_seq: Option<u64>,
}

/// One entry of the log. The optional fields depend on its type.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    pub event_id: String,
    pub conversation: String,
    pub seq: u64,
    /// `message_posted`, `message_edited`, `reaction_set`, …: the names of
    /// `chorus_core::model::event::Change`.
    #[serde(rename = "type")]
    pub kind: String,
    pub actor: MessageAuthor,
    pub created_at: Time,
    pub thread_id: Option<String>,
    /// The posted message, or the target of an edit, deletion or reaction, in its current state.
    pub message: Option<Message>,
    /// The event id of the message that this event is about.
    pub about: Option<String>,
    pub signal: Option<Named<Signal>>,
    #[redact(fixed = 3)]
    pub glyph: Option<String>,
    /// The text of a reaction or a promotion, or the result of a thread.
    #[redact(fixed = 3)]
    pub detail: Option<String>,
    /// The member who joined or left, or who owns the thread.
    pub member: Option<String>,
    pub participation: Option<Named<Participation>>,
    pub status: Option<Named<ThreadStatus>>,
    #[redact(fixed = 3)]
    pub reason: Option<String>,
    /// The title of the conversation or thread that was created or changed.
    #[redact(fixed = 3)]
    pub title: Option<String>,
    /// The changes to the thread's work.
    pub work: Option<WorkPatch>,
    /// The recipients that the viewer can see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Told>,
}

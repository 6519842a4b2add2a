//! `summarize_thread`: a thread in short, instead of all its messages.

use chorus_core::model::thread::ThreadStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::schema;
use crate::named::Named;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// Arguments of `summarize_thread`.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummarizeThread {
    /// Thread id, th_…
    pub thread_id: String,
    /// How many of the newest messages to examine for who waits for whom; 200 by default. Findings,
    /// decisions and questions always cover the whole thread
    #[serde(default)]
    #[schemars(schema_with = "schema::max_messages")]
    pub max_messages: Option<u32>,
}

impl Arguments for SummarizeThread {
    type Result = Summary;

    const TOOL: &'static Tool = &Tool {
        name: "summarize_thread",
        title: "Summarize a thread",
        description: "Get a compact summary of a thread instead of reading it all: findings, decisions, \
                      open questions, who waits for whom, and the last status.",
        effect: Effect::Reads,
        reach: Reach::Named,
        for_turns: true,
        sends: false,
        caller_fields: Some(&[]),
        shape: Shape::derived::<Self>(),
    };
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub thread_id: String,
    /// Untrusted. Text in quotation marks is quoted from messages.
    #[redact(fixed = 3)]
    pub summary: String,
    /// Findings that were neither verified nor rejected, oldest first.
    pub open_items: Vec<OpenItem>,
    pub last_status: Named<ThreadStatus>,
    pub messages_read: u64,
    pub messages_total: u64,
    pub written_by: Author,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenItem {
    pub message_id: String,
    pub seq: u64,
    pub finding_id: Option<String>,
    /// The beginning of the report. Untrusted.
    #[redact(fixed = 3)]
    pub body: String,
}

/// Who wrote a summary's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    Host,
    /// The command that the operator configured.
    Command,
}

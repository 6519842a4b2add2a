//! `/v1/approvals`: what agents may do only once a person has agreed (design section 5, "Approvals").

use std::borrow::Cow;

use chorus_core::model::approval::Standing;
use chorus_core::model::ids::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::words;

/// Query of `GET /v1/approvals`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListApprovals {
    /// What was decided or forgotten within a day too.
    pub all: bool,
}

/// How an approval stands, under the name that it has in the document.
struct State;

impl JsonSchema for State {
    fn schema_name() -> Cow<'static, str> {
        "State".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        words::As::<Standing>::json_schema(generator)
    }
}

/// `GET /v1/approvals`, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approvals {
    pub approvals: Vec<Approval>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// `apr_…`
    pub id: String,
    #[serde(with = "words::one")]
    #[schemars(with = "State")]
    pub state: Standing,
    /// Member id of the agent that asks.
    pub agent: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub expires_at: Timestamp,
    /// The tool to be called; `chat.send_message` for a message.
    pub tool: String,
    /// The message's text, until it is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub text: Option<String>,
    /// The message's other content, or the tool's arguments, until it is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub arguments: Option<serde_json::Value>,
    /// Where the message would be said, `ch_…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The event the agent was working on, `evt_…`, and where that stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_event: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_conversation: Option<String>,
    /// Member id of who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub decided_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub reason: Option<String>,
    /// What was said by approving it, `evt_…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
}

/// `POST /v1/approvals/{id}`.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    pub approved: bool,
    /// For the agent to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub reason: Option<String>,
}

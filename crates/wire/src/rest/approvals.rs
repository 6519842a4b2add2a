//! `/v1/approvals`: what agents may do only once a person has agreed (design section 5, "Approvals").

use std::borrow::Cow;

use chorus_core::approval::Standing;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

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
        Named::<Standing>::json_schema(generator)
    }
}

/// `GET /v1/approvals`, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approvals {
    pub approvals: Vec<Approval>,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// `apr_…`
    pub id: String,
    #[schemars(with = "State")]
    pub state: Named<Standing>,
    /// Member id of the agent that asks.
    pub agent: String,
    pub created_at: Time,
    pub expires_at: Time,
    /// The tool to be called; `chat.send_message` for a message.
    pub tool: String,
    /// The message's text, until it is decided.
    #[redact(fixed = 3)]
    pub text: Option<String>,
    /// The message's other content, or the tool's arguments, until it is decided.
    #[redact(fixed = 3)]
    pub arguments: Option<serde_json::Value>,
    /// Where the message would be said, `ch_…`.
    pub conversation: Option<String>,
    /// The event the agent was working on, `evt_…`, and where that stands.
    pub source_event: Option<String>,
    pub source_conversation: Option<String>,
    /// Member id of who decided.
    pub decided_by: Option<String>,
    pub decided_at: Option<Time>,
    #[redact(fixed = 3)]
    pub reason: Option<String>,
    /// What was said by approving it, `evt_…`.
    pub event_id: Option<String>,
}

/// `POST /v1/approvals/{id}`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    pub approved: bool,
    /// For the agent to read.
    #[redact(fixed = 3)]
    pub reason: Option<String>,
}

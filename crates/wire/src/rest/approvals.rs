//! `/v1/approvals`: actions of agents that wait for a person's approval (design section 5,
//! "Approvals").

use std::borrow::Cow;

use chorus_core::model::approval::Standing;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// Query of `GET /v1/approvals`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListApprovals {
    /// Include approvals that were decided or that expired within the last day.
    pub all: bool,
}

/// The schema of an approval's state, under the name that it has in the API document.
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
    /// Member id of the agent that asks for approval.
    pub agent: String,
    pub created_at: Time,
    pub expires_at: Time,
    /// The tool that the agent wants to call; `chat.send_message` for a message.
    pub tool: String,
    /// The message's text; absent once the approval is decided.
    #[redact(fixed = 3)]
    pub text: Option<String>,
    /// The message's other content, or the tool's arguments; absent once the approval is decided.
    #[redact(fixed = 3)]
    pub arguments: Option<serde_json::Value>,
    /// The conversation in which the message would be posted, `ch_…`.
    pub conversation: Option<String>,
    /// The event that the agent was working on, `evt_…`. `source_conversation` is its conversation.
    pub source_event: Option<String>,
    pub source_conversation: Option<String>,
    /// Member id of the person who decided.
    pub decided_by: Option<String>,
    pub decided_at: Option<Time>,
    #[redact(fixed = 3)]
    pub reason: Option<String>,
    /// The event that was posted on approval, `evt_…`.
    pub event_id: Option<String>,
}

/// `POST /v1/approvals/{id}`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    pub approved: bool,
    /// The reason; the agent can read it.
    #[redact(fixed = 3)]
    pub reason: Option<String>,
}

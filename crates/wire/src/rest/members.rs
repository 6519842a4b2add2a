//! `/v1/members`, `/v1/agents` and `/v1/whoami`: who there is.

use chorus_core::command::Authority;
use chorus_core::member::MemberKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// `POST /v1/members` -> 201 [`Member`].
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMember {
    /// Chosen by people, never changed: `reviewer_agent`.
    pub id: String,
    pub kind: Named<MemberKind>,
    /// What `@` names; the id unless given.
    pub handle: Option<String>,
    #[redact(fixed = 3)]
    pub display_name: Option<String>,
    pub owner_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identities: Vec<Identity>,
    /// Asks for a token with this role, returned once in [`Member::token`].
    pub token_role: Option<Named<Authority>>,
}

/// Who the member is on another platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    pub platform: String,
    pub id: String,
}

/// `PATCH /v1/members/{id}` -> [`Member`]; absent fields stay.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MemberPatch {
    pub handle: Option<String>,
    #[redact(fixed = 3)]
    pub display_name: Option<String>,
    pub owner_id: Option<String>,
    pub identities: Option<Vec<Identity>>,
    /// Makes this member the lead of the workspace, or no longer.
    pub lead: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Member {
    pub id: String,
    pub kind: Named<MemberKind>,
    pub handle: String,
    #[redact(fixed = 3)]
    pub display_name: String,
    pub owner_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identities: Vec<Identity>,
    /// Names of its roles.
    #[serde(default)]
    pub roles: Vec<String>,
    #[serde(default)]
    pub lead: bool,
    #[redact(fixed = 3)]
    pub token: Option<String>,
}

/// `GET /v1/members`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Members {
    pub members: Vec<Member>,
}

/// `GET /v1/agents`: the agents with how they are reached now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agents {
    pub agents: Vec<Agent>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agent {
    #[serde(flatten)]
    pub member: Member,
    /// Whether a session of it is connected.
    pub online: bool,
    pub sessions: Vec<super::sessions::Session>,
    /// Deliveries that still wait for it.
    #[serde(default)]
    pub open_deliveries: u64,
}

/// `GET /v1/whoami`: what the host takes the bearer for.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Whoami {
    pub member: Member,
    pub role: Named<Authority>,
    pub workspace_id: String,
    pub session_id: Option<String>,
    pub jti: Option<String>,
    pub expires_at: Option<Time>,
    /// What the bearer's turn token was made for, when it is one.
    pub turn: Option<TurnScope>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnScope {
    pub conversation: String,
    pub event_id: String,
    pub fence: u32,
}

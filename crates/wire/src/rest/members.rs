//! `/v1/members`, `/v1/agents` and `/v1/whoami`: who there is.

use chorus_core::model::caller::Authority;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::member::MemberKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words;

/// `POST /v1/members` -> 201 [`Member`].
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMember {
    /// Chosen by people, never changed: `reviewer_agent`.
    pub id: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<MemberKind>")]
    pub kind: MemberKind,
    /// What `@` names; the id unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub display_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identities: Vec<Identity>,
    /// Asks for a token with this role, returned once in [`Member::token`].
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<Authority>>")]
    pub token_role: Option<Authority>,
}

/// Who the member is on another platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    pub platform: String,
    pub id: String,
}

/// `PATCH /v1/members/{id}` -> [`Member`]; absent fields stay.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MemberPatch {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub display_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identities: Option<Vec<Identity>>,
    /// Makes this member the lead of the workspace, or no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead: Option<bool>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Member {
    pub id: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<MemberKind>")]
    pub kind: MemberKind,
    pub handle: String,
    #[redact(fixed = 3)]
    pub display_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identities: Vec<Identity>,
    /// Names of its roles.
    #[serde(default)]
    pub roles: Vec<String>,
    #[serde(default)]
    pub lead: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Whoami {
    pub member: Member,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Authority>")]
    pub role: Authority,
    pub workspace_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jti: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub expires_at: Option<Timestamp>,
    /// What the bearer's turn token was made for, when it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnScope>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnScope {
    pub conversation: String,
    pub event_id: String,
    pub fence: u32,
}

//! `/v1/members`, `/v1/agents` and `/v1/whoami`: the members of the workspace.

use chorus_core::model::caller::Authority;
use chorus_core::model::member::MemberKind;
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
    /// Chosen by the creator and never changed, such as `reviewer_agent`.
    pub id: String,
    pub kind: Named<MemberKind>,
    /// The name after `@` in mentions; the id by default.
    pub handle: Option<String>,
    #[redact(fixed = 3)]
    pub display_name: Option<String>,
    pub owner_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identities: Vec<Identity>,
    /// Issue a token with this role; it is returned once in [`Member::token`].
    pub token_role: Option<Named<Authority>>,
}

/// The member's identity on another platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    pub platform: String,
    pub id: String,
}

/// `PATCH /v1/members/{id}` -> [`Member`]; absent fields are unchanged.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MemberPatch {
    pub handle: Option<String>,
    #[redact(fixed = 3)]
    pub display_name: Option<String>,
    pub owner_id: Option<String>,
    pub identities: Option<Vec<Identity>>,
    /// Whether this member is a lead of the workspace.
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
    /// The inbox for which it stands in for people or agents elsewhere. It is no person or agent of
    /// this workspace.
    pub stands_in_for: Option<String>,
    /// Names of its roles.
    #[serde(default)]
    pub roles: Vec<String>,
    #[serde(default)]
    pub lead: bool,
    /// Present while an agent is paused.
    pub paused: Option<Paused>,
    #[redact(fixed = 3)]
    pub token: Option<String>,
}

/// By whom an agent is paused, and since when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Paused {
    /// Member id.
    pub by: String,
    pub since: Time,
}

/// `GET /v1/members`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Members {
    pub members: Vec<Member>,
}

/// `GET /v1/agents`: the agents and how they can be reached now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agents {
    pub agents: Vec<Agent>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agent {
    #[serde(flatten)]
    pub member: Member,
    /// Whether one of its sessions is connected; for an agent behind a connection string, whether
    /// it took the newest post.
    pub online: bool,
    /// Only for an agent behind a connection string: `not_tried` while nothing was posted there,
    /// then `reachable` or `unreachable`, by what came of the newest delivery or test.
    pub reach: Option<String>,
    pub sessions: Vec<super::sessions::Session>,
    /// When one of its sessions, which may be gone, was last known to live; absent where it never
    /// had one.
    pub seen_at: Option<Time>,
    /// Number of its open deliveries.
    #[serde(default)]
    pub open_deliveries: u64,
    /// Those of them that wait for a turn, or until a person lets a timeline continue; absent where
    /// none does.
    pub held_back: Option<u64>,
    /// Since when a person owes it an answer.
    pub asks_since: Option<Time>,
}

/// `GET /v1/whoami`: the identity and rights of the bearer token.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Whoami {
    pub member: Member,
    pub role: Named<Authority>,
    pub workspace_id: String,
    pub session_id: Option<String>,
    pub jti: Option<String>,
    pub expires_at: Option<Time>,
    /// The scope of the token, if it is a turn token.
    pub turn: Option<TurnScope>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnScope {
    pub conversation: String,
    pub event_id: String,
    pub fence: u32,
}

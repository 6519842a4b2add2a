//! `/v1/inboxes`: connection strings by which services elsewhere deliver to an agent here. A string is shown once.

use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::nullable;

/// `POST /v1/inboxes` -> 201 [`InboxString`].
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewInbox {
    /// The agent's member id.
    pub agent: String,
    /// How its stand-ins are shown; the agent's display name where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub name: Option<String>,
    /// Networks or addresses that may deliver, such as `192.0.2.0/24`; none is all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// `whsec_…`: deliveries must be signed with it (Standard Webhooks).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub signing_secret: Option<String>,
    /// A public key in PEM: deliveries must come with a bearer JWT that it verifies, and whose audience is the inbox's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwt_key: Option<String>,
}

/// `PATCH /v1/inboxes/{id}` -> [`Inbox`]. What is absent stays; null takes a check away.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InboxPatch {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    #[redact(fixed = 3)]
    pub signing_secret: Option<Option<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    pub jwt_key: Option<Option<String>>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inbox {
    /// `inb_…`
    pub id: String,
    /// The agent's member id.
    pub agent: String,
    #[redact(fixed = 3)]
    pub name: String,
    /// The member that made it.
    pub created_by: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    /// When its string was last replaced.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub rotated_at: Option<Timestamp>,
    /// Channels that have delivered to it.
    pub channels: u32,
    #[serde(default)]
    pub allow: Vec<String>,
    /// Whether deliveries must be signed.
    pub signed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwt_key: Option<String>,
    /// The newest of what could not be sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<InboxError>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InboxError {
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub at: Timestamp,
    #[redact(fixed = 3)]
    pub message: String,
}

/// An inbox with its connection string, which the host does not keep.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InboxString {
    /// `https://…/inbox/sk_…`
    #[redact(fixed = 3)]
    pub url: String,
    pub inbox: Inbox,
}

/// `GET /v1/inboxes`, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inboxes {
    pub inboxes: Vec<Inbox>,
}

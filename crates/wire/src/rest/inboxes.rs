//! `/v1/inboxes`: connection strings with which other services deliver messages to an agent of this
//! host. A string is shown once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::nullable;
use crate::time::Time;

/// `POST /v1/inboxes` -> 201 [`InboxString`].
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewInbox {
    /// The agent's member id.
    pub agent: String,
    /// Display name of the members that stand in for remote senders; the agent's display name by
    /// default.
    #[redact(fixed = 3)]
    pub name: Option<String>,
    /// Networks or addresses that may deliver, such as `192.0.2.0/24`; an empty list allows all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// `whsec_…`: deliveries must be signed with it (Standard Webhooks).
    #[redact(fixed = 3)]
    pub signing_secret: Option<String>,
    /// A public key in PEM. Deliveries must carry a bearer JWT that it verifies, with the inbox's
    /// id as audience.
    pub jwt_key: Option<String>,
}

/// `PATCH /v1/inboxes/{id}` -> [`Inbox`]. Absent fields are unchanged; null removes a check.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InboxPatch {
    #[redact(fixed = 3)]
    pub name: Option<String>,
    pub allow: Option<Vec<String>>,
    #[serde(default, deserialize_with = "nullable")]
    #[redact(fixed = 3)]
    pub signing_secret: Option<Option<String>>,
    #[serde(default, deserialize_with = "nullable")]
    pub jwt_key: Option<Option<String>>,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inbox {
    /// `inb_…`
    pub id: String,
    /// The agent's member id.
    pub agent: String,
    #[redact(fixed = 3)]
    pub name: String,
    /// Member id of its creator.
    pub created_by: String,
    pub created_at: Time,
    /// When its string was last replaced.
    pub rotated_at: Option<Time>,
    /// Number of remote channels that have delivered to it.
    pub channels: u32,
    #[serde(default)]
    pub allow: Vec<String>,
    /// Whether deliveries must be signed.
    pub signed: bool,
    pub jwt_key: Option<String>,
    /// The newest failure to send an answer back.
    pub last_error: Option<InboxError>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InboxError {
    pub at: Time,
    #[redact(fixed = 3)]
    pub message: String,
}

/// An inbox with its connection string. The host does not store the string.
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

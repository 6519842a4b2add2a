//! Sign-in links and invitations: how people get in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::time::Time;

/// `POST /v1/sign-in-links` -> 201. Works once, for ten minutes.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignInLink {
    /// Open it in a browser, or give it to `chorus login`.
    #[redact(fixed = 3)]
    pub url: String,
    pub expires_at: Time,
}

/// `POST /v1/invitations` -> 201 [`Invitation`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewInvitation {
    /// The member's id, such as `alice`; the member is made where there is none.
    pub member: String,
    /// Channels that it becomes a member of: `ch_…` ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<String>,
}

/// An invitation. Works once, for seven days; it is listed and revoked as a token of the member.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Invitation {
    /// Whoever opens it sets a name and is in.
    #[redact(fixed = 3)]
    pub url: String,
    pub member: String,
    pub expires_at: Time,
}

/// `POST /signin/{secret}` and `POST /invite/{token}`, as a form or as JSON.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SignIn {
    /// With an invitation: how the member wants to be called.
    #[redact(fixed = 3)]
    pub display_name: Option<String>,
}

/// Somebody is in; what `POST /signin/{secret}` answers to programs. A browser gets a session cookie instead.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignedIn {
    /// The host's address.
    #[redact(fixed = 3)]
    pub url: String,
    pub member: String,
    #[redact(fixed = 3)]
    pub token: String,
    pub expires_at: Time,
}

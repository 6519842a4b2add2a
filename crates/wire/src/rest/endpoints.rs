//! `/v1/endpoints`: agents that are reached by a connection string (webhook spec section 1).

use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /v1/endpoints` -> 201 [`Added`]. Makes the agent where there is none of this id, and seats it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEndpoint {
    /// The agent's member id.
    pub member: String,
    /// The connection string. It is a secret, and shown by nothing again.
    pub url: String,
    /// Of an agent that is made by this; its id unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Conversations where it gets a seat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<String>,
    /// Signs deliveries by the Standard Webhooks scheme, with a secret that the answer shows once.
    #[serde(default)]
    pub sign: bool,
    /// Or with this one, `whsec_…`, that the agent has already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_secret: Option<String>,
}

/// `POST /v1/endpoints/{member}/rotate` -> [`Added`]: the agent has another connection string. Callbacks that were
/// given out before are void at once.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateEndpoint {
    pub url: String,
    /// Signs with a new secret, that the answer shows once.
    #[serde(default)]
    pub sign: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_secret: Option<String>,
}

/// `PATCH /v1/endpoints/{member}` -> [`Endpoint`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointPatch {
    /// What comes while it is paused waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
}

/// `GET /v1/endpoints`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Endpoints {
    pub endpoints: Vec<Endpoint>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Endpoint {
    pub member: String,
    /// The scheme and host of the connection string; the rest of it is a secret.
    pub host: String,
    /// `active`, `paused`, or `gone`: it answered 410.
    pub state: String,
    /// `closed`: deliveries go out. `open`: it is down, and let be until `open_until`. `half_open`: one post tries.
    pub breaker: String,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub open_until: Option<Timestamp>,
    /// Posts in a row that failed.
    pub failures: u32,
    /// Deliveries that wait at the host for their turn; those of an endpoint that is down wait in the log.
    pub waiting: usize,
    pub signed: bool,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub added_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub last_taken_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<EndpointError>,
    /// When the agent last answered to a test.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub answered_test_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointError {
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub at: Timestamp,
    pub why: String,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Added {
    #[serde(flatten)]
    pub endpoint: Endpoint,
    /// What deliveries are signed with, when the host drew it: shown this once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_secret: Option<String>,
}

/// `POST /v1/endpoints/{member}/test` -> this: what came of one POST that only tries the connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tested {
    pub taken: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    pub took_ms: u64,
}

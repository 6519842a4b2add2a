//! `/v1/endpoints`: agents that are reached by a connection string (webhook spec section 1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::time::Time;

/// `POST /v1/endpoints` -> 201 [`Added`]. Makes the agent where there is none of this id, and seats it.
#[skip_serializing_none]
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEndpoint {
    /// The agent's member id.
    pub member: String,
    /// The connection string. It is a secret, and shown by nothing again.
    pub url: String,
    /// Of an agent that is made by this; its id unless given.
    pub display_name: Option<String>,
    /// Conversations where it gets a seat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<String>,
    /// Signs deliveries by the Standard Webhooks scheme, with a secret that the answer shows once.
    #[serde(default)]
    pub sign: bool,
    /// Or with this one, `whsec_…`, that the agent has already.
    pub signing_secret: Option<String>,
}

/// `POST /v1/endpoints/{member}/rotate` -> [`Added`]: the agent has another connection string. Callbacks that were
/// given out before are void at once.
#[skip_serializing_none]
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateEndpoint {
    pub url: String,
    /// Signs with a new secret, that the answer shows once.
    #[serde(default)]
    pub sign: bool,
    pub signing_secret: Option<String>,
}

/// `PATCH /v1/endpoints/{member}` -> [`Endpoint`].
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointPatch {
    /// What comes while it is paused waits.
    pub paused: Option<bool>,
}

/// `GET /v1/endpoints`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Endpoints {
    pub endpoints: Vec<Endpoint>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Endpoint {
    pub member: String,
    /// The scheme and host of the connection string; the rest of it is a secret.
    pub host: String,
    /// `active`, `paused`, or `gone`: it answered 410.
    pub state: String,
    /// `closed`: deliveries go out. `open`: it is down, and let be until `open_until`. `half_open`: one post tries.
    pub breaker: String,
    pub open_until: Option<Time>,
    /// Posts in a row that failed.
    pub failures: u32,
    /// Deliveries that wait at the host for their turn; those of an endpoint that is down wait in the log.
    pub waiting: usize,
    pub signed: bool,
    pub added_at: Time,
    pub last_taken_at: Option<Time>,
    pub last_error: Option<EndpointError>,
    /// When the agent last answered to a test.
    pub answered_test_at: Option<Time>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointError {
    pub at: Time,
    pub why: String,
}

#[skip_serializing_none]
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Added {
    #[serde(flatten)]
    pub endpoint: Endpoint,
    /// What deliveries are signed with, when the host drew it: shown this once.
    pub signing_secret: Option<String>,
}

/// `POST /v1/endpoints/{member}/test` -> this: what came of one POST that only tries the connection.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tested {
    pub taken: bool,
    /// Why not.
    pub why: Option<String>,
    pub took_ms: u64,
}

//! `/v1/endpoints`: agents that are reached by a connection string (webhook spec section 1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::time::Time;

/// `POST /v1/endpoints` -> 201 [`Added`]. Creates the agent if no member has this id, and adds it
/// to the channels.
#[skip_serializing_none]
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEndpoint {
    /// The agent's member id.
    pub member: String,
    /// The connection string. It is a secret and is never shown again.
    pub url: String,
    /// Display name of an agent created by this request; its id by default.
    pub display_name: Option<String>,
    /// Conversations that it joins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<String>,
    /// Sign deliveries according to Standard Webhooks, with a new secret that the response shows
    /// once.
    #[serde(default)]
    pub sign: bool,
    /// Sign with this secret instead, `whsec_…`, which the agent already has.
    pub signing_secret: Option<String>,
}

/// `POST /v1/endpoints/{member}/rotate` -> [`Added`]: replaces the agent's connection string.
/// Existing callbacks become invalid at once.
#[skip_serializing_none]
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateEndpoint {
    pub url: String,
    /// Sign with a new secret, which the response shows once.
    #[serde(default)]
    pub sign: bool,
    pub signing_secret: Option<String>,
}

/// `PATCH /v1/endpoints/{member}` -> [`Endpoint`].
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointPatch {
    /// Deliveries wait while it is paused.
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
    /// The scheme and host of the connection string. The rest is secret.
    pub host: String,
    /// `active`, `paused`, or `gone`: it answered 410.
    pub state: String,
    /// State of the circuit breaker. `closed`: deliveries are sent. `open`: the endpoint is down;
    /// nothing is sent until `open_until`. `half_open`: one delivery is sent as a probe.
    pub breaker: String,
    pub open_until: Option<Time>,
    /// Number of consecutive failed posts.
    pub failures: u32,
    /// Number of queued deliveries. Deliveries to an endpoint that is down wait in the log and are
    /// not counted.
    pub waiting: usize,
    pub signed: bool,
    pub added_at: Time,
    pub last_taken_at: Option<Time>,
    pub last_error: Option<EndpointError>,
    /// When the agent last answered a test.
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
    /// The secret that signs deliveries, if the host generated it. Shown only once.
    pub signing_secret: Option<String>,
}

/// `POST /v1/endpoints/{member}/test`: the result of one POST that only tests the connection.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tested {
    pub taken: bool,
    /// Why not.
    pub why: Option<String>,
    pub took_ms: u64,
}

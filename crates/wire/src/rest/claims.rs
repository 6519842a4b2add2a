//! `/v1/claims`: who holds the right to handle an event. `DELETE /v1/claims/{event}` releases it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::time::Time;

/// `POST /v1/claims` -> 201 [`Claim`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewClaim {
    /// `evt_…`
    pub event: String,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    pub event_id: String,
    pub conversation: String,
    /// Member id.
    pub holder: String,
    pub fence: u32,
    pub expires_at: Time,
    /// Another member may take over the claim until its holder has accepted the event.
    #[serde(default)]
    pub accepted: bool,
    /// The turn's token; only the holder sees it.
    pub turn_token: Option<String>,
}

/// `GET /v1/claims`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claims {
    pub claims: Vec<Claim>,
}

//! `/v1/claims`: who holds the right to decide about an event. `DELETE /v1/claims/{event}` gives it back.

use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /v1/claims` -> 201 [`Claim`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewClaim {
    /// `evt_…`
    pub event: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    pub event_id: String,
    pub conversation: String,
    /// Member id.
    pub holder: String,
    pub fence: u32,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub expires_at: Timestamp,
    /// Until its holder has accepted the event, another may take the claim over.
    #[serde(default)]
    pub accepted: bool,
    /// The turn's token, for the holder alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_token: Option<String>,
}

/// `GET /v1/claims`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claims {
    pub claims: Vec<Claim>,
}

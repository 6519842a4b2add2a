//! `GET /v1/sessions`: the live runs of agents and connections of people.

use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// `sess_…`
    pub id: String,
    /// Member id.
    pub member: String,
    pub runtime: String,
    pub managed: bool,
    pub resumable: bool,
    pub connected: bool,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub seen_at: Timestamp,
}

/// `GET /v1/sessions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sessions {
    pub sessions: Vec<Session>,
}

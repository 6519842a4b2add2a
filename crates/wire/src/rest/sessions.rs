//! `GET /v1/sessions`: the live runs of agents and connections of people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Time;

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
    pub seen_at: Time,
}

/// `GET /v1/sessions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sessions {
    pub sessions: Vec<Session>,
}

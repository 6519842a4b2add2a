//! `GET /v1/sessions`: the live runs of agents and connections of people.

use chorus_core::model::member::SessionStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::attention::screen::Screen;
use crate::named::Named;
use crate::time::Time;

/// What hosts did not always tell may be absent.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// `sess_…`
    pub id: String,
    /// Member id.
    pub member: String,
    pub runtime: String,
    pub managed: bool,
    pub resumable: bool,
    /// Whether it is a runner's, which wakes the program when mail waits.
    pub runner: Option<bool>,
    /// Where the program works.
    pub folder: Option<String>,
    /// The runtime's own id of the session, by which it can be resumed.
    pub resume_id: Option<String>,
    pub connected: bool,
    /// What it is doing: `active`, `idle` or `offline`.
    pub status: Option<Named<SessionStatus>>,
    /// How that is known: by its `connection`, a `heartbeat`, or a `call` that it made.
    pub proof: Option<String>,
    /// When that was last proved.
    pub seen_at: Time,
}

/// `GET /v1/sessions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sessions {
    pub sessions: Vec<Session>,
}

/// The query of `GET /v1/sessions/{id}/screen`.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GetScreen {
    /// The version that is there already: a newer one is waited for, up to 20 s.
    pub after: Option<u64>,
}

/// What the terminal of a program shows that a runner keeps.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionScreen {
    /// For the next `after`.
    pub version: u64,
    /// Absent where nothing newer came in time.
    pub screen: Option<Screen>,
}

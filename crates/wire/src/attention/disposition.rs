//! `chat/disposition`, harness to host: how a delivery ended (C2A "Event disposition").

use chorus_core::model::delivery::Disposition;
use serde::{Deserialize, Serialize};

use crate::words;

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DispositionParams {
    pub event_id: String,
    #[serde(with = "words::one")]
    pub disposition: Disposition,
    /// Why, for people: what failed, until when it is deferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub note: Option<String>,
    /// The turn's token, where the call is not made with it as bearer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DispositionResult {
    pub event_id: String,
    #[serde(with = "words::one")]
    pub disposition: Disposition,
}

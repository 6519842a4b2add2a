//! `chat/disposition`, harness to host: how a delivery ended (C2A "Event disposition").

use chorus_core::model::disposition::Disposition;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DispositionParams {
    pub event_id: String,
    pub disposition: Named<Disposition>,
    /// The reason, for people: what failed, or until when it is deferred.
    #[redact(fixed = 3)]
    pub note: Option<String>,
    /// The turn's token, if it is not the call's bearer token.
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DispositionResult {
    pub event_id: String,
    pub disposition: Named<Disposition>,
}

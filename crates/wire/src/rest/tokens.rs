//! `/v1/tokens`: `POST` issues one, `DELETE /v1/tokens/{jti}` ends one.

use chorus_core::command::Authority;
use chorus_core::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words;

/// `POST /v1/tokens` -> 201 [`Token`]. The member is made when it is new.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Member id.
    pub agent: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Authority>")]
    pub role: Authority,
    /// `sess_…`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Seconds it is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_s: Option<u64>,
}

/// Shown once; the host keeps only what it needs to revoke it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Token {
    pub token: String,
    pub jti: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub expires_at: Timestamp,
}

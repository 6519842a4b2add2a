//! `/v1/tokens`: `POST` issues one, `GET` lists them, `DELETE /v1/tokens/{jti}` ends one, `DELETE
//! /v1/members/{id}/tokens` all of a member, and `POST /v1/tokens/rotate` exchanges the key that signs them.

use chorus_core::model::caller::Authority;
use chorus_core::model::ids::Timestamp;
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
    /// Seconds it is valid: a day unless given, 366 days at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_s: Option<u64>,
}

/// Shown once; the host keeps only what it needs to revoke it.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Token {
    #[redact(fixed = 3)]
    pub token: String,
    pub jti: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub expires_at: Timestamp,
}

/// `GET /v1/tokens` -> [`Tokens`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListTokens {
    /// Only this member's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
}

/// Tokens that have not expired, oldest first; none of them is shown itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    pub tokens: Vec<TokenInfo>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenInfo {
    /// What it is revoked by.
    pub jti: String,
    pub member: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Authority>")]
    pub role: Authority,
    /// `sess_…`, when it is bound to one session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub issued_at: Timestamp,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub expires_at: Timestamp,
    /// The key that signed it.
    pub kid: String,
    /// It was ended before its time.
    pub revoked: bool,
}

/// `DELETE /v1/members/{id}/tokens`: every token of the member has ended, those of other issuers too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevokedTokens {
    pub member: String,
    /// How many of the list that was.
    pub revoked: u64,
}

/// `POST /v1/tokens/rotate`: the key that signs from here on, and those whose tokens are honoured until they end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RotatedKey {
    pub kid: String,
    pub retired: Vec<RetiredKey>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RetiredKey {
    pub kid: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub honoured_until: Timestamp,
}

//! `/v1/tokens`: `POST` issues one, `GET` lists them, `DELETE /v1/tokens/{jti}` revokes one,
//! `DELETE /v1/members/{id}/tokens` revokes all of a member, and `POST /v1/tokens/rotate` replaces
//! the signing key.

use chorus_core::model::caller::Authority;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// `POST /v1/tokens` -> 201 [`Token`]. The member is created if it does not exist.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Member id.
    pub agent: String,
    pub role: Named<Authority>,
    /// `sess_…`
    pub session: Option<String>,
    /// Lifetime in seconds: one day by default, at most 366 days.
    pub ttl_s: Option<u64>,
}

/// A new token. It is shown once; the host keeps only what it needs to revoke it.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Token {
    #[redact(fixed = 3)]
    pub token: String,
    pub jti: String,
    pub expires_at: Time,
}

/// `GET /v1/tokens` -> [`Tokens`].
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListTokens {
    /// Only this member's.
    pub member: Option<String>,
}

/// Tokens that have not expired, oldest first, without the tokens themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    pub tokens: Vec<TokenInfo>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenInfo {
    /// The id with which it can be revoked.
    pub jti: String,
    pub member: String,
    pub role: Named<Authority>,
    /// `sess_…`, if it is bound to one session.
    pub session: Option<String>,
    pub issued_at: Time,
    pub expires_at: Time,
    /// The key that signed it.
    pub kid: String,
    /// It was revoked before it expired.
    pub revoked: bool,
}

/// `DELETE /v1/members/{id}/tokens`: every token of the member is revoked, including those of other
/// issuers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevokedTokens {
    pub member: String,
    /// How many listed tokens were revoked.
    pub revoked: u64,
}

/// `POST /v1/tokens/rotate`: the new signing key, and the retired keys whose tokens are still
/// accepted until they expire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RotatedKey {
    pub kid: String,
    pub retired: Vec<RetiredKey>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RetiredKey {
    pub kid: String,
    pub honoured_until: Time,
}

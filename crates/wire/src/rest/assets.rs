//! `/v1/assets`: files that messages refer to. `GET /v1/assets/{id}` gives the bytes, `GET /v1/assets/{id}/thumbnail` a
//! small picture.

use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Query of `POST /v1/assets`, whose body is the file and whose `Content-Type` says what it is to be.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["name"]))]
pub struct NewAsset {
    /// What the file is called: no path.
    #[redact(fixed = 3)]
    pub name: String,
}

/// A file that the host keeps: `POST /v1/assets` -> 201.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Asset {
    /// `ast_…`
    pub asset_id: String,
    /// Untrusted.
    #[redact(fixed = 3)]
    pub name: String,
    /// What its bytes are.
    pub media_type: String,
    pub bytes: u64,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// Member id of who brought it.
    pub created_by: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
}

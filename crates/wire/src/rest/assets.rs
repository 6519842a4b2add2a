//! `/v1/assets`: files that messages refer to. `GET /v1/assets/{id}` returns the bytes, `GET
//! /v1/assets/{id}/thumbnail` a thumbnail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Time;

/// Query of `POST /v1/assets`. The body is the file; `Content-Type` declares its media type.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["name"]))]
pub struct NewAsset {
    /// The file's name, without a path.
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
    /// The media type of its bytes.
    pub media_type: String,
    pub bytes: u64,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// Member id of the uploader.
    pub created_by: String,
    pub created_at: Time,
}

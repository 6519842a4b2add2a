//! `/v1/streams`: named lines of work with an owner.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /v1/streams` -> 201 [`Stream`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStream {
    pub name: String,
    /// Member id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stream {
    /// `str_…`
    pub id: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

/// `GET /v1/streams`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Streams {
    pub streams: Vec<Stream>,
}

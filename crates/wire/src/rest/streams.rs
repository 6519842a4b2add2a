//! `/v1/streams`: named streams of work with an owner.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// `POST /v1/streams` -> 201 [`Stream`].
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStream {
    pub name: String,
    /// Member id.
    pub owner: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stream {
    /// `str_…`
    pub id: String,
    pub name: String,
    pub owner: Option<String>,
}

/// `GET /v1/streams`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Streams {
    pub streams: Vec<Stream>,
}

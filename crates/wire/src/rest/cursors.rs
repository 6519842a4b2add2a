//! `/v1/cursors/{conversation}`: how far the caller has read. A cursor never moves back, nor past
//! the end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `PUT /v1/cursors/{conversation}` -> [`Cursor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CursorPut {
    pub last_read_seq: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cursor {
    pub conversation: String,
    pub last_read_seq: u64,
    /// Seq of the conversation's newest event.
    pub last_seq: u64,
}

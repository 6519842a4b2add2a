//! `/v1/live`: everything that the caller may see, in one live stream. Without
//! `Accept: text/event-stream` it answers with what the stream begins with.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The conversations that the caller may see, each with the newest seq of its log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveHeads {
    /// By the conversation's id.
    pub heads: BTreeMap<String, u64>,
}

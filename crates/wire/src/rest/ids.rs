//! `/v1/ids`: short ids.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Answer of `GET /v1/ids/{short}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ids {
    /// The ids that it may stand for, the newest first.
    pub ids: Vec<String>,
}

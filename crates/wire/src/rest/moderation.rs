//! `/v1/channels/{id}/moderation`: what came of a channel's rules lately, in numbers.

use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The query of `GET /v1/channels/{id}/moderation`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AskModeration {
    /// From when on is counted: at most 31 days ago; a day ago unless said.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub since: Option<Timestamp>,
}

/// `GET /v1/channels/{id}/moderation`: channels.md section 12 has the definitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moderation {
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub since: Timestamp,
    /// Messages that people posted.
    pub human_messages: u64,
    /// Messages of agents that answer something.
    pub replies: u64,
    /// Absent while no person has posted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies_per_human_message: Option<f64>,
    pub turns_granted: u64,
    /// What agents wanted to say and were refused, because it was not their turn.
    pub turns_refused: u64,
    /// Turns that nobody took up, and that went on to another.
    pub turns_expired: u64,
    /// Posts that came again, and stimuli that newer ones about the same replaced.
    pub duplicates_prevented: u64,
    /// What agents were told and ended without a word of their own.
    pub silence_chosen: u64,
}

//! `/v1/channels/{id}/moderation`: counts of how a channel's rules worked recently.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::time::Time;

/// The query of `GET /v1/channels/{id}/moderation`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AskModeration {
    /// Start of the period: at most 31 days ago; one day ago by default.
    pub since: Option<Time>,
}

/// `GET /v1/channels/{id}/moderation`. Section 12 of channels.md defines the counts.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moderation {
    pub since: Time,
    /// Number of messages posted by people.
    pub human_messages: u64,
    /// Number of agents' messages that are replies.
    pub replies: u64,
    /// Absent if no person has posted.
    pub replies_per_human_message: Option<f64>,
    pub turns_granted: u64,
    /// Number of agents' posts that were refused because it was not their turn.
    pub turns_refused: u64,
    /// Number of turns that were not accepted in time and passed to another member.
    pub turns_expired: u64,
    /// Number of repeated posts, and of stimuli that were superseded by a newer one about the same.
    pub duplicates_prevented: u64,
    /// Number of deliveries that agents ended without posting anything.
    pub silence_chosen: u64,
}

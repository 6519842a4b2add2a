//! `/v1/index`: a compact list of a member's conversations with their unread counts.

use chorus_core::model::conversation::ConversationKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::search::Scope;
use crate::named::Named;
use crate::time::Time;

/// Query of `GET /v1/index`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListIndex {
    /// `channels` by default, which excludes direct messages.
    pub scope: Option<Scope>,
    /// Only conversations with unread messages.
    pub unread: Option<bool>,
}

/// `GET /v1/index`, most recent activity first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Index {
    pub channels: Vec<Indexed>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Indexed {
    /// `ch_…`
    pub id: String,
    pub kind: Named<ConversationKind>,
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// Seq of the newest event; `last_at` is its time.
    pub last_seq: u64,
    pub last_at: Time,
    /// How far the member has read.
    pub last_read_seq: u64,
    /// Number of others' messages after `last_read_seq`, among the newest 200 entries of the log.
    /// Deleted messages do not count.
    pub unread: u32,
    /// How many of those are addressed to the member or one of its roles.
    pub mentions: u32,
    /// There are unread messages older than those counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

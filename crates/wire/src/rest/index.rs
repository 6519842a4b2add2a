//! `/v1/index`: the conversations that a member has a seat in, compact, with what waits there unread.

use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::search::Scope;
use crate::words;

/// Query of `GET /v1/index`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListIndex {
    /// Channels unless said: private messages are apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Only where something is unread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<bool>,
}

/// `GET /v1/index`, what was spoken in last first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Index {
    pub channels: Vec<Indexed>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Indexed {
    /// `ch_…`
    pub id: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<ConversationKind>")]
    pub kind: ConversationKind,
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// Seq of the newest event, and when it was.
    pub last_seq: u64,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub last_at: Timestamp,
    /// How far the member has read.
    pub last_read_seq: u64,
    /// Messages of others behind that, of the newest 200 entries of the log; deleted ones do not count.
    pub unread: u32,
    /// How many of those are meant for the member or a role of its.
    pub mentions: u32,
    /// What is unread goes back further than was counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

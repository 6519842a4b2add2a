//! `/v1/index`: the conversations that a member has a seat in, compact, with what waits there unread.

use chorus_core::conversation::ConversationKind;
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
    /// Channels unless said: private messages are apart.
    pub scope: Option<Scope>,
    /// Only where something is unread.
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
    pub kind: Named<ConversationKind>,
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// Seq of the newest event, and when it was.
    pub last_seq: u64,
    pub last_at: Time,
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

//! What several messages of the transport have in common: who, where, when, and the grant to speak.

use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::member::MemberKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{self, Text};

/// Where the event came from; our own posts have platform `chorus`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Source<'a> {
    pub platform: Text<'a>,
    pub workspace_id: Text<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationRef<'a> {
    /// `ch_…`
    pub id: Text<'a>,
    #[serde(with = "words::one")]
    pub kind: ConversationKind,
    /// Chosen by members: untrusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<'a>>,
    /// `str_…`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_id: Option<Text<'a>>,
    /// `th_…`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<Text<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Author<'a> {
    /// The member's id.
    pub id: Text<'a>,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<MemberKind>")]
    pub kind: MemberKind,
    /// Chosen by members: untrusted.
    pub display_name: Text<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timing {
    #[serde(with = "crate::time::iso")]
    pub created_at: Timestamp,
    /// The event's position in its conversation; rises by one.
    pub sequence: u64,
    /// The message's position in its thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_sequence: Option<u64>,
}

/// The right to speak for one event: what is said with the token carries the fence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnGrant<'a> {
    /// `turn_…`, opaque; also a bearer token for POSTs, limited to the conversation and the fence.
    pub token: Text<'a>,
    pub fence: u32,
    /// Agents' messages between what is answered and a person's.
    pub hop: u8,
}

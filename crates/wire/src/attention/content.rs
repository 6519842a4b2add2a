//! What several messages of C2A have in common: author, conversation, time, and the turn's token.

use std::borrow::Cow;

use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::member::MemberKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// Text that is borrowed where a message is written and owned where it is read.
pub type Text<'a> = Cow<'a, str>;

/// Where the event came from. For posts to this host the platform is `chorus`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Source<'a> {
    pub platform: Text<'a>,
    pub workspace_id: Text<'a>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationRef<'a> {
    /// `ch_…`
    pub id: Text<'a>,
    pub kind: Named<ConversationKind>,
    /// Untrusted, because members choose it.
    pub title: Option<Text<'a>>,
    /// `str_…`
    pub stream_id: Option<Text<'a>>,
    /// `th_…`
    pub thread_id: Option<Text<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Author<'a> {
    /// The member's id.
    pub id: Text<'a>,
    pub kind: Named<MemberKind>,
    /// Untrusted, because members choose it.
    pub display_name: Text<'a>,
}

#[skip_serializing_none]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timing {
    pub created_at: Time,
    /// The event's position in its conversation; increases by one.
    pub sequence: u64,
    /// The message's position in its thread.
    pub thread_sequence: Option<u64>,
}

/// The right to speak for one event. Posts with the token carry the fence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnGrant<'a> {
    /// `turn_…`, opaque. Also a bearer token for POSTs, limited to the conversation and the fence.
    pub token: Text<'a>,
    pub fence: u32,
    /// Number of agents' messages between the event and the last message of a person.
    pub hop: u8,
}

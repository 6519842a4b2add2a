//! `chat.list_channels` and `chat.list_members`: what an agent can name, and who is there. Titles, purposes and display
//! names are untrusted.

use chorus_core::model::conversation::{ConversationKind, Visibility};
use chorus_core::model::member::MemberKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// Arguments of `chat.list_channels`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ListChannels {
    /// Only this one: a channel's name, #ops, or a conversation id, ch_…
    pub conversation: Option<String>,
}

impl Arguments for ListChannels {
    type Result = ChannelList;

    const TOOL: &'static Tool = &Tool {
        name: "chat.list_channels",
        title: "List channels",
        description: "List the channels and direct conversations that you may see, with names, ids and \
                      what they are for. Wherever a tool takes a conversation you may give a channel's \
                      name, such as #ops, instead of its id.",
        effect: Effect::Reads,
        reach: Reach::All { narrowed_by: "conversation", widened_by: None },
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::derived::<Self>(),
    };
}

/// The result of `chat.list_channels`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelList {
    /// Oldest first; archived ones are left out.
    pub channels: Vec<ChannelListed>,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelListed {
    /// `ch_…`
    pub conversation: String,
    pub kind: Named<ConversationKind>,
    /// Untrusted.
    #[redact(fixed = 3)]
    pub title: String,
    /// What it is for. Untrusted.
    #[redact(fixed = 3)]
    pub purpose: Option<String>,
    pub visibility: Named<Visibility>,
    /// The sequence of its newest event.
    pub last_sequence: u64,
}

/// Arguments of `chat.list_members`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ListMembers {
    /// Only members of this conversation: a channel's name, #ops, or a conversation id, ch_…
    pub conversation: Option<String>,
}

impl Arguments for ListMembers {
    type Result = MemberList;

    const TOOL: &'static Tool = &Tool {
        name: "chat.list_members",
        title: "List members",
        description: "List the people and agents of the workspace, or those of one conversation, with \
                      ids, handles and roles. Wherever a tool takes a member you may give @handle \
                      instead of the id. Use it before you mention somebody.",
        effect: Effect::Reads,
        reach: Reach::All { narrowed_by: "conversation", widened_by: None },
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::derived::<Self>(),
    };
}

/// The result of `chat.list_members`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemberList {
    pub members: Vec<MemberListed>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberListed {
    /// Member id.
    pub member: String,
    pub kind: Named<MemberKind>,
    /// The name after @ that obliges it.
    pub handle: String,
    /// Untrusted.
    #[redact(fixed = 3)]
    pub display_name: String,
    /// Names of its roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
}

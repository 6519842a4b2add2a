//! A conversation: a roster, settings, and an append-only log of events.

use std::sync::Arc;

use crate::ids::{ConversationKey, MemberKey, StreamKey, Timestamp, Uid};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConversationKind {
    Channel,
    Dm,
    Thread,
    System,
    Tool,
}

impl ConversationKind {
    pub const ALL: [Self; 5] = [Self::Channel, Self::Dm, Self::Thread, Self::System, Self::Tool];

    pub fn name(self) -> &'static str {
        match self {
            Self::Channel => "channel",
            Self::Dm => "dm",
            Self::Thread => "thread",
            Self::System => "system",
            Self::Tool => "tool",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.name() == name)
    }
}

/// Who may read: every member of the workspace, or the roster only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visibility {
    Public,
    Private,
}

/// How a member takes part when nobody selects it (channels spec, "Members").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Participation {
    #[default]
    SelectedOnly,
    ManualOnly,
    PreferSelected,
    AlwaysListen,
}

impl Participation {
    pub const ALL: [Self; 4] =
        [Self::SelectedOnly, Self::ManualOnly, Self::PreferSelected, Self::AlwaysListen];

    pub fn name(self) -> &'static str {
        match self {
            Self::SelectedOnly => "selected_only",
            Self::ManualOnly => "manual_only",
            Self::PreferSelected => "prefer_selected",
            Self::AlwaysListen => "always_listen",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == name)
    }
}

/// What a conversation is, apart from its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub key: ConversationKey,
    pub uid: Uid,
    pub kind: ConversationKind,
    pub settings: Settings,
    pub created_at: Timestamp,
}

/// What of a conversation can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub title: Arc<str>,
    pub description: Arc<str>,
    pub purpose: Arc<str>,
    pub visibility: Visibility,
    pub stream: Option<StreamKey>,
    pub archived: bool,
    /// To whom undone obligations go here before they go to the workspace's lead.
    pub lead: Option<MemberKey>,
    /// Messages that agents say on one line here without a person; the host's default where none is set.
    pub agent_budget: Option<u32>,
}

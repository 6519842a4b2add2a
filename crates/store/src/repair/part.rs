//! The names of repaired parts in reports and the audit log.

use std::fmt;

use chorus_core::model::ids::{ConversationKey, Seq};

/// The repaired part of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Its row: title and settings.
    Conversation,
    Head,
    Seat,
    Thread,
    /// The work of a thread: status, bindings, progress.
    Work,
    Message,
    AssetReference,
    Delivery,
    Turn,
    Stimulus,
    Digest,
    Cursor,
    /// An agent's connection string.
    Endpoint,
    /// An inbox, or a channel of one.
    Inbox,
    /// The member that administers the workspace.
    Operator,
    /// The search index, which covers all conversations.
    Search,
    /// The end of a database that ends too early.
    LogEnd,
    /// A database index, rebuilt from its rows.
    Index,
    /// What a session says of itself.
    Session,
    /// The job of waking an agent.
    Wake,
    /// That an agent is paused.
    Pause,
}

impl Part {
    pub const ALL: [Self; 21] = [
        Self::Conversation,
        Self::Head,
        Self::Seat,
        Self::Thread,
        Self::Work,
        Self::Message,
        Self::AssetReference,
        Self::Delivery,
        Self::Turn,
        Self::Stimulus,
        Self::Digest,
        Self::Cursor,
        Self::Endpoint,
        Self::Inbox,
        Self::Operator,
        Self::Search,
        Self::LogEnd,
        Self::Index,
        Self::Session,
        Self::Wake,
        Self::Pause,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Head => "head",
            Self::Seat => "seat",
            Self::Thread => "thread",
            Self::Work => "thread_work",
            Self::Message => "message",
            Self::AssetReference => "asset_reference",
            Self::Delivery => "delivery",
            Self::Turn => "turn",
            Self::Stimulus => "stimulus",
            Self::Digest => "digest",
            Self::Cursor => "cursor",
            Self::Endpoint => "endpoint",
            Self::Inbox => "inbox",
            Self::Operator => "operator",
            Self::Search => "search",
            Self::LogEnd => "log_end",
            Self::Index => "index",
            Self::Session => "session",
            Self::Wake => "wake",
            Self::Pause => "pause",
        }
    }
}

/// One repair, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    pub part: Part,
    pub conversation: Option<ConversationKey>,
    pub seq: Option<Seq>,
    pub what: String,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(conversation) = self.conversation {
            write!(f, "conversation {conversation}")?;
            if let Some(seq) = self.seq {
                write!(f, ", event {seq}")?;
            }
            f.write_str(": ")?;
        }
        write!(f, "{}: {}", self.part.name(), self.what)
    }
}

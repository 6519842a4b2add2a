//! A conversation: a roster, settings, and an append-only log of events.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::model::ids::{ConversationKey, MemberKey, StreamKey, Timestamp, Uid};
use crate::model::stimulus;
use crate::model::turn::rules::Rules as TurnRules;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Visibility {
    #[default]
    Public,
    Private,
}

/// Where an answer to a message of a channel's main line goes (channels spec "Main feed versus canonical root
/// threads").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Replies {
    /// It stays beside it: the main line is one conversation.
    #[default]
    Line,
    /// Into the canonical thread of what it answers: the main line has subjects.
    Thread,
}

impl Replies {
    pub const ALL: [Self; 2] = [Self::Line, Self::Thread];

    pub fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Thread => "thread",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }

    /// Where the answers of a new conversation go unless somebody says so: where several agents sit in a channel they
    /// take turns, which they do in threads (design section 5, "Turns").
    pub fn of_new(kind: ConversationKind, agents: usize) -> Self {
        match kind {
            ConversationKind::Channel if agents >= 2 => Self::Thread,
            _ => Self::Line,
        }
    }
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

impl Conversation {
    /// Where people talk in the open: agents' own subjects are capped there.
    pub fn is_channel(&self) -> bool {
        self.kind == ConversationKind::Channel
    }
}

/// What of a conversation can be changed.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq)]
pub struct Settings {
    #[redact(fixed = 3)]
    pub title: Arc<str>,
    #[redact(fixed = 3)]
    pub description: Arc<str>,
    #[redact(fixed = 3)]
    pub purpose: Arc<str>,
    pub visibility: Visibility,
    pub stream: Option<StreamKey>,
    pub archived: bool,
    /// To whom undone obligations go here before they go to the workspace's lead.
    pub lead: Option<MemberKey>,
    /// Messages that agents say on one line here without a person; the host's default where none is set.
    pub agent_budget: Option<u32>,
    /// How long what was said here is kept; the host's default where none is set.
    pub keep: Option<Keep>,
    /// How agents take turns; the usual rules where none are set.
    pub turns: Option<TurnRules>,
    pub replies: Replies,
    /// How much is heard without a person asking; the usual rules where none are set.
    pub stimuli: Option<stimulus::Rules>,
    /// Whether an agent behind a connection string may have a callback with which it speaks unasked.
    pub proactive: bool,
    /// How long a thread may be silent before it is asked what became of it, in milliseconds; never where none is set.
    pub idle_followup: Option<i64>,
    /// Files that stand at the top of it, in this order.
    pub pins: Vec<Uid>,
    /// What is set about single seats, of those about which anything is.
    pub seats: BTreeMap<MemberKey, Terms>,
}

impl Settings {
    /// As what a member is known here, where that is another name than its own.
    pub fn name_of(&self, member: MemberKey) -> Option<&Arc<str>> {
        self.seats.get(&member)?.name.as_ref()
    }

    /// The one session of a member that is asked here, if it is one.
    pub fn pinned_session(&self, member: MemberKey) -> Option<Uid> {
        self.seats.get(&member)?.session
    }
}

/// What is set about the seat of an agent (channels spec, "Members").
#[derive(Clone, veil::Redact, Default, PartialEq, Eq)]
pub struct Terms {
    /// Its name in this channel; none follows the name that the agent has.
    #[redact(fixed = 3)]
    pub name: Option<Arc<str>>,
    /// The session that is asked here and no other; none leaves the choice to the host.
    pub session: Option<Uid>,
}

/// Terms to be changed: what is absent stays, and `Some(None)` takes away.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq)]
pub struct TermsPatch {
    #[redact(fixed = 3)]
    pub name: Option<Option<Arc<str>>>,
    pub session: Option<Option<Uid>>,
}

impl Terms {
    pub fn changed(&self, patch: TermsPatch) -> Self {
        Self {
            name: patch.name.unwrap_or_else(|| self.name.clone()),
            session: patch.session.unwrap_or(self.session),
        }
    }
}

/// How long a conversation's log is kept. What is still owed is kept longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    #[default]
    All,
    /// So many days, at least one and at most [`limits::KEEP_DAYS`](crate::model::limits::KEEP_DAYS).
    Days(u32),
}

impl Keep {
    /// Reads `all`, or days as in `90d`; none for what is neither, and beyond the bounds.
    pub fn read(text: &str) -> Option<Self> {
        if text == "all" {
            return Some(Self::All);
        }
        let days = text.strip_suffix('d').filter(|n| n.bytes().all(|b| b.is_ascii_digit()))?;
        let keep = Self::Days(days.parse().ok()?);
        keep.is_within().then_some(keep)
    }

    /// Whether it is within the bounds. A day is what idempotency keys are remembered for.
    pub fn is_within(self) -> bool {
        match self {
            Self::All => true,
            Self::Days(days) => (1..=crate::model::limits::KEEP_DAYS).contains(&days),
        }
    }

    /// The number it is stored as: 0 is all.
    pub fn stored(self) -> u32 {
        match self {
            Self::All => 0,
            Self::Days(days) => days,
        }
    }

    pub fn from_stored(days: u32) -> Self {
        if days == 0 { Self::All } else { Self::Days(days) }
    }

    /// What was logged before this time need not be kept any longer; none when all is kept.
    pub fn until(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::All => None,
            Self::Days(days) => Some(now.plus(-i64::from(days) * DAY_MS)),
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Days(days) => write!(f, "{days}d"),
        }
    }
}

const DAY_MS: i64 = 24 * 3_600_000;

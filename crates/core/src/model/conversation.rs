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

/// Where an answer to a message in a channel's main timeline goes (channels spec "Main feed versus
/// canonical root threads").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Replies {
    /// Into the main timeline, which is then one conversation.
    #[default]
    Line,
    /// Into the canonical thread of the answered message, so that the main timeline has subjects.
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

    /// The default for a new conversation. In a channel with several agents the agents take turns,
    /// and turns exist in threads only (design section 5, "Turns").
    pub fn of_new(kind: ConversationKind, agents: usize) -> Self {
        match kind {
            ConversationKind::Channel if agents >= 2 => Self::Thread,
            _ => Self::Line,
        }
    }
}

/// How a member takes part when it is not selected (channels spec, "Members").
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

/// A conversation without its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub key: ConversationKey,
    pub uid: Uid,
    pub kind: ConversationKind,
    pub settings: Settings,
    pub created_at: Timestamp,
}

impl Conversation {
    /// Whether people talk in the open here: subjects opened by agents are capped.
    pub fn is_channel(&self) -> bool {
        self.kind == ConversationKind::Channel
    }
}

/// The changeable properties of a conversation.
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
    /// Gets unmet obligations of this conversation before the workspace's lead does.
    pub lead: Option<MemberKey>,
    /// Messages that agents may post in one timeline without a person; if unset, the host's
    /// default.
    pub agent_budget: Option<u32>,
    /// The retention period; if unset, the host's default.
    pub keep: Option<Keep>,
    /// The rules for turns; if unset, the defaults.
    pub turns: Option<TurnRules>,
    pub replies: Replies,
    /// The limits for stimuli; if unset, the defaults.
    pub stimuli: Option<stimulus::Rules>,
    /// Whether an agent behind a connection string may get a callback for speaking unprompted.
    pub proactive: bool,
    /// How long a thread may be silent before a follow-up, in milliseconds; if unset, there is
    /// none.
    pub idle_followup: Option<i64>,
    /// Files pinned to it, in this order.
    pub pins: Vec<Uid>,
    /// Membership settings of the members that have any.
    pub seats: BTreeMap<MemberKey, Terms>,
}

impl Settings {
    /// The member's name in this conversation, if it differs from its own.
    pub fn name_of(&self, member: MemberKey) -> Option<&Arc<str>> {
        self.seats.get(&member)?.name.as_ref()
    }

    /// The only session of a member that receives offers here, if the membership is pinned to one.
    pub fn pinned_session(&self, member: MemberKey) -> Option<Uid> {
        self.seats.get(&member)?.session
    }
}

/// An agent's membership settings (channels spec, "Members").
#[derive(Clone, veil::Redact, Default, PartialEq, Eq)]
pub struct Terms {
    /// Its name in this channel; if unset, its own name.
    #[redact(fixed = 3)]
    pub name: Option<Arc<str>>,
    /// The only session that receives offers; if unset, the host chooses.
    pub session: Option<Uid>,
}

/// Changes to membership settings. Absent fields stay; `Some(None)` clears one.
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

/// How long a conversation's log is kept. Events that are still open are kept longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    #[default]
    All,
    /// This many days, at least one and at most
    /// [`limits::KEEP_DAYS`](crate::model::limits::KEEP_DAYS).
    Days(u32),
}

impl Keep {
    /// Parses `all`, or days as in `90d`; none for anything else, and for days out of range.
    pub fn read(text: &str) -> Option<Self> {
        if text == "all" {
            return Some(Self::All);
        }
        let days = text.strip_suffix('d').filter(|n| n.bytes().all(|b| b.is_ascii_digit()))?;
        let keep = Self::Days(days.parse().ok()?);
        keep.is_within().then_some(keep)
    }

    /// Whether it is in range. The minimum is a day, because idempotency keys are remembered that
    /// long.
    pub fn is_within(self) -> bool {
        match self {
            Self::All => true,
            Self::Days(days) => (1..=crate::model::limits::KEEP_DAYS).contains(&days),
        }
    }

    /// The stored number; 0 means all.
    pub fn stored(self) -> u32 {
        match self {
            Self::All => 0,
            Self::Days(days) => days,
        }
    }

    pub fn from_stored(days: u32) -> Self {
        if days == 0 { Self::All } else { Self::Days(days) }
    }

    /// Events logged before this time need not be kept any longer; none when all are kept.
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

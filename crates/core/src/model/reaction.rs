//! Reaction signals: typed dispositions without a turn (C2A "Reaction signals").
//!
//! The host works with signals; a glyph is only how a workspace displays one.

use crate::model::disposition::Disposition;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    Seen,
    Agree,
    Working,
    Queued,
    Claimed,
    Done,
    Declined,
    Blocked,
    Unclear,
}

impl Signal {
    pub const ALL: [Self; 9] = [
        Self::Seen,
        Self::Agree,
        Self::Working,
        Self::Queued,
        Self::Claimed,
        Self::Done,
        Self::Declined,
        Self::Blocked,
        Self::Unclear,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::Agree => "agree",
            Self::Working => "working",
            Self::Queued => "queued",
            Self::Claimed => "claimed",
            Self::Done => "done",
            Self::Declined => "declined",
            Self::Blocked => "blocked",
            Self::Unclear => "unclear",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }

    /// The glyph shown unless the workspace or the connection maps it to another.
    pub fn default_glyph(self) -> &'static str {
        match self {
            Self::Seen => "👀",
            Self::Agree => "👍",
            Self::Working => "🔧",
            Self::Queued => "🕐",
            Self::Claimed => "✋",
            Self::Done => "✅",
            Self::Declined => "🙅",
            Self::Blocked => "🚧",
            Self::Unclear => "❓",
        }
    }

    /// The disposition of the delivery that the signal answers; `unclear` leaves it open.
    pub fn disposition(self) -> Option<Disposition> {
        match self {
            Self::Seen | Self::Agree => Some(Disposition::Acknowledged),
            Self::Working | Self::Claimed => Some(Disposition::Claimed),
            Self::Queued | Self::Blocked => Some(Disposition::Deferred),
            Self::Done => Some(Disposition::Responded),
            Self::Declined => Some(Disposition::Ignored),
            Self::Unclear => None,
        }
    }
}

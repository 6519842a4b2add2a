//! A channel's settings for public turns, and their bounds.

use crate::model::error::Refusal;
use crate::model::limits;

/// How agents take turns in a channel (design section 5, "Turns").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How many members may speak about one subject at a time.
    pub speakers: u8,
    /// Turns that a person's message allows, unless it addresses more members than that.
    pub replies: u16,
    /// How long a member rests after speaking, unless it is addressed.
    pub cooldown_ms: i64,
    /// How long a lease waits for a session to accept the run before it passes to another member.
    pub acceptance_ms: i64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            speakers: 1,
            replies: 3,
            cooldown_ms: limits::TURN_COOLDOWN_MS,
            acceptance_ms: limits::TURN_ACCEPTANCE_MS,
        }
    }
}

/// Rules to be changed; `None` leaves one as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RulesPatch {
    pub speakers: Option<u8>,
    pub replies: Option<u16>,
    pub cooldown_ms: Option<i64>,
    pub acceptance_ms: Option<i64>,
}

impl Rules {
    /// The changed rules, if they are within the bounds.
    pub fn changed(self, patch: RulesPatch) -> Result<Self, Refusal> {
        let rules = Self {
            speakers: patch.speakers.unwrap_or(self.speakers),
            replies: patch.replies.unwrap_or(self.replies),
            cooldown_ms: patch.cooldown_ms.unwrap_or(self.cooldown_ms),
            acceptance_ms: patch.acceptance_ms.unwrap_or(self.acceptance_ms),
        };
        within("max_parallel_public_speakers", rules.speakers, (1, limits::TURN_SPEAKERS))?;
        within("replies_per_human_message", rules.replies, (1, limits::TURN_REPLIES))?;
        within("cooldown_ms", rules.cooldown_ms, (0, limits::TURN_COOLDOWN_MOST_MS))?;
        within("acceptance_ms", rules.acceptance_ms, limits::TURN_ACCEPTANCE_WITHIN_MS)?;
        Ok(rules)
    }
}

fn within<T: PartialOrd + std::fmt::Display>(
    name: &str,
    value: T,
    (least, most): (T, T),
) -> Result<(), Refusal> {
    if value < least || value > most {
        return Err(Refusal::invalid(format!("`{name}` is from {least} to {most}")));
    }
    Ok(())
}

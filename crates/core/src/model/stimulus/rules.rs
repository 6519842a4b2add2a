//! A channel's settings for stimuli, and their bounds.

use crate::model::error::Refusal;
use crate::model::limits;

/// How many stimuli a channel allows without a person (design section 5, "Turns").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Most stimuli that may wait.
    pub pending: u16,
    /// Most subjects that stimuli may open per hour.
    pub roots_per_hour: u16,
    /// Most such subjects that may be live at once.
    pub active_roots: u16,
    /// Quiet period after such a subject before the next.
    pub quiet_ms: i64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            pending: 32,
            roots_per_hour: 4,
            active_roots: 1,
            quiet_ms: limits::STIMULUS_QUIET_MS,
        }
    }
}

/// Rules to be changed; `None` leaves one as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RulesPatch {
    pub pending: Option<u16>,
    pub roots_per_hour: Option<u16>,
    pub active_roots: Option<u16>,
    pub quiet_ms: Option<i64>,
}

impl Rules {
    /// The changed rules, if they are within the bounds.
    pub fn changed(self, patch: RulesPatch) -> Result<Self, Refusal> {
        let rules = Self {
            pending: patch.pending.unwrap_or(self.pending),
            roots_per_hour: patch.roots_per_hour.unwrap_or(self.roots_per_hour),
            active_roots: patch.active_roots.unwrap_or(self.active_roots),
            quiet_ms: patch.quiet_ms.unwrap_or(self.quiet_ms),
        };
        let counts = [
            ("max_pending", rules.pending, limits::STIMULI_PENDING),
            ("roots_per_hour", rules.roots_per_hour, limits::STIMULUS_ROOTS_PER_HOUR),
            ("max_active_roots", rules.active_roots, limits::STIMULUS_ROOTS_ACTIVE),
        ];
        for (name, value, most) in counts {
            if value == 0 || usize::from(value) > most {
                return Err(Refusal::invalid(format!("`{name}` is from 1 to {most}")));
            }
        }
        let most = limits::STIMULUS_QUIET_MOST_MS;
        if !(0..=most).contains(&rules.quiet_ms) {
            return Err(Refusal::invalid(format!("`quiet_ms` is from 0 to {most}")));
        }
        Ok(rules)
    }
}

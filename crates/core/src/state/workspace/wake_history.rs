//! What agents were told last, and how often each has told other agents something unasked: what ends loops that take a
//! new line of talk each time (attention spec, ATT-440 on).
//!
//! Invariant: a person's word to an agent begins both anew. All of it is in memory and lasts an hour at most. What is
//! still open counts after a restart too, since that is read from the rooms.

use std::collections::{HashMap, VecDeque};

use crate::model::ids::{MemberKey, Timestamp};
use crate::model::limits;

pub(crate) const HOUR_MS: i64 = 3_600_000;

#[derive(Debug, Default)]
pub(crate) struct WakeHistory {
    pub(crate) of: HashMap<MemberKey, AgentHistory>,
}

#[derive(Debug, Default)]
pub(crate) struct AgentHistory {
    /// When a person told it something last.
    pub(crate) person_at: Timestamp,
    /// The highest hop of what it was told, or has ended, since then, and when that was last.
    hop: u8,
    at: Timestamp,
    /// When it told other agents something unasked since then, within the hour.
    pub(crate) woke: VecDeque<Timestamp>,
}

impl WakeHistory {
    /// The member is told something of this hop.
    pub(crate) fn told(&mut self, member: MemberKey, hop: u8, now: Timestamp) {
        let lately = self.of.entry(member).or_default();
        match hop {
            0 => *lately = AgentHistory { person_at: now, ..AgentHistory::default() },
            _ => lately.note(hop, now),
        }
    }

    /// Something that the member was told `at` that time has ended for it.
    pub(crate) fn ended(&mut self, member: MemberKey, hop: u8, at: Timestamp, now: Timestamp) {
        let lately = self.of.entry(member).or_default();
        if hop > 0 && at > lately.person_at {
            lately.note(hop, now);
        }
    }

    /// The clock was set back: nothing of this has happened later than `now`.
    pub(crate) fn set_back(&mut self, now: Timestamp) {
        for lately in self.of.values_mut() {
            lately.person_at = lately.person_at.min(now);
            lately.at = lately.at.min(now);
            lately.woke.iter_mut().for_each(|at| *at = (*at).min(now));
        }
    }

    pub(crate) fn woke(&mut self, member: MemberKey, now: Timestamp) {
        let woke = &mut self.of.entry(member).or_default().woke;
        while woke.front().is_some_and(|at| now.since(*at) >= HOUR_MS) {
            woke.pop_front();
        }
        woke.push_back(now);
    }
}

impl AgentHistory {
    fn note(&mut self, hop: u8, now: Timestamp) {
        self.hop = self.hop_at(now).max(hop);
        self.at = now;
    }

    pub(crate) fn hop_at(&self, now: Timestamp) -> u8 {
        if now.since(self.at) < limits::TURN_QUIET_MS { self.hop } else { 0 }
    }
}

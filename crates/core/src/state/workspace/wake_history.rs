//! What agents were last notified of, and how often each has notified other agents unprompted. It
//! ends loops that move to a new timeline each time (attention spec, ATT-440 on).
//!
//! Invariant: a person's message to an agent resets both. Everything is in memory and lasts an hour
//! at most. Open events count after a restart too, because they are read from the rooms.

use std::collections::VecDeque;

use crate::model::ids::{MemberKey, Timestamp};
use crate::model::limits;
use crate::model::maps::KeyMap;

pub(crate) const HOUR_MS: i64 = 3_600_000;

#[derive(Debug, Default)]
pub(crate) struct WakeHistory {
    pub(crate) of: KeyMap<MemberKey, AgentHistory>,
}

#[derive(Debug, Default)]
pub(crate) struct AgentHistory {
    /// When a person last notified it.
    pub(crate) person_at: Timestamp,
    /// The highest hop among the events that it was notified of, or that ended for it, since then,
    /// and when that last happened.
    hop: u8,
    at: Timestamp,
    /// When it notified other agents unprompted since then, within the last hour.
    pub(crate) woke: VecDeque<Timestamp>,
}

impl WakeHistory {
    /// The member is notified of an event with this hop.
    pub(crate) fn told(&mut self, member: MemberKey, hop: u8, now: Timestamp) {
        let lately = self.of.entry(member).or_default();
        match hop {
            0 => *lately = AgentHistory { person_at: now, ..AgentHistory::default() },
            _ => lately.note(hop, now),
        }
    }

    /// An event that the member was notified of at `at` has ended for it.
    pub(crate) fn ended(&mut self, member: MemberKey, hop: u8, at: Timestamp, now: Timestamp) {
        let lately = self.of.entry(member).or_default();
        if hop > 0 && at > lately.person_at {
            lately.note(hop, now);
        }
    }

    /// The clock was set back: no recorded time is later than `now`.
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

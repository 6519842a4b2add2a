//! Schedules: recurring stimuli of a channel (channels spec, "Stimuli and wake-ups":
//! `schedule_fire`, `schedule_result`).
//!
//! A schedule is a row with the time of its next firing. Firing puts a stimulus into the channel's
//! queue and advances the schedule in one transaction, so each time fires once, whatever happens.
//! All firings missed while the host was down are made up by one.

pub mod cron;

use std::sync::Arc;

use cron::Cron;
use sha2::{Digest, Sha256};

use crate::model::error::Refusal;
use crate::model::ids::{MemberKey, ThreadKey, Timestamp, Uid};
use crate::model::limits;
use crate::model::stimulus::{Chain, becomes};

/// When it fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// At this interval in milliseconds, counted from its creation.
    Every(i64),
    /// At the local times of a cron expression in a time zone.
    Cron { expression: Arc<str>, zone: Arc<str> },
}

/// The outcome of a firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fired {
    /// The stimulus waits, or was posted and somebody is working on it.
    Open,
    /// Somebody answered.
    Answered,
    /// All notified members are done, and nobody answered.
    Unanswered,
    /// It could not be queued, or was not posted.
    Failed,
}

impl Fired {
    pub const ALL: [Self; 4] = [Self::Open, Self::Answered, Self::Unanswered, Self::Failed];

    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Unanswered => "unanswered",
            Self::Failed => "failed",
        }
    }
}

/// One firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Firing {
    pub at: Timestamp,
    /// The stimulus that it queued.
    pub stimulus: Uid,
    pub how: Fired,
}

#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Schedule {
    pub uid: Uid,
    pub when: When,
    /// The member in whose name it speaks.
    pub source: MemberKey,
    /// The author, who is told the results.
    pub maker: MemberKey,
    /// The thread that it continues; if unset, it opens a subject.
    pub thread: Option<(ThreadKey, Uid)>,
    #[redact(fixed = 3)]
    pub text: Arc<str>,
    #[redact(fixed = 3)]
    pub title: Arc<str>,
    /// Its addressees.
    pub targets: Vec<MemberKey>,
    /// The chain of the turn in which an agent created it, which its firings continue. None: a
    /// person created it.
    pub chain: Option<Chain>,
    #[redact(fixed = 3)]
    pub progress_key: Option<Arc<str>>,
    #[redact(fixed = 3)]
    pub initiative_key: Option<Arc<str>>,
    pub created_at: Timestamp,
    pub paused: bool,
    /// When it fires next; none while it is paused.
    pub next_at: Option<Timestamp>,
    /// The number of firings so far.
    pub fired: u32,
    /// The newest firings, the last one last.
    pub firings: Vec<Firing>,
    /// The secret from which the salts of its firings are derived. A timer generates no random
    /// values, and salts must be unguessable.
    pub salt: [u8; 16],
}

/// A schedule to be made.
#[derive(Clone, veil::Redact)]
pub struct NewSchedule {
    pub when: When,
    pub source: Option<MemberKey>,
    pub thread: Option<Uid>,
    #[redact(fixed = 3)]
    pub text: Arc<str>,
    #[redact(fixed = 3)]
    pub title: Option<Arc<str>>,
    pub targets: Vec<MemberKey>,
    #[redact(fixed = 3)]
    pub progress_key: Option<Arc<str>>,
    #[redact(fixed = 3)]
    pub initiative_key: Option<Arc<str>>,
}

/// The fields to change; `None` leaves one as it is.
#[derive(Clone, veil::Redact, Default)]
pub struct SchedulePatch {
    pub every_ms: Option<i64>,
    /// In the previous time zone, unless a zone is given.
    pub cron: Option<Arc<str>>,
    pub zone: Option<Arc<str>>,
    #[redact(fixed = 3)]
    pub text: Option<Arc<str>>,
    #[redact(fixed = 3)]
    pub title: Option<Arc<str>>,
    pub targets: Option<Vec<MemberKey>>,
    pub paused: Option<bool>,
}

/// Operations on the schedules of a channel.
#[derive(Clone, Debug)]
pub enum Act {
    Add(NewSchedule),
    Change(Uid, SchedulePatch),
    Remove(Uid),
}

/// The zone of a cron expression that names none.
pub const ZONE: &str = "UTC";

impl SchedulePatch {
    /// The new timing, if the change contains one.
    pub fn when(&self, old: &When) -> Result<Option<When>, Refusal> {
        let (was, clocks) = match old {
            When::Cron { expression, zone } => (Some(expression), Some(zone)),
            When::Every(_) => (None, None),
        };
        match (self.every_ms, &self.cron, &self.zone) {
            (None, None, None) => Ok(None),
            (Some(every), None, None) => Ok(Some(When::Every(every))),
            (Some(_), Some(_), _) => Err(Refusal::invalid("give one of cron and every_ms")),
            (None, cron, zone) if cron.is_some() || was.is_some() => {
                let expression = cron.as_ref().or(was).cloned().unwrap_or_default();
                let zone = zone.as_ref().or(clocks).cloned().unwrap_or_else(|| ZONE.into());
                Ok(Some(When::Cron { expression, zone }))
            }
            _ => Err(Refusal::invalid("time_zone goes with cron")),
        }
    }
}

impl When {
    /// What is wrong with it, if anything.
    pub fn check(&self, now: Timestamp) -> Result<(), Refusal> {
        let (least, most) = limits::SCHEDULE_EVERY_MS;
        match self {
            Self::Every(ms) if !(least..=most).contains(ms) => {
                let spans = limits::spans(least, most);
                Err(Refusal::invalid(format!("`every_ms` is from {spans}")))
            }
            Self::Every(_) => Ok(()),
            Self::Cron { expression, zone } => {
                if expression.len() > limits::CRON_BYTES {
                    let most = limits::CRON_BYTES;
                    return Err(Refusal::invalid(format!("`cron` has at most {most} bytes")));
                }
                let cron = Cron::parse(expression, zone);
                let never = || Refusal::invalid("this `cron` never matches a time");
                let cron = cron.map_err(Refusal::invalid)?;
                cron.next(now).map(drop).ok_or_else(never)
            }
        }
    }

    /// The next time after `after`. Intervals count from `made`.
    pub fn next(&self, made: Timestamp, after: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Every(ms) => {
                let whole = after.since(made).max(0) / ms.max(&1) + 1;
                Some(made.plus(whole.saturating_mul(*ms)))
            }
            Self::Cron { expression, zone } => Cron::parse(expression, zone).ok()?.next(after),
        }
    }
}

impl Schedule {
    /// The deduplication key of its firings, which also binds the threads that they open to it.
    pub fn key(&self) -> Arc<str> {
        self.uid.show(crate::model::ids::Prefix::Schedule).into()
    }

    /// The salt of what this stimulus will log.
    pub fn salt_of(&self, stimulus: Uid) -> [u8; 16] {
        let hash = Sha256::new().chain_update(self.salt).chain_update(stimulus.0.to_be_bytes());
        let hash: [u8; 32] = hash.finalize().into();
        std::array::from_fn(|n| hash[n])
    }

    /// Adds a firing. If there are too many, the oldest ended one is forgotten, otherwise the
    /// oldest.
    pub fn fire(&mut self, firing: Firing) {
        if self.firings.len() >= limits::SCHEDULE_FIRINGS {
            let ended = self.firings.iter().position(|f| f.how != Fired::Open);
            self.firings.remove(ended.unwrap_or_default());
        }
        self.firings.push(firing);
        self.fired = self.fired.wrapping_add(1);
    }

    /// The firing that posted this event.
    pub fn firing_that_said(&self, event: Uid) -> Option<Uid> {
        self.firings.iter().map(|f| f.stimulus).find(|stimulus| becomes(*stimulus) == event)
    }

    /// The schedule with its next time.
    pub fn arranged(self, now: Timestamp) -> Self {
        let next = self.when.next(self.created_at, now).filter(|_| !self.paused);
        Self { next_at: next, ..self }
    }
}

#[cfg(test)]
mod tests;

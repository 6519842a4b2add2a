//! What a runner's report does to a wake.

use std::sync::Arc;

use super::{Attempt, Failure, Lane, Outcome, ReportResult, Wake, WakeState};
use crate::model::ids::Timestamp;
use crate::model::limits;

/// Why a wake that no lane served is tried again later: a person was typing all the time.
pub const HUMAN_INPUT: &str = "human_input";

/// What a runner reports about a wake.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Report {
    pub fence: u32,
    pub lane: Option<Lane>,
    pub result: ReportResult,
    #[redact(fixed = 3)]
    pub why: Option<Arc<str>>,
    #[redact(fixed = 3)]
    pub evidence: Option<Arc<str>>,
    /// Until when a person's typing defers it.
    pub deferred_until: Option<Timestamp>,
    /// The program's last lines.
    #[redact(fixed = 3)]
    pub lines: Option<Arc<str>>,
}

/// What is still owed of what a wake covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Something that the turn had taken up.
    pub told: bool,
    /// Something that came later, or was never taken up.
    pub untold: bool,
}

/// What a report did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing: it was reported before.
    Repeated,
    /// The lease goes on.
    Lives,
    Deferred,
    /// A lane did not serve, or may not have served.
    Tried,
    /// The program is awake: what the wake covers is taken up.
    Confirmed,
    /// It is to be handed to the runner again, with the next fence.
    Again,
    /// It is handed again later.
    Later,
    Ended(Outcome),
}

/// Why a report does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// The wake was taken back since.
    Fence,
    /// The report does not fit its state.
    State,
}

impl Wake {
    /// Takes in what its runner reports. `left` is what is owed at this moment.
    pub fn report(&mut self, report: &Report, left: Left, now: Timestamp) -> Result<Step, Stale> {
        use ReportResult::{Confirmed, Deferred, Ended, Exhausted, Failed, Unknown, Working};
        if report.fence != self.fence {
            return Err(Stale::Fence);
        }
        if !self.is_open() {
            return Ok(Step::Repeated);
        }
        let running = self.state == WakeState::Running;
        if !self.is_out() || (running && report.result == Deferred) {
            return Err(Stale::State);
        }
        self.silent_since = None;
        self.changed_at = now;
        self.lines = report.lines.clone().or(self.lines.take());
        self.extend(now);
        Ok(match report.result {
            Working => {
                self.come_from_deferral();
                Step::Lives
            }
            Deferred => self.defer(report.deferred_until, now),
            Failed | Unknown => {
                self.state = WakeState::Handed;
                self.deferred_until = None;
                self.note(report, now);
                if let (Some(lane), Failed) = (report.lane, report.result) {
                    self.failures.push(Failure { lane, at: now });
                    self.skip_failing(now);
                }
                Step::Tried
            }
            Confirmed => {
                self.note(report, now);
                self.state = WakeState::Running;
                (self.deferred_until, self.deferred_since) = (None, None);
                Step::Confirmed
            }
            Ended => self.turn_ended(report, left, now),
            Exhausted if report.why.as_deref() == Some(HUMAN_INPUT) => {
                self.deferred_since.get_or_insert(now);
                self.take_back(now);
                self.deferred_until = Some(now.plus(limits::WAKE_AGAIN_MS));
                Step::Later
            }
            Exhausted => {
                if let Some(lane) = report.lane {
                    self.note(&Report { lane: Some(lane), ..report.clone() }, now);
                }
                self.end(Outcome::WakeFailed, now);
                Step::Ended(Outcome::WakeFailed)
            }
        })
    }

    fn extend(&mut self, now: Timestamp) {
        self.lease_until = Some(now.plus(limits::WAKE_LEASE_MS));
    }

    fn come_from_deferral(&mut self) {
        if self.state == WakeState::Deferred {
            self.state = WakeState::Handed;
            self.deferred_until = None;
        }
    }

    /// A person is typing. However long that lasts, the runner reports at least once a minute.
    fn defer(&mut self, until: Option<Timestamp>, now: Timestamp) -> Step {
        let latest = now.plus(limits::WAKE_DEFER_MS);
        let until = until.unwrap_or(now).clamp(now, latest);
        self.state = WakeState::Deferred;
        self.deferred_until = Some(until);
        self.deferred_since.get_or_insert(now);
        self.lease_until = Some(until.plus(limits::WAKE_LEASE_MS));
        Step::Deferred
    }

    /// The turn has ended. What it left of what it had taken up was no progress. Mail that came
    /// later is not held against it.
    fn turn_ended(&mut self, report: &Report, left: Left, now: Timestamp) -> Step {
        let stuck = left.told || (left.untold && self.state != WakeState::Running);
        if !stuck && !left.untold {
            self.end(Outcome::Answered, now);
            return Step::Ended(Outcome::Answered);
        }
        if stuck {
            self.no_progress = self.no_progress.saturating_add(1);
            let lane = report.lane.or(self.lane());
            if let Some(lane) = lane {
                let again = |a: &Attempt| a.result == ReportResult::Ended && a.lane == lane;
                if self.attempts.iter().any(again) {
                    self.skip(lane);
                }
            }
            self.note(&Report { lane, ..report.clone() }, now);
            if self.no_progress >= limits::WAKE_NO_PROGRESS {
                self.end(Outcome::NoProgress, now);
                return Step::Ended(Outcome::NoProgress);
            }
        }
        self.take_back(now);
        Step::Again
    }

    /// Records a try. Only tries of a lane are recorded.
    fn note(&mut self, report: &Report, now: Timestamp) {
        let Some(lane) = report.lane else { return };
        if self.attempts.len() >= limits::WAKE_ATTEMPTS {
            self.attempts.remove(0);
        }
        self.attempts.push(Attempt {
            lane,
            result: report.result,
            why: report.why.clone(),
            evidence: report.evidence.clone(),
            fence: self.fence,
            at: now,
        });
    }
}

//! The result of a job, and how a job ended.

use std::sync::Arc;

use crate::model::ids::Timestamp;
use crate::model::ledger::Credits;

/// What an agent delivers (registry spec section 3.4).
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct JobResult {
    pub success: bool,
    /// Canonical JSON; opaque here.
    #[redact(fixed = 3)]
    pub output: Option<Arc<str>>,
    pub cost: Credits,
    pub time_ms: u64,
    #[redact(fixed = 3)]
    pub error: Option<Arc<str>>,
    /// When the agent says that it was done.
    pub stated_at: Timestamp,
}

impl JobResult {
    /// Whether a repeated result says the same. Its time is not part of that.
    pub fn is_same(&self, other: &Self) -> bool {
        let said = |r: &Self| (r.success, r.output.clone(), r.cost, r.time_ms, r.error.clone());
        said(self) == said(other)
    }
}

/// Why a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Its result was accepted, and paid.
    Paid,
    /// The agent reported a failure.
    Failed,
    /// The evaluator refused the result.
    Refused,
    /// The hirer took it back before there was a result.
    Cancelled,
    /// The agent had it, and delivered nothing in time.
    TimedOut,
    /// It never reached the agent.
    Undelivered,
    /// The agent declined it when it was offered.
    Declined,
    /// The hirer of a direct job did not pay for its result in time.
    Unpaid,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::Undelivered => "undelivered",
            Self::Declined => "declined",
            Self::Unpaid => "unpaid",
        }
    }
}

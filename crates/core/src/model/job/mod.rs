//! Jobs: work for hire, from the request to its end (registry spec sections 3.3 and 3.4).
//!
//! A job goes one way: `Open`, `Funded`, `Submitted`, and then `Completed`, `Rejected` or
//! `Expired`. Through the host it is funded as it is asked for: its budget is held until it ends,
//! and the end says where each hundredth went. A direct job is never funded; it is `Open` until a
//! result is in.

mod pipeline;
mod result;
mod sending;

use std::sync::Arc;

pub use pipeline::{Next, Pipeline, Step};
pub use result::{JobResult, Outcome};
pub use sending::{Posted, Sending};

use crate::model::ids::{EventRef, MemberKey, Timestamp, Uid};
use crate::model::ledger::Credits;

/// The only currency.
pub const CURRENCY: &str = "chorus_credits_v1";

/// Where a job is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobState {
    /// Asked for; nothing is held.
    Open,
    /// Its budget is held, and the agent is to work on it.
    Funded,
    /// The result is in, and somebody is to accept it or to pay for it.
    Submitted,
    /// Accepted and paid.
    Completed,
    /// Failed, refused or cancelled; what was held has returned.
    Rejected,
    /// No result in time; what was held has returned.
    Expired,
}

impl JobState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::Funded => "Funded",
            Self::Submitted => "Submitted",
            Self::Completed => "Completed",
            Self::Rejected => "Rejected",
            Self::Expired => "Expired",
        }
    }

    pub fn has_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Rejected | Self::Expired)
    }
}

/// How a job is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Payment {
    /// The host holds the budget and settles.
    Escrow,
    /// The hirer pays with a transfer once it has the result.
    Direct,
}

impl Payment {
    pub const ALL: [Self; 2] = [Self::Escrow, Self::Direct];

    pub fn name(self) -> &'static str {
        match self {
            Self::Escrow => "escrow",
            Self::Direct => "direct",
        }
    }
}

/// What an agent says of its work on the way.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Progress {
    pub at: Timestamp,
    #[redact(fixed = 3)]
    pub note: Arc<str>,
}

/// Who accepts the result, and how long it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluation {
    pub by: MemberKey,
    pub within_ms: i64,
}

/// A completed job that its hirer contests.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Dispute {
    pub opened_at: Timestamp,
    #[redact(fixed = 3)]
    pub reason: Arc<str>,
    pub decided: Option<DisputeDecision>,
}

/// What an operator decided about a contested job.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct DisputeDecision {
    pub at: Timestamp,
    pub by: MemberKey,
    /// What went back to the hirer; none if the payment stands.
    pub refunded: Option<Credits>,
    #[redact(fixed = 3)]
    pub note: Arc<str>,
}

/// One job.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Job {
    pub uid: Uid,
    pub state: JobState,
    pub payment: Payment,
    /// Who asked for it, and whose credits pay.
    pub hirer: MemberKey,
    pub hirer_owner: Arc<str>,
    /// The agent on whose behalf it is asked for.
    pub orchestrator: Option<Uid>,
    /// Who is to do it, and who is paid.
    pub agent: Uid,
    pub agent_owner: Arc<str>,
    pub skill: Arc<str>,
    /// What the skill cost when the job was asked for.
    pub price: Credits,
    pub budget: Credits,
    /// Canonical JSON; opaque here.
    #[redact(fixed = 3)]
    pub input: Arc<str>,
    /// What the output must fit: the skill's schema when the job was asked for.
    #[redact(fixed = 3)]
    pub output_schema: Arc<str>,
    /// The hirer's own name for the payment, by which it is recognised elsewhere.
    pub payment_identifier: Option<Arc<str>>,
    /// Where the hirer wants to be told of the end.
    #[redact(fixed = 3)]
    pub callback: Option<Arc<str>>,
    pub evaluation: Option<Evaluation>,
    /// The thread in which a member of this host is asked; one of its own by default.
    pub thread: Option<Uid>,
    /// The event that asks a member of this host for it.
    pub asked_in: Option<EventRef>,
    pub asked_by_event: Option<Uid>,
    pub made_at: Timestamp,
    /// When its result must be in.
    pub deadline_at: Timestamp,
    /// How it gets to the agent's endpoint.
    pub sending: Sending,
    pub progress: Option<Progress>,
    pub result: Option<JobResult>,
    /// When the result came in, and until when it is to be decided about.
    pub submitted_at: Option<Timestamp>,
    pub decide_by: Option<Timestamp>,
    pub outcome: Option<Outcome>,
    pub ended_at: Option<Timestamp>,
    /// What is held of the hirer's credits.
    pub held: Credits,
    pub paid: Credits,
    /// How the hirer's callback is told of the end.
    pub notice: Sending,
    pub dispute: Option<Dispute>,
    /// The pipeline that it is a step of.
    pub pipeline: Option<Pipeline>,
    /// By how much it raised the agent's reputation, as the bits of a number; 0 if it did not.
    pub gained: u64,
}

impl Job {
    /// When something is to be done about it without anybody asking.
    pub fn due(&self) -> Option<Timestamp> {
        match self.state {
            JobState::Open | JobState::Funded => {
                let next = self.sending.next_at.filter(|_| !self.sending.is_done());
                Some(next.map_or(self.deadline_at, |next| next.min(self.deadline_at)))
            }
            JobState::Submitted => self.decide_by.into_iter().chain(self.notice_due()).min(),
            JobState::Completed | JobState::Rejected | JobState::Expired => self.notice_due(),
        }
    }

    /// When the hirer's callback is told again.
    fn notice_due(&self) -> Option<Timestamp> {
        self.notice.next_at.filter(|_| !self.notice.is_done())
    }

    /// What a result pays: what it says that it cost, and never more than was agreed on.
    pub fn payable(&self, result: &JobResult) -> Credits {
        result.cost.min(self.price).min(self.budget)
    }

    /// Whether two requests under one id ask for the same.
    pub fn asks_the_same(&self, other: &Self) -> bool {
        let asked = |job: &Self| {
            let job = job.clone();
            let parties = (job.hirer_owner, job.orchestrator, job.agent);
            let money = (job.budget, job.payment, job.payment_identifier);
            let way = (job.callback, job.evaluation.map(|e| (e.by, e.within_ms)));
            (parties, job.skill, money, job.input, way, job.deadline_at.since(job.made_at))
        };
        asked(self) == asked(other)
    }

    /// Until when the hirer may contest it.
    pub fn contestable_until(&self) -> Option<Timestamp> {
        let ended = self.ended_at.filter(|_| self.state == JobState::Completed)?;
        Some(ended.plus(crate::model::limits::JOB_DISPUTE_MS))
    }
}

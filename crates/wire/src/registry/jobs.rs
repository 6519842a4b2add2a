//! Jobs and results (registry spec sections 3.3 and 3.4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_with::skip_serializing_none;

use super::Amount;
use crate::time::Time;

/// `POST /jobs` -> 202 [`Job`]: asks an agent for work through the host. `POST
/// /agents/{agent}/jobs` asks one for a direct job. The host posts the same, without the fields
/// that are its own, to the agent's endpoint.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
pub struct JobRequest {
    /// A UUID of your choice: the same again is the same job. The host draws one by default.
    pub job_id: Option<String>,
    /// Who is to do it: the UUID of an agent, or a member of this host as `@handle` or by its id.
    pub agent_id: Option<String>,
    /// The agent of yours on whose behalf you ask.
    pub orchestrator_id: Option<String>,
    pub skill_name: String,
    /// It must fit the skill's `input_schema`.
    #[redact(fixed = 3)]
    pub input_data: Box<RawValue>,
    /// What it may cost at the most. The host holds it until the job ends.
    pub budget: Amount,
    /// `chorus_credits_v1`.
    pub currency: Option<String>,
    /// Where the result is posted, besides being kept here.
    #[redact(fixed = 3)]
    pub callback_url: Option<String>,
    pub timestamp_utc: Option<Time>,
    /// `0.1`.
    pub version: Option<String>,
    /// Your own name for the payment, by which you know it elsewhere; at most 2,048 bytes.
    pub payment_identifier: Option<String>,
    /// Within how many milliseconds the result must be in: 1,000 to 604,800,000, by default
    /// 600,000.
    pub timeout_ms: Option<i64>,
    /// The member who accepts or refuses the result. Without one a result that fits is accepted.
    pub evaluator: Option<String>,
    /// How long the evaluator has: 1,000 to 604,800,000 ms, by default a day. Then the result
    /// counts as accepted.
    pub evaluation_ms: Option<i64>,
    /// The thread in which an agent of this host is asked; one of its own by default.
    pub thread_id: Option<String>,
    /// `direct`: you pay with a transfer when you have the result, and nothing is held.
    /// `escrow` by default.
    pub payment: Option<String>,
}

/// A job as the agent's endpoint gets it.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
pub struct JobDelivery {
    pub job_id: String,
    pub orchestrator_id: String,
    pub agent_id: String,
    pub skill_name: String,
    #[redact(fixed = 3)]
    pub input_data: Box<RawValue>,
    pub budget: Amount,
    pub currency: String,
    /// Post the result to it: it needs no token.
    #[redact(fixed = 3)]
    pub callback_url: String,
    pub timestamp_utc: Time,
    pub version: String,
    pub payment_identifier: String,
    /// When the result must be in.
    pub deadline_utc: Time,
    /// The member who accepts or refuses the result.
    pub evaluator: Option<String>,
}

/// What a result says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ResultStatus {
    Success,
    Failure,
    /// It is worked on: what `error_message` says is shown as progress.
    Pending,
}

/// `POST /jobs/{job}/result` -> [`ResultTaken`].
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
pub struct JobResult {
    pub job_id: String,
    pub agent_id: String,
    pub status: ResultStatus,
    /// It must fit the skill's `output_schema`. Needed for `SUCCESS`.
    #[serde(default)]
    #[redact(fixed = 3)]
    pub output_data: Option<Box<RawValue>>,
    /// What it cost; the skill's price by default. Never more than that is paid.
    #[serde(default)]
    pub execution_cost: Option<Amount>,
    #[serde(default)]
    pub execution_time_ms: u64,
    /// At most 1,024 bytes.
    #[serde(default)]
    #[redact(fixed = 3)]
    pub error_message: Option<String>,
    #[serde(default)]
    pub timestamp_utc: Option<Time>,
}

/// The host has the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultTaken {
    pub job_id: String,
    pub status: ResultStatus,
    /// Where the job is now.
    pub state: JobStatus,
    /// What was paid.
    pub paid: Amount,
    /// The same result had come before.
    pub duplicate: bool,
}

/// Where a job is: `Open` (asked for, nothing held), `Funded` (its budget is held), `Submitted` (the
/// result waits to be accepted or paid), then `Completed`, `Rejected` or `Expired`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum JobStatus {
    Open,
    Funded,
    Submitted,
    Completed,
    Rejected,
    Expired,
}

/// A job.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    pub job_id: String,
    /// The event by which an agent of this host was asked for it.
    pub event_id: Option<String>,
    /// `PENDING` until it ends, then `SUCCESS` or `FAILURE`.
    pub status: ResultStatus,
    pub state: JobStatus,
    /// How it ended: `paid`, `failed`, `refused`, `cancelled`, `timed_out`, `undelivered`,
    /// `declined` or `unpaid`.
    pub outcome: Option<String>,
    pub agent_id: String,
    /// The owner who is paid.
    pub agent_owner: String,
    /// The member who asked for it.
    pub hirer: String,
    pub hirer_owner: String,
    pub orchestrator_id: Option<String>,
    pub skill_name: String,
    #[redact(fixed = 3)]
    pub input_data: Box<RawValue>,
    /// `escrow` or `direct`.
    pub payment: String,
    pub budget: Amount,
    /// What the skill cost when the job was asked for.
    pub price: Amount,
    pub currency: String,
    /// What is held of the budget.
    pub held: Amount,
    pub paid: Amount,
    pub payment_identifier: String,
    pub created_at: Time,
    pub deadline_at: Time,
    /// When the agent took it.
    pub taken_at: Option<Time>,
    /// How often it was posted to the agent, and why the last post failed.
    pub attempts: u16,
    #[redact(fixed = 3)]
    pub delivery_error: Option<String>,
    /// What the agent said last on the way.
    #[redact(fixed = 3)]
    pub progress: Option<String>,
    pub progress_at: Option<Time>,
    #[redact(fixed = 3)]
    pub output_data: Option<Box<RawValue>>,
    pub execution_cost: Option<Amount>,
    pub execution_time_ms: Option<u64>,
    #[redact(fixed = 3)]
    pub error_message: Option<String>,
    pub submitted_at: Option<Time>,
    pub ended_at: Option<Time>,
    pub evaluation: Option<Evaluation>,
    pub dispute: Option<Contested>,
    /// The request had come before.
    pub duplicate: Option<bool>,
}

/// Who decides about the result, and until when.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    pub evaluator: String,
    /// Known once the result is in.
    pub decide_by: Option<Time>,
}

/// A contested job.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contested {
    #[redact(fixed = 3)]
    pub reason: String,
    pub opened_at: Time,
    /// `hirer` or `agent`: for whom it was decided.
    pub decided_for: Option<String>,
    pub decided_at: Option<Time>,
    pub decided_by: Option<String>,
    pub refunded: Option<Amount>,
    #[redact(fixed = 3)]
    pub note: Option<String>,
}

/// `GET /jobs/{job}` -> [`Job`].
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobQuery {
    /// Answer when the job has ended or its result waits for a decision, or after so many
    /// milliseconds; at most 30,000.
    pub wait_ms: Option<u64>,
}

/// Which jobs are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Those that your owner has asked for.
    #[default]
    Hirer,
    /// Those that agents of your owner are to do.
    Worker,
    /// All of the workspace, for operators and auditors.
    All,
}

/// `GET /jobs` -> [`Jobs`].
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobsQuery {
    /// Whose jobs: those that you asked for (`hirer`, the default), those that your agents are to
    /// do (`worker`), or `all`.
    pub side: Option<Side>,
    /// With `side=all`: only those that are contested, and not decided about.
    pub disputed: Option<bool>,
    /// Where the page before ended: its `next`.
    pub after: Option<String>,
    /// 1 to 200; 50 by default.
    pub limit: Option<u32>,
}

/// A page of jobs, newest first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Jobs {
    pub jobs: Vec<Job>,
    /// Give it as `after` for the next page.
    pub next: Option<String>,
}

/// `POST /jobs/{job}/evaluation` -> [`Job`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvaluateJob {
    pub accept: bool,
}

/// `POST /jobs/{job}/dispute` -> [`Job`].
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contest {
    /// At most 1,024 bytes.
    #[redact(fixed = 3)]
    pub reason: String,
}

/// `POST /jobs/{job}/dispute/decision` -> [`Job`].
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideDispute {
    /// Whether what was paid goes back to the hirer.
    pub refund: bool,
    /// Why; at most 1,024 bytes.
    #[redact(fixed = 3)]
    pub note: String,
}

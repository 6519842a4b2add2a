//! Pipelines: jobs one after the other that share a context.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_with::skip_serializing_none;

use super::{Amount, JobStatus, ResultStatus};

/// `POST /pipelines` -> 202 [`Pipeline`].
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPipeline {
    /// A UUID of your choice: the same again is the same pipeline. The host draws one by default.
    pub pipeline_id: Option<String>,
    /// What the first step begins with: a JSON object. The output of each step is added to it.
    #[redact(fixed = 3)]
    pub context: Box<RawValue>,
    /// What all steps may cost together.
    pub budget: Amount,
    /// 1 to 16 steps.
    pub steps: Vec<NewStep>,
    /// Where the end of each step is posted.
    #[redact(fixed = 3)]
    pub callback_url: Option<String>,
}

/// A step of a pipeline.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStep {
    /// The UUID of an agent, or a member as `@handle`.
    pub agent_id: String,
    pub skill_name: String,
    /// Its share of the budget, more than 0 and at most 1. All shares together are at most 1.
    pub fraction: f64,
    /// Its input: a JSON object, in which the text `"$name"` stands for that field of the context.
    /// The whole context by default.
    #[redact(fixed = 3)]
    pub input_data: Option<Box<RawValue>>,
    /// 600,000 by default.
    pub timeout_ms: Option<i64>,
}

/// A pipeline, as far as it has come.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
pub struct Pipeline {
    pub pipeline_id: String,
    /// `PENDING`, `SUCCESS` once all steps are completed, or `FAILURE`.
    pub status: ResultStatus,
    #[redact(fixed = 3)]
    pub context: Box<RawValue>,
    /// What was paid so far.
    pub paid: Amount,
    pub steps: Vec<PipelineStep>,
    /// Why it went no further.
    #[redact(fixed = 3)]
    pub error_message: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PipelineStep {
    pub agent_id: String,
    pub skill_name: String,
    pub budget: Amount,
    /// The job of the step, once it was asked for.
    pub job_id: Option<String>,
    pub state: Option<JobStatus>,
}

//! The tools of the registry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use super::{AgentStatus, Amount, Discovered, Job, ResultStatus, ResultTaken};
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// None of them reaches a conversation.
const NOWHERE: Reach = Reach::Named;

/// Arguments of `discover_agents`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscoverAgents {
    /// The exact name of a skill
    pub skill: Option<String>,
    /// Words that all occur in the skill's name or description or in the agent's name
    pub q: Option<String>,
    /// 0 to 100
    #[schemars(range(min = 0.0, max = 100.0))]
    pub min_reputation: Option<f64>,
    /// What a call may cost
    pub max_cost: Option<Amount>,
    /// Only agents that are online, or only those that are offline
    pub status: Option<AgentStatus>,
    /// Only agents whose endpoint has answered the last challenge
    pub verified: Option<bool>,
    /// Where the page before ended: its next
    pub after: Option<String>,
    /// 1 to 200; 50 by default
    pub limit: Option<u32>,
}

impl Arguments for DiscoverAgents {
    type Result = Discovered;

    const TOOL: &'static Tool = &Tool {
        name: "discover_agents",
        title: "Find agents for hire",
        description: "Find agents that can be hired for a skill, best reputation first. Use it \
                      before request_job. To talk to a colleague, send a message instead.",
        effect: Effect::Reads,
        reach: NOWHERE,
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::derived::<Self>(),
    };
}

/// Arguments of `request_job`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestJob {
    /// Who is to do it: the UUID of an agent, or a member as @handle
    pub hire: String,
    pub skill_name: String,
    /// It must fit the skill's input_schema
    #[redact(fixed = 3)]
    #[schemars(with = "Map<String, Value>")]
    pub input_data: Box<RawValue>,
    /// What it may cost at the most; it is held until the job ends
    pub budget: Amount,
    /// A UUID of your choice: the same again is the same job
    pub job_id: Option<String>,
    /// Within how many milliseconds the result must be in; 600000 by default
    pub timeout_ms: Option<i64>,
    /// The thread in which an agent of this host is asked; one of its own by default
    pub thread_id: Option<String>,
    /// The agent of yours on whose behalf you ask
    pub orchestrator_id: Option<String>,
    /// The member who accepts or refuses the result
    pub evaluator: Option<String>,
    /// How long the evaluator has, in milliseconds; a day by default
    pub evaluation_ms: Option<i64>,
    /// Your own name for the payment
    pub payment_identifier: Option<String>,
    /// escrow, or direct: you pay with a transfer once you have the result
    pub payment: Option<String>,
    /// Where the end is posted, besides being kept here
    #[redact(fixed = 3)]
    pub callback_url: Option<String>,
    /// Wait so many milliseconds for the result, at most 30000
    pub wait_ms: Option<u64>,
}

impl Arguments for RequestJob {
    type Result = Job;

    const TOOL: &'static Tool = &Tool {
        name: "request_job",
        title: "Hire an agent for a job",
        description: "Hire an agent for one job at a price. The budget is held until the job ends; \
                      what it did not cost returns. Read the result with get_job. For a question to \
                      a colleague, send a message instead.",
        effect: Effect::Adds,
        reach: NOWHERE,
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::derived::<Self>(),
    };
}

/// Arguments of `get_job`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetJob {
    /// The job's UUID
    pub job_id: String,
    /// Wait so many milliseconds for its end, at most 30000
    pub wait_ms: Option<u64>,
}

impl Arguments for GetJob {
    type Result = Job;

    const TOOL: &'static Tool = &Tool {
        name: "get_job",
        title: "Look at a job",
        description: "Look at a job that you have asked for or are to do: where it is, its progress, \
                      its result and what it cost.",
        effect: Effect::Reads,
        reach: NOWHERE,
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::derived::<Self>(),
    };
}

/// Arguments of `deliver_job`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliverJob {
    /// The job's UUID
    pub job_id: String,
    /// SUCCESS, FAILURE, or PENDING to report progress
    pub status: ResultStatus,
    /// What was asked for; it must fit the skill's output_schema
    #[redact(fixed = 3)]
    #[schemars(with = "Option<Map<String, Value>>")]
    #[serde(default)]
    pub output_data: Option<Box<RawValue>>,
    /// Why it failed, or how far it is
    #[redact(fixed = 3)]
    pub error_message: Option<String>,
    /// What it cost, if less than the price
    pub execution_cost: Option<Amount>,
}

impl Arguments for DeliverJob {
    type Result = ResultTaken;

    const TOOL: &'static Tool = &Tool {
        name: "deliver_job",
        title: "Deliver a job",
        description: "Deliver the result of a job that you were hired for, or report how far it is. \
                      A result is final.",
        effect: Effect::Ends,
        reach: NOWHERE,
        for_turns: true,
        sends: true,
        caller_fields: None,
        shape: Shape::derived::<Self>(),
    };
}

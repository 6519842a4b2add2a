//! Discovery (registry spec section 3.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::{AgentStatus, Amount};
use crate::time::Time;

/// `GET /discover` -> [`Discovered`]: by reputation, then cost, then the last success.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Discover {
    /// The exact name of a skill.
    pub skill: Option<String>,
    /// 0 to 100.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub min_reputation: Option<f64>,
    pub max_cost: Option<Amount>,
    /// Only agents that are `online`, or only those that are `offline`.
    pub status: Option<AgentStatus>,
    /// Words that all occur in the skill's name or description or in the agent's name.
    pub q: Option<String>,
    /// Only agents whose endpoint has answered the last challenge.
    pub verified: Option<bool>,
    /// Where the page before ended: its `next`.
    pub after: Option<String>,
    /// 1 to 200; 50 by default.
    pub limit: Option<u32>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Discovered {
    pub agents: Vec<FoundAgent>,
    /// Give it as `after` for the next page.
    pub next: Option<String>,
}

/// An agent with the skill by which it was found.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
pub struct FoundAgent {
    pub agent_id: String,
    #[redact(fixed = 3)]
    pub agent_name: String,
    /// Where it takes jobs.
    #[redact(fixed = 3)]
    pub api_endpoint: String,
    pub skill: FoundSkill,
    pub reputation_score: f64,
    pub status: AgentStatus,
    pub owner_id: String,
    /// The member of this host that it is, if it is one.
    pub member: Option<String>,
    pub verified: bool,
    pub last_success_at: Option<Time>,
}

#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
pub struct FoundSkill {
    pub skill_name: String,
    pub cost_per_call: Amount,
    #[redact(fixed = 3)]
    pub description: String,
}

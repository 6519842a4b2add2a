//! Registration, heartbeats and listings (registry spec section 3.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_with::skip_serializing_none;

use super::Amount;
use crate::time::Time;

/// `POST /register` -> 201 [`Registered`]. Repeated, it changes what is registered.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
pub struct Register {
    /// The agent's UUID, which it keeps for ever. An agent of this host may leave it out and gets
    /// one.
    pub agent_id: Option<String>,
    /// One line of 1 to 256 bytes.
    #[redact(fixed = 3)]
    pub agent_name: String,
    /// The owner of your token, if you state it.
    pub owner_id: Option<String>,
    /// Where jobs are posted: `…/jobs`, or the URL to which `/jobs` is added. An agent of this host
    /// may leave it out: then it gets its jobs as a member.
    #[redact(fixed = 3)]
    pub api_endpoint: Option<String>,
    /// An agent of this host without an endpoint fetches its jobs itself, from
    /// `GET /jobs?side=worker`, instead of being asked for them in messages.
    #[serde(default)]
    pub pull: bool,
    /// 1 to 64 skills. They replace those that were registered before.
    pub skills: Vec<SkillOffer>,
    /// `0.1`.
    pub version: Option<String>,
    /// When you say it. More than five minutes in the future is an error.
    pub timestamp_utc: Option<Time>,
}

/// A skill with its price.
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
pub struct SkillOffer {
    /// 1 to 64 letters, digits or `_ - . : /`.
    pub skill_name: String,
    /// At most 2,048 bytes.
    #[serde(default)]
    #[redact(fixed = 3)]
    pub description: String,
    pub cost_per_call: Amount,
    /// What a job's input must fit: a JSON Schema, or an object that gives each field the name of
    /// its type, all of them required. Without one, anything fits.
    #[serde(default)]
    #[redact(fixed = 3)]
    pub input_schema: Option<Box<RawValue>>,
    /// What its output must fit.
    #[serde(default)]
    #[redact(fixed = 3)]
    pub output_schema: Option<Box<RawValue>>,
}

#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Registered {
    /// `registered`
    #[redact(fixed = 3)]
    pub status: String,
    pub agent_id: String,
    /// 0 to 100; 50 at first.
    pub reputation_score: f64,
}

/// `POST /heartbeat` -> [`HeartbeatTaken`]. Every 30 s; after 90 s without one an agent is offline.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListingHeartbeat {
    /// The agent; your token's own by default.
    pub agent_id: Option<String>,
    pub timestamp_utc: Option<Time>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatTaken {
    pub agent_id: String,
    pub status: AgentStatus,
    /// Send the next within so many milliseconds.
    pub next_within_ms: i64,
}

/// Whether an agent was heard of in the last 90 s, or is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    Online,
    Offline,
}

/// `GET /agents` -> [`Agents`], by their ids.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentQuery {
    /// Only those of this owner.
    pub owner: Option<String>,
    /// Where the page before ended: its `next`.
    pub after: Option<String>,
    /// 1 to 200; 50 by default.
    pub limit: Option<u32>,
}

/// A page of agents.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentsForHire")]
pub struct Agents {
    pub agents: Vec<Agent>,
    /// Give it as `after` for the next page.
    pub next: Option<String>,
}

/// An agent for hire.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AgentForHire")]
pub struct Agent {
    pub agent_id: String,
    #[redact(fixed = 3)]
    pub agent_name: String,
    pub owner_id: String,
    /// The member of this host that it is, if it is one: hire it as `@handle` too.
    pub member: Option<String>,
    #[redact(fixed = 3)]
    pub api_endpoint: Option<String>,
    /// It fetches its jobs itself.
    #[serde(default)]
    pub pull: bool,
    pub skills: Vec<Skill>,
    pub reputation_score: f64,
    pub status: AgentStatus,
    /// Whether its endpoint has answered the last challenge.
    pub verified: bool,
    pub verified_at: Option<Time>,
    pub last_heartbeat_at: Option<Time>,
    pub jobs_succeeded: u64,
    pub jobs_failed: u64,
    pub last_success_at: Option<Time>,
    pub registered_at: Time,
    /// It was removed and cannot be hired.
    pub removed_at: Option<Time>,
}

/// A skill as it is listed.
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
pub struct Skill {
    pub skill_name: String,
    #[redact(fixed = 3)]
    pub description: String,
    pub cost_per_call: Amount,
    #[redact(fixed = 3)]
    pub input_schema: Box<RawValue>,
    #[redact(fixed = 3)]
    pub output_schema: Box<RawValue>,
}

/// `GET /skills` -> the names of all skills, in alphabetical order.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillTotals {
    pub skills: Vec<SkillTotal>,
    /// Give it as `after` for the next page.
    pub next: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillTotal {
    pub skill_name: String,
    /// How many agents have it.
    pub agents: u64,
    /// What it costs at the least.
    pub cheapest: Amount,
}

/// `GET /agents/{agent}/reputation` -> what changed an agent's reputation, oldest first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReputationHistory {
    pub agent_id: String,
    pub reputation_score: f64,
    pub changes: Vec<ReputationChange>,
    /// Give it as `after` for the next page.
    pub next: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReputationChange {
    /// Counted from 1.
    pub number: u64,
    pub at: Time,
    pub job_id: String,
    /// `success`, `failure`, or `reversal` of a contested job.
    pub why: String,
    pub before: f64,
    pub after: f64,
}

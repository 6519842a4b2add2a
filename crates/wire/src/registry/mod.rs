//! The registry protocol: agents for hire, jobs, credits (`spec/registry.md`). Everything is
//! snake_case, and the fields of the protocol have the names that it gives them.

mod agents;
mod amount;
mod ard;
mod card;
mod discover;
mod jobs;
mod ledger;
mod pipelines;
mod tools;

pub use agents::{
    Agent, AgentQuery, AgentStatus, Agents, HeartbeatTaken, ListingHeartbeat, Register, Registered,
    ReputationChange, ReputationHistory, Skill, SkillOffer, SkillTotal, SkillTotals,
};
pub use amount::Amount;
pub use ard::{
    ArdContext, ArdEntry, ArdFederation, ArdHost, ArdManifest, ArdMetadata, ArdQuery, ArdResult,
    ArdResults, ArdSearch, ArdValues,
};
pub use card::{
    AgentCard, CardCapabilities, CardExtension, CardInterface, CardPrices, CardProvider,
    CardRequirement, CardRoles, CardSecurity, CardSignature, CardSkill, CardToken, KeySet,
    PublicKey,
};
pub use discover::{Discover, Discovered, FoundAgent, FoundSkill};
pub use jobs::{
    Contest, Contested, DecideDispute, EvaluateJob, Evaluation, Job, JobDelivery, JobQuery,
    JobRequest, JobResult, JobStatus, Jobs, JobsQuery, ResultStatus, ResultTaken, Side,
};
pub use ledger::{
    Account, Accounts, Audited, LedgerEntry, LedgerPage, Mint, Receipts, SpendingLimit, Statement,
    Transfer, Transferred,
};
pub use pipelines::{NewPipeline, NewStep, Pipeline, PipelineStep};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
pub use tools::{DeliverJob, DiscoverAgents, GetJob, RequestJob};

use crate::tool::{Arguments, Tool};

/// The tools of the protocol, in the order of `tools/list`.
pub(crate) const TOOLS: &[&Tool] =
    &[DiscoverAgents::TOOL, RequestJob::TOOL, GetJob::TOOL, DeliverJob::TOOL];

/// A page of a list.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    /// Where the page before ended: its `next`.
    pub after: Option<String>,
    /// 1 to 200; 50 by default.
    pub limit: Option<u32>,
}

//! Agentic Resource Discovery (ARD 0.91, <https://github.com/ards-project/ard-spec>): what others'
//! search services read of this registry. Names are ARD's.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use super::{AgentStatus, Amount};

/// `GET /.well-known/ard.json`: the registry, and the agents too where anybody may read of them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArdManifest {
    /// `1.0`
    pub spec_version: String,
    pub host: ArdHost,
    pub entries: Vec<ArdEntry>,
}

/// Whose manifest it is.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArdHost {
    #[redact(fixed = 3)]
    pub display_name: String,
    pub documentation_url: String,
}

/// One thing that can be found.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArdEntry {
    /// `urn:air:`, the host's domain, `agent` or `registry`, and a name. The domain is
    /// `agent.localhost` for a host without one.
    pub identifier: String,
    #[redact(fixed = 3)]
    pub display_name: String,
    /// `application/a2a-agent-card+json` or `application/ai-registry+json`
    pub r#type: String,
    /// The agent's card; or the base of the registry's API, to which `/search` is added.
    #[redact(fixed = 3)]
    pub url: String,
    #[redact(fixed = 3)]
    pub description: String,
    pub tags: Vec<String>,
    /// The names of an agent's skills.
    pub capabilities: Option<Vec<String>>,
    /// Two to five; made of what an agent says of its skills.
    #[redact(fixed = 3)]
    pub representative_queries: Option<Vec<String>>,
    pub metadata: Option<ArdMetadata>,
}

/// What the registry knows of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArdMetadata {
    pub owner_id: String,
    /// 0 to 100.
    pub reputation_score: f64,
    /// Of its cheapest skill.
    pub cost_per_call: Amount,
    pub currency: String,
    pub status: AgentStatus,
    /// Whether its endpoint has answered the last challenge.
    pub verified: bool,
}

/// `POST /search` -> [`ArdResults`]
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ArdSearch {
    pub query: ArdQuery,
    /// There are no other registries behind this one, so that all three find the same.
    #[serde(default)]
    pub federation: ArdFederation,
    /// 10 by default.
    #[schemars(range(min = 1, max = 100))]
    pub page_size: Option<u32>,
    /// The `pageToken` of the page before.
    pub page_token: Option<String>,
}

/// What is looked for.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArdQuery {
    /// Namespaces of filters. Entries here have none, so that it changes nothing.
    #[serde(rename = "@context")]
    pub context: Option<ArdContext>,
    /// What is needed, in words.
    #[redact(fixed = 3)]
    pub text: String,
    /// By a path into an entry, such as `capabilities` or `metadata.status`, the values of which it
    /// must have one; or `publisher`, the domain in its identifier.
    #[redact(fixed = 3)]
    pub filter: Option<BTreeMap<String, ArdValues>>,
}

/// The URL of a JSON-LD context, or one itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ArdContext {
    Url(String),
    Inline(Map<String, Value>),
    Several(Vec<Value>),
}

/// One value, or several of which any will do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ArdValues {
    One(String),
    Any(Vec<String>),
}

/// What is asked of other registries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArdFederation {
    #[default]
    Auto,
    Referrals,
    None,
}

/// A page of what was found, the best first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArdResults {
    pub results: Vec<ArdResult>,
    /// Other registries to ask: none. Only where referrals were asked for.
    pub referrals: Option<Vec<ArdEntry>>,
    /// Give it back for the next page.
    pub page_token: Option<String>,
}

/// An entry without its queries, and how well it fits.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ArdResult {
    #[serde(flatten)]
    pub entry: ArdEntry,
    /// Percent of the text's words that occur in what the agent says of itself. It says nothing of
    /// trust.
    #[schemars(range(min = 0, max = 100))]
    pub score: u8,
    /// This registry.
    pub source: String,
}

impl ArdValues {
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Any(values) => values,
        }
    }
}

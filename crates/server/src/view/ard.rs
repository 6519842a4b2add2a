//! Agents for hire, and the registry itself, as entries of ARD.

use std::collections::BTreeSet;

use chorus_core::model::job::CURRENCY;
use chorus_wire::registry::{Agent, Amount, ArdEntry, ArdMetadata};
use url::{Host, Url};

use super::cards;

pub(crate) const CARD: &str = "application/a2a-agent-card+json";
pub(crate) const REGISTRY: &str = "application/ai-registry+json";
/// The publisher of a host without a domain. ARD has it for what nobody else is to reach.
const NO_DOMAIN: &str = "agent.localhost";
/// Longest query that is made of a description, in bytes.
const QUERY_BYTES: usize = 200;
/// Queries of an entry.
const QUERIES: usize = 5;

/// Where the registry's API begins. Not at the root, where `GET /agents` is no list of ARD's.
pub(crate) fn base(public_url: &str) -> String {
    format!("{public_url}/ard")
}

/// The domain that stands for the host in identifiers.
pub(crate) fn publisher(public_url: &str) -> String {
    let url = Url::parse(public_url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(domain)) if domain.contains('.') => domain.to_owned(),
        _ => NO_DOMAIN.to_owned(),
    }
}

/// The registry.
pub(crate) fn registry(public_url: &str, workspace: &str) -> ArdEntry {
    let queries = ["find an agent for hire", "which agent can do this job, and what does it cost"];
    ArdEntry {
        identifier: format!("urn:air:{}:registry:agents", publisher(public_url)),
        display_name: format!("Agents for hire at {workspace}"),
        r#type: REGISTRY.to_owned(),
        url: base(public_url),
        description: "Finds agents for hire by what they can do; the best come first.".to_owned(),
        tags: ["registry", "agents", "search"].map(str::to_owned).to_vec(),
        capabilities: None,
        representative_queries: Some(queries.map(str::to_owned).to_vec()),
        metadata: None,
    }
}

/// An agent for hire.
pub(crate) fn entry(agent: &Agent, public_url: &str) -> ArdEntry {
    let names = || agent.skills.iter().map(|skill| skill.skill_name.as_str());
    let tags: BTreeSet<String> = names().flat_map(cards::tags).collect();
    let cheapest = agent.skills.iter().map(|skill| skill.cost_per_call).min();
    ArdEntry {
        identifier: format!("urn:air:{}:agent:{}", publisher(public_url), agent.agent_id),
        display_name: agent.agent_name.clone(),
        r#type: CARD.to_owned(),
        url: cards::url(public_url, &agent.agent_id),
        description: description(agent),
        tags: tags.into_iter().collect(),
        capabilities: Some(names().map(str::to_owned).collect()),
        representative_queries: Some(queries(agent)),
        metadata: Some(ArdMetadata {
            owner_id: agent.owner_id.clone(),
            reputation_score: agent.reputation_score,
            cost_per_call: cheapest.unwrap_or(Amount::default()),
            currency: CURRENCY.to_owned(),
            status: agent.status,
            verified: agent.verified,
        }),
    }
}

/// What its first skill is, and what the others are called.
fn description(agent: &Agent) -> String {
    let mut told = agent.skills.iter().map(|skill| skill.description.trim());
    let names: Vec<&str> = agent.skills.iter().map(|skill| skill.skill_name.as_str()).collect();
    let names = format!("Skills: {}.", names.join(", "));
    match told.find(|text| !text.is_empty()) {
        Some(text) => format!("{text} {names}"),
        None => names,
    }
}

/// What somebody might ask who needs this agent: each skill by its name, then in its own words.
fn queries(agent: &Agent) -> Vec<String> {
    let phrase = |name: &str| cards::tags(name).join(" ");
    let asked = agent.skills.iter().map(|s| format!("find an agent for {}", phrase(&s.skill_name)));
    let told = agent.skills.iter().map(|skill| skill.description.trim());
    let told = told.filter(|text| !text.is_empty() && text.len() <= QUERY_BYTES);
    let mut queries: Vec<String> = asked.take(QUERIES - 2).collect();
    queries.extend(told.map(str::to_owned).take(QUERIES - queries.len()));
    if let [only] = queries.as_slice() {
        queries.push(only.replacen("find", "hire", 1));
    }
    queries
}

//! An agent for hire as an A2A 1.0 agent card, made of nothing but what its listing shows to every
//! member.
//!
//! It says nothing that changes with each job or heartbeat, so that a card stays the same until its
//! agent changes.

use std::collections::{BTreeMap, BTreeSet};

use chorus_core::language::search::words;
use chorus_core::model::job::CURRENCY;
use chorus_core::model::registry::VERSION;
use chorus_wire::registry::{
    Agent, AgentCard, CardCapabilities, CardExtension, CardInterface, CardPrices, CardProvider,
    CardRequirement, CardRoles, CardSecurity, CardSkill, CardToken, Skill,
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The registry protocol, as a binding of A2A. It is not one of A2A's own, and has not all of A2A's
/// operations.
const BINDING: &str = "urn:chorus:registry:0.1";
/// That every job has a budget and is paid in credits.
const CREDITS: &str = "urn:chorus:registry:credits:0.1";
const JSON: &str = "application/json";
const SCHEME: &str = "bearer";
/// Skills that an agent's description names.
const NAMED: usize = 8;
/// Examples of a skill, and the longest of them in bytes.
const EXAMPLES: usize = 3;
const EXAMPLE_BYTES: usize = 1024;

/// Where a card is.
pub(crate) fn url(public_url: &str, agent_id: &str) -> String {
    format!("{public_url}/agents/{agent_id}/.well-known/agent-card.json")
}

/// A card without its version and its signature.
pub(crate) fn card(agent: &Agent, public_url: &str, workspace: &str) -> AgentCard {
    AgentCard {
        name: agent.agent_name.clone(),
        description: described(agent, workspace),
        // Only the host's own address: the card asks for a token of the host, which no other server
        // may see.
        supported_interfaces: vec![CardInterface {
            url: format!("{public_url}/jobs"),
            protocol_binding: BINDING.to_owned(),
            tenant: agent.agent_id.clone(),
            protocol_version: VERSION.to_owned(),
        }],
        provider: CardProvider { organization: agent.owner_id.clone(), url: public_url.to_owned() },
        version: String::new(),
        documentation_url: format!("{public_url}/agents/{}", agent.agent_id),
        capabilities: CardCapabilities {
            streaming: false,
            push_notifications: false,
            extended_agent_card: false,
            extensions: vec![credits(agent)],
        },
        security_schemes: BTreeMap::from([(SCHEME.to_owned(), security())]),
        security_requirements: vec![CardRequirement {
            // A role, though A2A does not ask for one: it lets no list of a card be empty.
            schemes: BTreeMap::from([(
                SCHEME.to_owned(),
                CardRoles { list: vec!["worker".to_owned()] },
            )]),
        }],
        default_input_modes: vec![JSON.to_owned()],
        default_output_modes: vec![JSON.to_owned()],
        skills: agent.skills.iter().map(skill).collect(),
        signatures: Vec::new(),
    }
}

fn described(agent: &Agent, workspace: &str) -> String {
    let names = agent.skills.iter().take(NAMED).map(|skill| skill.skill_name.as_str());
    let mut named = names.collect::<Vec<_>>().join(", ");
    if let Some(more) = agent.skills.len().checked_sub(NAMED + 1) {
        named.push_str(&format!(" and {} more", more + 1));
    }
    format!("An agent for hire in the registry of {workspace}. Its skills: {named}.")
}

fn credits(agent: &Agent) -> CardExtension {
    let prices = agent.skills.iter().map(|skill| (skill.skill_name.clone(), skill.cost_per_call));
    CardExtension {
        uri: CREDITS.to_owned(),
        description: "A job states a budget in credits, which the host holds until it ends."
            .to_owned(),
        required: true,
        params: CardPrices { currency: CURRENCY.to_owned(), prices: prices.collect() },
    }
}

fn security() -> CardSecurity {
    CardSecurity {
        http_auth_security_scheme: CardToken {
            description: "A token of a member of the host.".to_owned(),
            scheme: "Bearer".to_owned(),
            bearer_format: "JWT".to_owned(),
        },
    }
}

fn skill(skill: &Skill) -> CardSkill {
    let name = &skill.skill_name;
    let description = match skill.description.trim().is_empty() {
        true => format!("It offers {name}, and says no more of it."),
        false => skill.description.clone(),
    };
    CardSkill {
        id: name.clone(),
        name: name.clone(),
        description,
        tags: tags(name),
        examples: examples(&skill.input_schema),
        input_modes: vec![JSON.to_owned()],
        output_modes: vec![JSON.to_owned()],
    }
}

/// The words of a skill's name; the name itself, if it has none.
pub(super) fn tags(name: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    let words = words(name)
        .into_iter()
        .flat_map(|word| word.folded.split('_').map(str::to_owned).collect::<Vec<_>>());
    let mut tags: Vec<String> =
        words.filter(|word| !word.is_empty() && found.insert(word.clone())).collect();
    if tags.is_empty() {
        tags.push(name.to_owned());
    }
    tags
}

/// What the schema of an input gives as examples.
fn examples(schema: &RawValue) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Schema<'a> {
        #[serde(borrow, default)]
        examples: Vec<&'a RawValue>,
    }
    let read: Schema<'_> = serde_json::from_str(schema.get()).ok()?;
    let short = read.examples.into_iter().map(RawValue::get).filter(|e| e.len() <= EXAMPLE_BYTES);
    let examples: Vec<String> = short.take(EXAMPLES).map(str::to_owned).collect();
    (!examples.is_empty()).then_some(examples)
}

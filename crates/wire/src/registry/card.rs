//! An agent for hire as an agent card of A2A 1.0 (`AgentCard` in its `a2a.proto`), and the keys that
//! verify what the host signs (RFC 7517).
//!
//! Names are A2A's. No text, list or object of a card is empty: A2A's text and its Python library
//! disagree on whether a signature covers an empty one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::Amount;

/// `GET /agents/{agent}/.well-known/agent-card.json`
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentCard {
    #[redact(fixed = 3)]
    pub name: String,
    #[redact(fixed = 3)]
    pub description: String,
    /// How it is hired. The binding is the protocol of this registry and not one of A2A's own.
    pub supported_interfaces: Vec<CardInterface>,
    pub provider: CardProvider,
    /// Another one whenever what the card says is different.
    pub version: String,
    /// Its listing, with its reputation and the JSON Schemas of its skills.
    pub documentation_url: String,
    pub capabilities: CardCapabilities,
    pub security_schemes: BTreeMap<String, CardSecurity>,
    pub security_requirements: Vec<CardRequirement>,
    pub default_input_modes: Vec<String>,
    pub default_output_modes: Vec<String>,
    pub skills: Vec<CardSkill>,
    /// By the host, over the card without this field as RFC 8785 writes it (A2A section 8.4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<CardSignature>,
}

/// Where an agent takes jobs, and in which protocol.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardInterface {
    /// Jobs are posted to the host, which holds their budget and sends them on.
    #[redact(fixed = 3)]
    pub url: String,
    pub protocol_binding: String,
    /// The `agent_id` of a job.
    pub tenant: String,
    /// Of the protocol that the binding names.
    pub protocol_version: String,
}

/// Who is paid for an agent's work.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CardProvider {
    /// The agent's owner.
    pub organization: String,
    /// The host.
    #[redact(fixed = 3)]
    pub url: String,
}

/// What of A2A an agent can do: no streams, no push notifications, no longer card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardCapabilities {
    pub streaming: bool,
    pub push_notifications: bool,
    pub extended_agent_card: bool,
    pub extensions: Vec<CardExtension>,
}

/// That jobs are paid in credits, which whoever hires the agent has to know.
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CardExtension {
    pub uri: String,
    #[redact(fixed = 3)]
    pub description: String,
    pub required: bool,
    pub params: CardPrices,
}

/// What an agent's skills cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CardPrices {
    pub currency: String,
    /// What a call costs, by the skill's id.
    pub prices: BTreeMap<String, Amount>,
}

/// A skill of an agent. The JSON Schemas of what it takes and gives are in the agent's listing.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardSkill {
    /// The `skill_name` of a job.
    pub id: String,
    pub name: String,
    #[redact(fixed = 3)]
    pub description: String,
    /// The words of its name.
    pub tags: Vec<String>,
    /// The `examples` of the JSON Schema of its input, as JSON.
    #[redact(fixed = 3)]
    pub examples: Option<Vec<String>>,
    pub input_modes: Vec<String>,
    pub output_modes: Vec<String>,
}

/// How a caller shows who it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardSecurity {
    pub http_auth_security_scheme: CardToken,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardToken {
    #[redact(fixed = 3)]
    pub description: String,
    /// `Bearer`
    pub scheme: String,
    pub bearer_format: String,
}

/// Which of the card's security schemes a caller needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CardRequirement {
    pub schemes: BTreeMap<String, CardRoles>,
}

/// The least role that a token needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CardRoles {
    pub list: Vec<String>,
}

/// A JSON Web Signature without its payload, which is the card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CardSignature {
    /// The header in base64url: `alg`, `kid`, `typ`, and with `jku` where the keys are.
    pub protected: String,
    /// In base64url.
    pub signature: String,
}

/// `GET /.well-known/jwks.json`: the key that signs first, then those that have signed before and
/// whose tokens are still honoured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeySet {
    pub keys: Vec<PublicKey>,
}

/// A public key, as RFC 8037 writes it.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PublicKey {
    /// `OKP`
    pub kty: String,
    /// `Ed25519`
    pub crv: String,
    /// `EdDSA`
    pub alg: String,
    /// `sig`
    #[serde(rename = "use")]
    #[redact(fixed = 3)]
    pub purpose: String,
    pub kid: String,
    /// The key in base64url.
    pub x: String,
}

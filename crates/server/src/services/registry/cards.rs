//! Agent cards, which the host signs (A2A 1.0 section 8).

use chorus_core::model::error::{Code, Refusal};
use chorus_wire::canonical::canonical_json;
use chorus_wire::registry::{AgentCard, KeySet};
use sha2::{Digest, Sha256};

use super::agents::AgentService;
use crate::view::cards;
use crate::view::registry::hex;

/// Longest card in its canonical form, in bytes: more than a registration and what is said around
/// it.
const CARD_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a hash that tell one version of a card from another.
const VERSION_BYTES: usize = 8;

impl AgentService {
    /// The card of an agent that can be hired.
    pub(crate) async fn card(&self, id: &str) -> Result<AgentCard, Refusal> {
        let agent = self.agent(id).await?;
        if agent.removed_at.is_some() {
            return Err(Refusal::not_found("agent"));
        }
        let mut card = cards::card(&agent, &self.public_url, &self.workspace_name);
        let hash = Sha256::digest(canonical(&card)?.as_bytes());
        card.version = hex(hash.get(..VERSION_BYTES).unwrap_or_default());
        let keys = format!("{}/.well-known/jwks.json", self.public_url);
        card.signatures = vec![self.auth.sign_card(&canonical(&card)?, &keys)];
        Ok(card)
    }

    /// The keys that verify what the host signs.
    pub(crate) fn published_keys(&self) -> KeySet {
        self.auth.published_keys(self.clock.now())
    }
}

/// A card as RFC 8785 writes it. Canonical JSON here is the same for it: its names are ASCII, and
/// its numbers have at most two decimals and no exponent.
fn canonical(card: &AgentCard) -> Result<String, Refusal> {
    let json = serde_json::to_string(card)
        .map_err(|e| Refusal::new(Code::Internal, format!("a card is no JSON: {e}")))?;
    canonical_json(&json, CARD_BYTES)
}

//! Challenges of endpoints (see [`crate::model::registry::EndpointCheck`]).

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::audit::Audit;
use crate::model::error::{Code, Refusal};
use crate::model::ids::Uid;
use crate::model::registry::Listing;

/// The host challenges an agent's endpoint, or an endpoint has answered.
#[derive(Clone)]
pub struct ChallengeEndpoint {
    pub agent: Uid,
    /// The endpoint that has answered.
    pub answered: Option<Arc<str>>,
}

impl Command for ChallengeEndpoint {
    type Output = Arc<Listing>;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // The listing shows it.
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Listing>> {
        let before = run.listing(self.agent)?;
        if before.endpoint.is_none() {
            return Ok(before);
        }
        let check = match self.answered {
            Some(endpoint) if before.endpoint.as_ref() != Some(&endpoint) => {
                let why = "the agent has another endpoint since, which is challenged by itself";
                return Err(Refusal::new(Code::Conflict, why).into());
            }
            Some(_) => before.check.answered(run.now),
            None => before.check.asked(run.now),
        };
        let listing = Arc::new(Listing { check, ..(*before).clone() });
        run.ws.changes.listings.insert(self.agent, listing.clone());
        Ok(listing)
    }
}

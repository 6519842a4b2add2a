//! Heartbeats of agents that are for hire (design section 5, "Credits").

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::audit::Audit;
use crate::model::error::Refusal;
use crate::model::ids::Uid;

/// A listed agent says that it lives. The caller's own agent, where none is named.
#[derive(Clone)]
pub struct Heartbeat {
    pub agent: Option<Uid>,
}

impl Command for Heartbeat {
    type Output = Uid;

    const WHILE_PAUSED: bool = true;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // It comes every half minute; the listing shows the newest.
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Uid> {
        let listing = match self.agent {
            Some(agent) => run.listing(agent)?,
            None => {
                let me = run.me()?;
                let mine = run.listing_of(me.key)?.filter(|listing| !listing.is_removed());
                mine.ok_or_else(|| Refusal::invalid("say which agent by its agent_id"))?
            }
        };
        run.must_be_agent(&listing)?;
        let now = run.now;
        run.ws.changes.heartbeats.insert(listing.agent, now);
        Ok(listing.agent)
    }
}

//! An agent for hire, packed, with what changed its reputation; after all members.

use chorus_core::codec;
use chorus_core::model::ids::Uid;
use chorus_core::model::registry::{Listing, ReputationChange};
use chorus_store::history::{Reading, Snapshot};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfWorkspace, Out, Written};
use crate::history::error::Bad;
use crate::history::field::Bytes;

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Agent {
    agent: Bytes,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reputation: Vec<Bytes>,
}

impl Agent {
    fn read(&self) -> Result<(Listing, Vec<ReputationChange>), String> {
        let listing = codec::read_listing(&self.agent.0);
        let listing = listing.map_err(|_| "the agent cannot be read")?;
        let changes = self.reputation.iter().map(|c| codec::read_reputation_change(&c.0));
        let changes = changes.collect::<Result<_, _>>();
        Ok((listing, changes.map_err(|_| "a change of a reputation cannot be read")?))
    }
}

impl OfWorkspace for Agent {
    fn export(out: &mut Out<'_>, reading: &Reading, _: &Snapshot) -> Written {
        let mut after = Uid::default();
        loop {
            let page = reading.agents(after)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.agent;
            for listing in &page {
                let mut reputation = Vec::new();
                loop {
                    let changes =
                        reading.reputation_changes(listing.agent, reputation.len() as u64)?;
                    if changes.is_empty() {
                        break;
                    }
                    reputation.extend(changes.iter().map(|c| Bytes(codec::reputation_change(c))));
                }
                out.put(&Line::Agent(Self { agent: Bytes(codec::listing(listing)), reputation }))?;
            }
        }
    }
}

impl Kind for Agent {
    fn check(&self) -> Result<(), String> {
        self.read().map(drop)
    }

    fn import(self, import: &mut Import) -> Result<(), Bad> {
        let (listing, changes) = self.read()?;
        import.writing.agent(listing)?;
        for change in changes {
            import.writing.reputation_change(change)?;
        }
        Ok(())
    }
}

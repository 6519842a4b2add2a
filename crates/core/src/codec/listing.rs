//! A listing of the registry for its row.

use super::stored::Stored;
use super::{Corrupt, Reader, Result, Writer};
use crate::model::registry::{EndpointCheck, Listing, Reputation, ReputationChange, Skill};

row!(listing, read_listing: Listing);

record!(Listing {
    agent,
    name,
    owner,
    by,
    member,
    endpoint,
    pulls,
    by_operator,
    skills,
    registered_at,
    changed_at,
    removed_at,
    reputation,
    changes,
    successes,
    failures,
    last_success,
    check,
});

record!(Skill { name, description, cost, input, output });

record!(EndpointCheck { verified_at, asked_at, next_at, missed });

/// The bits of the score, in eight bytes.
impl Stored for Reputation {
    fn put(&self, out: &mut Writer) {
        self.bits().to_be_bytes().put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        Self::of_bits(i64::from_be_bytes(<[u8; 8]>::get(r)?)).ok_or(Corrupt)
    }
}

row!(reputation_change, read_reputation_change: ReputationChange);

record!(ReputationChange { agent, number, at, job, why, before, after });

//! Whether this host may say whose token is good: only while no other can have revoked it.

use std::sync::Arc;

use chorus_core::model::error::{Code, Refusal};
use chorus_store::membership::Lease;

use super::Auth;

impl Auth {
    /// Checks nobody's token once the workspace may be another host's, where it may be revoked by now.
    pub(crate) fn leased(self, lease: Arc<Lease>) -> Self {
        Self { lease, ..self }
    }

    pub(super) fn must_be_owner(&self) -> Result<(), Refusal> {
        match self.lease.holds() {
            true => Ok(()),
            false => Err(Refusal::new(
                Code::Unavailable,
                "this host may not own the workspace any more; try again in a moment",
            )),
        }
    }
}

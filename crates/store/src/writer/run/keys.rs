//! Other keys for the host: agreed to by the database's one host, between two batches, so that none comes in meanwhile.

use super::Run;
use crate::writer::orders::RekeyOrder;

impl Run {
    /// False where other hosts have the database too: what one of them signs would be nothing to the others.
    pub(super) fn rekey(&self, order: RekeyOrder) {
        let RekeyOrder { fingerprint, reply } = order;
        reply(match self.db.shared() {
            None => Ok(true),
            Some(hosts) if !hosts.is_alone() => Ok(false),
            Some(hosts) => hosts.agree_on_keys(&fingerprint),
        });
    }
}

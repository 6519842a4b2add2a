//! New keys for the host, agreed between two batches by the only host of the database, so that none
//! joins meanwhile.

use super::Run;
use crate::writer::orders::RekeyOrder;

impl Run {
    /// False while other hosts share the database: they would reject its signatures.
    pub(super) fn rekey(&self, order: RekeyOrder) {
        let RekeyOrder { fingerprint, reply } = order;
        reply(match self.db.shared() {
            None => Ok(true),
            Some(hosts) if !hosts.is_alone() => Ok(false),
            Some(hosts) => hosts.agree_on_keys(&fingerprint),
        });
    }
}

//! The registry, jobs and the ledger (`spec/registry.md`).

pub(crate) mod agents;
pub(crate) mod jobs;
pub(crate) mod ledger;
pub(crate) mod receipts;

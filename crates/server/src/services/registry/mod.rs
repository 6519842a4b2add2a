//! The registry, jobs and the ledger (`spec/registry.md`).

pub(crate) mod agents;
mod ard;
pub(crate) mod asking;
mod cards;
pub(crate) mod jobs;
pub(crate) mod ledger;
pub(crate) mod pipelines;
pub(crate) mod receipts;
mod schemas;
mod steps;
mod tools;

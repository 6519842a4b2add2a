//! Deliveries and claims: accepted, disposed of, deferred, and moved on.

pub(crate) mod accept;
pub(crate) mod claim;
pub(crate) mod defer;
pub(crate) mod deliver;
pub(crate) mod dispose;
pub(crate) mod escalate;
pub(crate) mod failure;
pub(crate) mod look;

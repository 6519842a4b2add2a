//! The `registry` transport (`spec/registry.md`): agents, jobs and credits, at the paths of the protocol.

mod agents;
mod interop;
mod jobs;
mod ledger;

use super::openapi::Routes;

pub(super) fn routes() -> Routes {
    agents::routes().merge(jobs::routes()).merge(ledger::routes()).merge(interop::routes())
}

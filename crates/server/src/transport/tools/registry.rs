//! The tools of the registry (`spec/registry.md`).

use chorus_wire::registry::{DeliverJob, Discover, DiscoverAgents, GetJob, RequestJob};

use super::handlers::{Asking, Handlers};
use crate::services::alike::NO_TOOL;

pub(super) fn handlers() -> Handlers {
    Handlers::default()
        .tool::<DiscoverAgents>(NO_TOOL, |Asking { app, .. }, a| {
            Box::pin(app.agents.discover(Discover {
                skill: a.skill,
                min_reputation: a.min_reputation,
                max_cost: a.max_cost,
                status: a.status,
                q: a.q,
                verified: a.verified,
                after: a.after,
                limit: a.limit,
            }))
        })
        .tool::<RequestJob>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.jobs.request_by_tool(caller, arguments))
        })
        .tool::<GetJob>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.jobs.get_by_tool(caller, arguments))
        })
        .tool::<DeliverJob>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.jobs.deliver_by_tool(caller, arguments))
        })
}

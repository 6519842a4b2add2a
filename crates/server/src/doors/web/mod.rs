//! REST below `/v1`, one file per group of resources; snake_case, with the error envelope (design section 4,
//! "Paths").

mod approvals;
mod audit;
mod channels;
mod copies;
mod events;
mod members;
mod messages;
mod pauses;
mod threads;
mod work;

use super::openapi::Routes;

pub(super) fn routes() -> Routes {
    members::routes()
        .merge(channels::routes())
        .merge(messages::routes())
        .merge(threads::routes())
        .merge(pauses::routes())
        .merge(events::routes())
        .merge(work::routes())
        .merge(audit::routes())
        .merge(copies::routes())
        .merge(approvals::routes())
}

//! REST below `/v1`, one file per group of resources; snake_case, with the error envelope (design section 4,
//! "Paths").

mod approvals;
mod assets;
mod audit;
mod channels;
mod copies;
mod endpoints;
mod events;
mod hosts;
mod inboxes;
mod live;
mod members;
mod messages;
mod pauses;
mod projects;
mod schedules;
mod search;
mod sign_in;
mod stimuli;
mod stream;
mod thread_work;
mod threads;
mod turns;
mod wakes;
mod work;
mod workspaces;

use super::openapi::Routes;

pub(super) fn routes() -> Routes {
    members::routes()
        .merge(channels::routes())
        .merge(messages::routes())
        .merge(threads::routes())
        .merge(thread_work::routes())
        .merge(schedules::routes())
        .merge(stimuli::routes())
        .merge(pauses::routes())
        .merge(projects::routes())
        .merge(turns::routes())
        .merge(wakes::routes())
        .merge(events::routes())
        .merge(live::routes())
        .merge(search::routes())
        .merge(work::routes())
        .merge(audit::routes())
        .merge(hosts::routes())
        .merge(workspaces::routes())
        .merge(copies::routes())
        .merge(endpoints::routes())
        .merge(approvals::routes())
        .merge(assets::routes())
        .merge(inboxes::routes())
        .merge(sign_in::routes())
}

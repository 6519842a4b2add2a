//! REST below `/v1`, one file per group of resources; snake_case, with the error envelope (design section 4,
//! "Paths").

mod channels;
mod copies;
mod events;
mod members;
mod messages;
mod threads;
mod work;

use std::sync::Arc;

use axum::Router;

use crate::app::App;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .merge(members::routes())
        .merge(channels::routes())
        .merge(messages::routes())
        .merge(threads::routes())
        .merge(events::routes())
        .merge(work::routes())
        .merge(copies::routes())
}

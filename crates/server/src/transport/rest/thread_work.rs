//! How the work of a thread stands, and the channel's feed.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::feed::{Feed, ReadFeed};
use chorus_wire::rest::thread_work::{Promote, WorkPatch};
use chorus_wire::rest::threads::Thread;

use crate::services::App;
use crate::services::alike::{NO_TOOL, READS};
use crate::transport::extract::{Bearer, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("thread work", include_str!("examples/thread_work.json"))
        .patch(
            "/v1/threads/{id}/work",
            change,
            Doc::new(
                "change_thread_work",
                "Says how the work of a thread stands; absent fields stay.",
                NO_TOOL,
            )
            .refuses(&[Code::Conflict, Code::NotFound, Code::StaleTurn]),
        )
        .post(
            "/v1/messages/{id}/promote",
            promote,
            Doc::new(
                "promote_message",
                "Shows a message of a thread in the channel's feed.",
                NO_TOOL,
            )
            .refuses(&[Code::Conflict, Code::NotFound, Code::StaleTurn]),
        )
        .get(
            "/v1/channels/{id}/feed",
            feed,
            Doc::new(
                "read_feed",
                "What a channel is about: subjects with their threads, results and promotions.",
                READS,
            )
            .refuses(&[Code::NotFound]),
        )
}

async fn change(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(patch): Json<WorkPatch>,
) -> Reply<Thread> {
    Ok(Json(app.threads.change_work(&caller, &id, patch).await?))
}

async fn promote(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(ask): Json<Promote>,
) -> Reply<Thread> {
    Ok(Json(app.threads.promote(&caller, &id, ask).await?))
}

async fn feed(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Query(query): Query<ReadFeed>,
) -> Reply<Feed> {
    Ok(Json(app.threads.feed(&caller, &id, query).await?))
}

//! `/v1/threads`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::attention::tools::Resolve;
use chorus_wire::rest::threads::{ListThreads, NewThread, Thread, ThreadPatch, Threads};
use chorus_wire::threads::{CreateThread, GetThread, UpdateThreadStatus};
use chorus_wire::tool::Arguments;

use crate::services::App;
use crate::services::alike::{GETS_THREAD, like};
use crate::transport::extract::{Bearer, Created, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("threads", include_str!("examples/threads.json"))
        .get(
            "/v1/threads",
            threads,
            Doc::new("list_threads", "The threads that the caller may see.", GETS_THREAD)
                .refuses(&[Code::NotFound]),
        )
        .post(
            "/v1/threads",
            open,
            Doc::new(
                "open_thread",
                "Opens a thread, in a conversation or in one of its own.",
                [like(CreateThread::TOOL, |a| {
                    Some(a.called("conversation", "channel_id").called("root", "root_message_id"))
                })],
            )
            .refuses(&[Code::InsufficientAuthority, Code::Conflict, Code::NotFound]),
        )
        .get(
            "/v1/threads/{id}",
            thread,
            Doc::new(
                "get_thread",
                "One thread.",
                [like(GetThread::TOOL, |a| Some(a.called("id", "thread_id")))],
            )
            .refuses(&[Code::NotFound]),
        )
        .patch(
            "/v1/threads/{id}",
            change,
            Doc::new(
                "change_thread",
                "Changes status or owner of a thread; absent fields stay.",
                [
                    like(UpdateThreadStatus::TOOL, |a| Some(a.called("id", "thread_id"))),
                    like(Resolve::TOOL, |a| {
                        let resolved = a.where_it_is("status", "resolved")?;
                        Some(resolved.called("id", "threadId").called("reason", "note"))
                    }),
                ],
            )
            .refuses(&[
                Code::InsufficientAuthority,
                Code::Conflict,
                Code::NotFound,
                Code::StaleTurn,
            ]),
        )
}

async fn threads(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<ListThreads>,
) -> Reply<Threads> {
    Ok(Json(app.threads.threads(&caller, query).await?))
}

async fn open(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewThread>,
) -> Result<Created<Thread>, Refused> {
    Ok(Created(app.threads.open_thread(&caller, new).await?))
}

async fn thread(State(app): Host, Bearer(caller): Bearer, Path(id): Path<String>) -> Reply<Thread> {
    Ok(Json(app.threads.thread(&caller, &id).await?))
}

async fn change(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(patch): Json<ThreadPatch>,
) -> Reply<Thread> {
    Ok(Json(app.threads.change_thread(&caller, &id, patch).await?))
}

//! `/v1/threads`.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use chorus_wire::rest::threads::{ListThreads, NewThread, Thread, ThreadPatch, Threads};

use crate::app::App;
use crate::doors::extract::{Bearer, Created, Json, Path, Query, Reply};
use crate::doors::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/threads", get(threads).post(open))
        .route("/v1/threads/{id}", get(thread).patch(change))
}

async fn threads(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<ListThreads>,
) -> Reply<Threads> {
    Ok(Json(app.threads(&caller, query).await?))
}

async fn open(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewThread>,
) -> Result<Created<Thread>, Refused> {
    Ok(Created(app.open_thread(&caller, new).await?))
}

async fn thread(State(app): Host, Bearer(caller): Bearer, Path(id): Path<String>) -> Reply<Thread> {
    Ok(Json(app.thread(&caller, &id).await?))
}

async fn change(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(patch): Json<ThreadPatch>,
) -> Reply<Thread> {
    Ok(Json(app.change_thread(&caller, &id, patch).await?))
}

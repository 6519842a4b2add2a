//! `/v1/pauses`, and letting agents go on that have paused for a person.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::pauses::{Continued, Pauses};

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Bearer, Json, Path, Reply};
use crate::transport::openapi::{Doc, Routes};

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("pauses", include_str!("examples/pauses.json"))
        .get(
            "/v1/pauses",
            pauses,
            Doc::new(
                "list_pauses",
                "Where agents have said what they may without a person.",
                NO_TOOL,
            ),
        )
        .post(
            "/v1/channels/{id}/continue",
            go_on,
            Doc::new("continue_channel", "Lets agents go on in a conversation.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
        .post(
            "/v1/threads/{id}/continue",
            thread_goes_on,
            Doc::new("continue_thread", "Lets agents go on in a thread.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
}

async fn pauses(State(app): Host, Bearer(caller): Bearer) -> Reply<Pauses> {
    Ok(Json(app.pauses.pauses(&caller).await?))
}

async fn go_on(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Reply<Continued> {
    Ok(Json(app.pauses.go_on(&caller, &id).await?))
}

async fn thread_goes_on(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Reply<Continued> {
    Ok(Json(app.pauses.thread_goes_on(&caller, &id).await?))
}

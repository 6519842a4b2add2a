//! `/v1/live`: everything that the caller may see, as one stream of server-sent events.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use chorus_wire::rest::live::LiveHeads;

use super::stream;
use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Bearer, Json};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("events", include_str!("examples/live.json")).get(
        "/v1/live",
        live,
        Doc::new(
            "live",
            "Where every log that the caller may see ends; with `Accept: text/event-stream` all of them are followed \
             live, with activity and hints at lists that changed.",
            NO_TOOL,
        )
        .with(|draft| {
            draft.json::<LiveHeads>(200);
            draft.answer(200, "text/event-stream", Some(serde_json::json!({"type": "string"})));
        }),
    )
}

async fn live(
    State(app): Host,
    Bearer(caller): Bearer,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    if !stream::is_wanted(&headers) {
        return Ok(Json(app.log.heads(&caller).await?).into_response());
    }
    Ok(stream::of(app.log.follow_everything(&caller).await?))
}

//! `/v1/events`: a conversation's log as JSON, or followed live as server-sent events; and why each member was
//! told of one.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::rest::attention::Why;
use chorus_wire::rest::events::Events;
use schemars::JsonSchema;
use serde::Deserialize;

use super::stream;
use crate::services::App;
use crate::services::alike::{NO_TOOL, READS};
use crate::transport::extract::{Bearer, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("events", include_str!("examples/events.json"))
        .name("id", "The event: `evt_…`.", "evt_0192f0c1a2b37c4d8e5f60718293a4b5")
        .get(
            "/v1/events",
            events,
            Doc::new(
                "list_events",
                "The log of a conversation; with `Accept: text/event-stream` followed live.",
                READS,
            )
            .refuses(&[Code::NotFound])
            .with(|draft| {
                draft.json::<Events>(200);
                draft.answer(200, "text/event-stream", Some(serde_json::json!({"type": "string"})));
            }),
        )
        .get(
            "/v1/events/{id}/attention",
            why,
            Doc::new("why", "Why each member was told of an event, and what came of it.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["conversation"]))]
struct Asked {
    conversation: String,
    after: Option<u64>,
    limit: Option<u32>,
    /// With server-sent events: progress, typing and receipts too.
    #[serde(default)]
    activity: bool,
}

async fn events(
    State(app): Host,
    Bearer(caller): Bearer,
    headers: HeaderMap,
    Query(query): Query<Asked>,
) -> Result<Response, Refused> {
    if !stream::is_wanted(&headers) {
        let (after, limit) = (query.after, query.limit);
        let events = app.log.events(&caller, &query.conversation, after, limit).await?;
        return Ok(Json(events).into_response());
    }
    // A browser that reconnects says what it saw last.
    let after = match headers.get("last-event-id") {
        Some(id) => {
            let seq = id.to_str().ok().and_then(|id| id.parse().ok());
            Some(seq.ok_or_else(|| {
                Refusal::invalid("Last-Event-ID is the id of an event of the stream")
            })?)
        }
        None => query.after,
    };
    let follower = app.log.follow(&caller, &query.conversation, after, query.activity).await?;
    Ok(stream::of(follower))
}

async fn why(State(app): Host, Bearer(caller): Bearer, Path(id): Path<String>) -> Reply<Why> {
    Ok(Json(app.explanations.why(&caller, &id).await?))
}

//! `/v1/events`: a conversation's log as JSON, or followed live as server-sent events; and why each member was
//! told of one.

use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::rest::attention::Why;
use chorus_wire::rest::events::Events;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::services::App;
use crate::services::alike::{NO_TOOL, READS};
use crate::services::follow::{Follower, Item};
use crate::transport::extract::{Bearer, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

/// A comment is sent when nothing else was for this long; followers take three missed for a broken connection.
const ALIVE_EVERY: Duration = Duration::from_secs(15);
/// Bytes of one chunk, once several events wait.
const CHUNK_BYTES: usize = 64 * 1024;

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
    let accept = headers.get(header::ACCEPT).and_then(|a| a.to_str().ok()).unwrap_or_default();
    if !accept.contains("text/event-stream") {
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
    let stream = futures_util::stream::unfold(follower, |mut follower| async move {
        let chunk = chunk(&mut follower).await?;
        Some((Ok::<_, Infallible>(chunk), follower))
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream")];
    Ok((headers, Body::from_stream(stream)).into_response())
}

/// The next events, as many as are ready, or a sign of life.
async fn chunk(follower: &mut Follower) -> Option<Bytes> {
    let mut out = String::new();
    match tokio::time::timeout(ALIVE_EVERY, follower.next()).await {
        Ok(item) => write(&mut out, &item?),
        Err(_) if !follower.still_valid() => return None,
        Err(_) => out.push_str(": alive\n\n"),
    }
    while out.len() < CHUNK_BYTES
        && let Some(item) = follower.ready()
    {
        write(&mut out, &item);
    }
    Some(out.into())
}

/// JSON has no line breaks outside of escapes, so that one `data` line holds it.
fn write(out: &mut String, item: &Item) {
    if let Some(seq) = item.seq {
        // Writing into a string does not fail.
        let _ = writeln!(out, "id: {seq}");
    }
    let _ = write!(out, "event: {}\ndata: {}\n\n", item.name, item.json);
}

async fn why(State(app): Host, Bearer(caller): Bearer, Path(id): Path<String>) -> Reply<Why> {
    Ok(Json(app.explanations.why(&caller, &id).await?))
}

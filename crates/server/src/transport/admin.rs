//! Operations: whether the host lives, whether it can work, what it has counted, and a page that says what
//! runs here.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};

use super::app::PAGE;
use super::browser::PAGE_POLICY;
use super::cookie;
use super::openapi::{Doc, Routes};
use super::refused::Refused;
use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::{logging, page};

pub(super) fn routes() -> Routes {
    Routes::of("host", include_str!("admin_examples.json"))
        .get("/healthz", health, Doc::new("health", "The process answers.", NO_TOOL))
        .get(
            "/readyz",
            ready,
            Doc::new(
                "ready",
                "The writer can write; else why not, and the process wants to be restarted.",
                NO_TOOL,
            )
            .with(|draft| {
                draft.answer(200, "text/plain", Some(serde_json::json!({"type": "string"})));
                draft.answer(503, "text/plain", Some(serde_json::json!({"type": "string"})));
            }),
        )
        .get(
            "/metrics",
            metrics,
            Doc::new("metrics", "What was counted, in the text format of OpenMetrics.", NO_TOOL)
                .with(|draft| {
                    draft.answer(
                        200,
                        "application/openmetrics-text",
                        Some(serde_json::json!({"type": "string"})),
                    );
                }),
        )
        .get(
            "/",
            front,
            Doc::new("front_page", "A page that says what runs here; the way to the page of Chorus for whoever has signed in.", NO_TOOL).with(|draft| {
                draft.answer(200, "text/html", Some(serde_json::json!({"type": "string"})));
                draft.answer(303, "", None);
            }),
        )
}

/// The process answers.
async fn health() -> &'static str {
    "ok\n"
}

/// The writer can write. One that cannot says why, and the process wants to be restarted.
async fn ready(State(app): State<Arc<App>>) -> Response {
    match app.ready() {
        Ok(()) => "ready\n".into_response(),
        Err(why) => {
            (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")).into_response()
        }
    }
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    let metrics = &app.shared.metrics;
    metrics.connections.set(app.shared.connections.len() as i64);
    metrics.lost_lines.set(logging::lost() as i64);
    metrics.followers.set(app.shared.feed.followers() as i64);
    metrics.answer()
}

async fn front(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Refused> {
    // A session that has ended is nobody's; this page is for anybody.
    let session = cookie::token(&headers, &app.shared.public_url);
    if session.is_some_and(|token| app.identity.in_browser(token).is_ok()) {
        return Ok(Redirect::to(PAGE).into_response());
    }
    let channels = app.reads.channel_count().await?;
    let directory = app.directory();
    let present = directory.members.iter().filter(|m| !m.removed);
    let members = present.filter(|m| !directory.is_stand_in(m.key)).count();
    let front = page::Front {
        workspace: &app.shared.workspace_name,
        channels,
        members,
        connected: app.shared.connections.len(),
    };
    Ok(page(front.html()))
}

/// A page that runs no script.
fn page(html: String) -> Response {
    ([(header::CONTENT_SECURITY_POLICY, PAGE_POLICY)], Html(html)).into_response()
}

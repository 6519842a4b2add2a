//! Operations: whether the host lives, whether it can work, what it has counted, and a page that says what
//! runs here.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use chorus_core::model::caller::Authority;

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
            Doc::new("front_page", "A page that says what runs here.", NO_TOOL).with(|draft| {
                draft.answer(200, "text/html", Some(serde_json::json!({"type": "string"})));
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
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], metrics.text()).into_response()
}

async fn front(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Refused> {
    // A session that has ended is nobody's; the page is for anybody.
    let caller = cookie::token(&headers).and_then(|token| app.identity.in_browser(token).ok());
    let channels = app.reads.channel_count().await?;
    let directory = app.directory();
    let present = directory.members.iter().filter(|m| !m.removed);
    let members = present.filter(|m| !directory.is_stand_in(m.key)).count();
    let front = page::Front {
        member: caller.as_ref().map(|caller| &*caller.member.id),
        governs: caller.as_ref().is_some_and(|caller| caller.authority() == Authority::Operator),
        workspace: &app.shared.workspace_name,
        url: &app.shared.public_url,
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

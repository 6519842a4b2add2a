//! `POST /inbox/{secret}`: a service elsewhere delivers to an agent here. The secret is all the authority there is, and
//! one that is nobody's is answered before anything of the body is read.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::response::{IntoResponse, Response};
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::webhook::{DELIVERY_BYTES, INBOX};
use serde_json::json;

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Json, read_up_to};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

pub(super) fn routes() -> Routes {
    Routes::of("webhook", include_str!("inbox.json"))
        .name("secret", "The secret of a connection string.", "sk_3f1c9a")
        .post(
            "/inbox/{secret}",
            deliver,
            Doc::new(
                "deliver_to_inbox",
                "A service elsewhere delivers a message to the agent behind a connection string (spec/webhook.md).",
                NO_TOOL,
            )
            .refuses(&[
                Code::AddressRefused,
                Code::Conflict,
                Code::Forbidden,
                Code::IdempotencyConflict,
                Code::ReplyBudgetSpent,
                Code::Unauthorized,
            ])
            .with(|draft| {
                draft.any_body(
                    json!({"type": "object", "required": ["channel", "message", "callback"]}),
                );
                draft.answer(200, "application/json", Some(json!({"type": "object"})));
            }),
        )
}

async fn deliver(State(app): State<Arc<App>>, request: Request) -> Result<Response, Refused> {
    let (parts, body) = request.into_parts();
    let secret = parts.uri.path().strip_prefix(INBOX).unwrap_or_default();
    let inbox = app.inboxes.inbox_behind(secret)?;
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let from = peer.map(|peer| app.shared.limits.origin(peer.0.ip(), &parts.headers));
    app.inboxes.may_deliver(&inbox, from, &parts.headers)??;
    let bytes = read_up_to(&app, &parts.headers, body, DELIVERY_BYTES, too_large).await?;
    app.inboxes.check_signature(&inbox, &parts.headers, &bytes)?;
    app.inboxes.receive(&inbox, &bytes).await?;
    Ok(Json(json!({})).into_response())
}

fn too_large() -> Refusal {
    let why = format!("a delivery has at most {DELIVERY_BYTES} bytes");
    Refusal::new(Code::PayloadTooLarge, why)
}

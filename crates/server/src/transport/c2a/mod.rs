//! C2A at `/v1/c2a`: a WebSocket both ways, and POST for the harness's own calls (`spec/attention.md`).

mod dispatch;
mod hello;
mod outbound;
mod post;
mod sink;
mod socket;
mod under_way;

use std::sync::Arc;

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::response::Response;
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::tool::Names;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::BODY_BYTES;
use super::extract::{Query, WithToken};
use super::openapi::{Doc, Routes};
use super::refused::Refused;
use crate::services::App;
use crate::services::alike::NO_TOOL;

pub(super) fn routes() -> Routes {
    Routes::of("attention", include_str!("examples.json"))
        .get(
            "/v1/c2a",
            connect,
            Doc::new(
                "c2a_connect",
                "Connects a harness by WebSocket (spec/attention.md).",
                NO_TOOL,
            ),
        )
        .post(
            "/v1/c2a",
            post::post,
            Doc::new(
                "c2a_call",
                "One JSON-RPC call of the attention protocol (spec/attention.md).",
                NO_TOOL,
            )
            .refuses(&[
                Code::ClaimMismatch,
                Code::Conflict,
                Code::Forbidden,
                Code::NotFound,
                Code::StaleTurn,
            ])
            .with(|draft| {
                draft.token();
                draft.any_body(json!({"type": "object"}));
                draft.answer(200, "application/json", Some(json!({"type": "object"})));
                draft.answer(202, "", None);
            }),
        )
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// `underscore` for model APIs that refuse dots in the names of tools.
    names: Option<String>,
}

impl Asked {
    pub(super) fn names(&self) -> Result<Names, Refusal> {
        match self.names.as_deref() {
            None | Some("dotted") => Ok(Names::Dotted),
            Some("underscore") => Ok(Names::Underscore),
            Some(_) => Err(Refusal::invalid("names is 'dotted' or 'underscore'")),
        }
    }
}

async fn connect(
    State(app): State<Arc<App>>,
    WithToken(caller): WithToken,
    Query(asked): Query<Asked>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Refused> {
    caller.must_not_be_a_turn()?;
    let names = asked.names()?;
    let upgrade = upgrade.map_err(|e| {
        Refusal::invalid(format!(
            "connect to this path by WebSocket, or POST to it: {}",
            e.body_text()
        ))
    })?;
    let upgrade = upgrade
        .max_message_size(BODY_BYTES)
        .max_frame_size(BODY_BYTES)
        // Most frames are far smaller; ten thousand connections keep one of each.
        .read_buffer_size(4 * 1024)
        .write_buffer_size(16 * 1024)
        .max_write_buffer_size(4 * BODY_BYTES);
    Ok(upgrade.on_upgrade(move |socket| socket::serve(app, caller, names, socket)))
}

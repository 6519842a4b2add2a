//! `/v1/channels/{id}/turns`: who speaks about which subject; `/v1/channels/{id}/moderation`: what came of that lately.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::moderation::{AskModeration, Moderation};
use chorus_wire::rest::turns::Turns;

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Bearer, Done, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("turns", include_str!("examples/turns.json"))
        .name(
            "subject",
            "The subject: the `evt_…` of its root message, or its thread's `th_…`.",
            "evt_0192f0c1a2b37c4d8e5f60718293a4b5",
        )
        .get(
            "/v1/channels/{id}/turns",
            turns,
            Doc::new(
                "list_turns",
                "Who speaks about the subjects of a channel, and who waits.",
                NO_TOOL,
            )
            .refuses(&[Code::NotFound]),
        )
        .get(
            "/v1/channels/{id}/moderation",
            moderation,
            Doc::new("moderation", "What came of a channel's rules lately, in numbers.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
        .delete(
            "/v1/channels/{id}/turns/{subject}/{member}",
            take_away,
            Doc::new("break_turn", "Takes a turn away: the next in line speaks.", NO_TOOL)
                .refuses(&[Code::InsufficientAuthority, Code::Conflict, Code::NotFound]),
        )
}

async fn turns(State(app): Host, Bearer(caller): Bearer, Path(id): Path<String>) -> Reply<Turns> {
    Ok(Json(app.turns.turns(&caller, &id).await?))
}

async fn moderation(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Query(query): Query<AskModeration>,
) -> Reply<Moderation> {
    Ok(Json(app.messages.moderation(&caller, &id, query).await?))
}

async fn take_away(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, subject, member)): Path<(String, String, String)>,
) -> Result<Done, Refused> {
    app.turns.break_turn(&caller, &id, &subject, &member).await?;
    Ok(Done)
}

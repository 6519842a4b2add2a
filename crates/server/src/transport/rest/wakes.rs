//! `/v1/wakes`: bringing agents back to mail that waits for them, and what came of it.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::wakes::{ListWakes, NewWake, OpenedWake, Wakes};
use chorus_wire::threads::TriggerParticipant;
use chorus_wire::tool::Arguments;

use crate::services::App;
use crate::services::alike::{Like, NO_TOOL, like};
use crate::transport::extract::{Bearer, Json, Query, Reply};
use crate::transport::openapi::{Doc, Routes};

type Host = State<Arc<App>>;

/// Also where a conversation is named, which the tool does not take: what is sensitive is that the agent is woken.
const WAKES: [Like; 1] = [like(TriggerParticipant::TOOL, |a| {
    let a = a.called("thread", "thread_id").called("member", "target_agent_id");
    Some(a.called("prompt", "trigger_prompt"))
})];

pub(super) fn routes() -> Routes {
    Routes::of("wakes", include_str!("examples/wakes.json"))
        .get(
            "/v1/wakes",
            wakes,
            Doc::new(
                "list_wakes",
                "What was done to wake agents: open wakes and those that ended lately, newest first.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority, Code::NotFound]),
        )
        .post(
            "/v1/wakes",
            wake,
            Doc::new("wake", "Wakes an agent for messages that wait for it.", WAKES).refuses(&[
                Code::HumanInputCollision,
                Code::InsufficientAuthority,
                Code::NotFound,
                Code::RateLimited,
                Code::UnmanagedRuntime,
                Code::WakeFailed,
            ]),
        )
}

async fn wakes(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<ListWakes>,
) -> Reply<Wakes> {
    Ok(Json(app.wakes.wakes(&caller, query).await?))
}

async fn wake(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewWake>,
) -> Reply<OpenedWake> {
    Ok(Json(app.wakes.open(&caller, new).await?))
}

//! The `webhook` transport (`spec/webhook.md`): what agents behind connection strings answer, and what services elsewhere deliver to
//! agents here.

mod callback;
pub(crate) mod events;
mod inbox;

use chorus_core::model::error::Code;
use serde_json::json;

use super::openapi::{Doc, Routes};
use crate::services::alike::SENDS;

pub(super) fn routes() -> Routes {
    const JUDGED: [Code; 11] = [
        Code::ApprovalRequired,
        Code::ClaimedByOther,
        Code::Conflict,
        Code::Forbidden,
        Code::IdempotencyConflict,
        Code::NotFound,
        Code::PolicyForbidsReply,
        Code::ReplyBudgetSpent,
        Code::StaleTurn,
        Code::TurnHeldByOther,
        Code::Unauthorized,
    ];
    let callback = Routes::of("webhook", include_str!("examples.json"))
        .name("token", "The token of the callback, as its URL has it.", "tok_xyz789")
        .post(
            "/channels/{channel_id}/inbox/{token}",
            callback::post,
            Doc::new(
                "callback",
                "What an agent says by the callback of a delivery: one JSON object, or several.",
                SENDS,
            )
            .refuses(&JUDGED)
            .with(|draft| draft.any_body(json!({"type": "object"}))),
        );
    callback.merge(inbox::routes())
}

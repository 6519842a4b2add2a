//! `/v1/messages` and their reactions, `/v1/attention/preview`, `/v1/typing`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::reaction::Signal;
use chorus_wire::attention::notifications::Typing;
use chorus_wire::named;
use chorus_wire::rest::attention::Preview;
use chorus_wire::rest::messages::{
    Erasure, ListMessages, Message, MessagePatch, Messages, NewMessage, Posted, ReactionAnswer,
    ReactionPut,
};

use crate::services::App;
use crate::transport::extract::{Bearer, Created, Done, Encoded, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

/// With which a message may be refused, sent or only previewed.
const SENDING: [Code; 10] = [
    Code::ApprovalRequired,
    Code::ClaimedByOther,
    Code::Conflict,
    Code::IdempotencyConflict,
    Code::InsufficientAuthority,
    Code::NotFound,
    Code::PolicyForbidsReply,
    Code::ReplyBudgetSpent,
    Code::StaleTurn,
    Code::TurnHeldByOther,
];

pub(super) fn routes() -> Routes {
    Routes::of("messages", include_str!("examples/messages.json"))
        .get(
            "/v1/messages",
            messages,
            Doc::new("list_messages", "Messages of a conversation or thread, oldest first.")
                .refuses(&[Code::NotFound]),
        )
        .post(
            "/v1/messages",
            send,
            Doc::new("post_message", "Posts a message; who is told of it stands in the answer.")
                .refuses(&SENDING),
        )
        .get(
            "/v1/messages/{id}",
            message,
            Doc::new("get_message", "One message.").refuses(&[Code::NotFound]),
        )
        .patch(
            "/v1/messages/{id}",
            edit,
            Doc::new("edit_message", "Gives a message another content.").refuses(&[
                Code::InsufficientAuthority,
                Code::Conflict,
                Code::NotFound,
                Code::StaleTurn,
            ]),
        )
        .delete(
            "/v1/messages/{id}",
            delete,
            Doc::new("delete_message", "Deletes a message; that it was there stays visible.")
                .refuses(&[
                    Code::InsufficientAuthority,
                    Code::Conflict,
                    Code::NotFound,
                    Code::StaleTurn,
                ]),
        )
        .post(
            "/v1/messages/{id}/erase",
            erase,
            Doc::new("erase_message", "Erases a message in all its versions, for good.")
                .refuses(&[Code::Conflict, Code::InsufficientAuthority, Code::NotFound]),
        )
        .put(
            "/v1/messages/{id}/reactions/{signal}",
            react,
            Doc::new("put_reaction", "Sets a reaction of the caller.").refuses(&[
                Code::ClaimedByOther,
                Code::Conflict,
                Code::NotFound,
                Code::StaleTurn,
            ]),
        )
        .delete(
            "/v1/messages/{id}/reactions/{signal}",
            unreact,
            Doc::new("remove_reaction", "Takes a reaction of the caller back.").refuses(&[
                Code::ClaimedByOther,
                Code::Conflict,
                Code::NotFound,
                Code::StaleTurn,
            ]),
        )
        .post(
            "/v1/attention/preview",
            preview,
            Doc::new(
                "preview_attention",
                "Who would be told of a message, and how; nothing is posted.",
            )
            .refuses(&SENDING),
        )
        .post(
            "/v1/typing",
            typing,
            Doc::new("typing", "Says that the caller types, or no longer.")
                .refuses(&[Code::NotFound]),
        )
}

async fn send(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewMessage>,
) -> Result<Created<Posted>, Refused> {
    Ok(Created(app.post(&caller, new).await?))
}

async fn preview(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewMessage>,
) -> Reply<Preview> {
    Ok(Json(app.preview(&caller, new).await?))
}

async fn messages(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<ListMessages>,
) -> Result<Encoded<Messages>, Refused> {
    Ok(Encoded::new(app.messages_json(&caller, query).await?))
}

async fn message(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Reply<Message> {
    Ok(Json(app.message(&caller, &id).await?))
}

async fn edit(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(patch): Json<MessagePatch>,
) -> Reply<Message> {
    Ok(Json(app.edit(&caller, &id, patch).await?))
}

async fn delete(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Result<Done, Refused> {
    app.delete(&caller, &id).await?;
    Ok(Done)
}

async fn erase(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(erasure): Json<Erasure>,
) -> Reply<Message> {
    Ok(Json(app.erase(&caller, &id, erasure.reason.0).await?))
}

async fn react(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, name)): Path<(String, String)>,
    Json(put): Json<ReactionPut>,
) -> Reply<ReactionAnswer> {
    caller.must_not_be_a_turn()?;
    let signal = signal(&name)?;
    Ok(Json(app.react(&caller, &id, signal, put.eta, true).await?))
}

async fn unreact(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, name)): Path<(String, String)>,
) -> Reply<ReactionAnswer> {
    caller.must_not_be_a_turn()?;
    let signal = signal(&name)?;
    Ok(Json(app.react(&caller, &id, signal, None, false).await?))
}

/// Somebody types, on a surface that says so over REST.
async fn typing(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(typing): Json<Typing>,
) -> Result<Done, Refused> {
    caller.must_not_be_a_turn()?;
    app.typing(&caller, &typing).await?;
    Ok(Done)
}

fn signal(name: &str) -> Result<Signal, Refusal> {
    Signal::from_name(name).ok_or_else(|| Refusal::invalid(named::unknown::<Signal>(name)))
}

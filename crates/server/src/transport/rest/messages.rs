//! `/v1/messages` and their reactions, `/v1/attention/preview`, `/v1/typing`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::reaction::Signal;
use chorus_wire::attention::notifications::Typing;
use chorus_wire::attention::tools::{ListEvents, React, ReadThread};
use chorus_wire::channels::{ReadChannelThread, SetChannelReaction};
use chorus_wire::named;
use chorus_wire::rest::attention::Preview;
use chorus_wire::rest::messages::{
    Erasure, ListMessages, Message, MessagePatch, Messages, NewMessage, Posted, ReactionAnswer,
    ReactionPut,
};
use chorus_wire::threads::ReadMessages;
use chorus_wire::tool::Arguments;

use crate::services::App;
use crate::services::alike::{NO_TOOL, READS, SENDS, like};
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
        .name("signal", "What the reaction says.", "working")
        .get(
            "/v1/messages",
            messages,
            Doc::new(
                "list_messages",
                "Messages of a conversation or thread, oldest first.",
                [
                    like(ReadThread::TOOL, |a| {
                        let a = a.called("thread", "threadId").called("after_seq", "afterSequence");
                        Some(a.called("before_seq", "beforeSequence"))
                    }),
                    like(ReadMessages::TOOL, |a| {
                        Some(a.called("thread", "thread_id").called("after_seq", "since_seq"))
                    }),
                    like(ReadChannelThread::TOOL, |a| Some(a.called("thread", "thread_id"))),
                    like(ListEvents::TOOL, |a| Some(a.called("after_seq", "afterSequence"))),
                ],
            )
            .refuses(&[Code::NotFound]),
        )
        .post(
            "/v1/messages",
            send,
            Doc::new(
                "post_message",
                "Posts a message; who is told of it stands in the answer.",
                SENDS,
            )
            .refuses(&SENDING),
        )
        .get(
            "/v1/messages/{id}",
            message,
            Doc::new("get_message", "One message.", READS).refuses(&[Code::NotFound]),
        )
        .patch(
            "/v1/messages/{id}",
            edit,
            Doc::new("edit_message", "Gives a message another content.", SENDS).refuses(&[
                Code::InsufficientAuthority,
                Code::Conflict,
                Code::NotFound,
                Code::StaleTurn,
            ]),
        )
        .delete(
            "/v1/messages/{id}",
            delete,
            Doc::new(
                "delete_message",
                "Deletes a message; that it was there stays visible.",
                NO_TOOL,
            )
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
            Doc::new("erase_message", "Erases a message in all its versions, for good.", NO_TOOL)
                .refuses(&[Code::Conflict, Code::InsufficientAuthority, Code::NotFound]),
        )
        .put(
            "/v1/messages/{id}/reactions/{signal}",
            react,
            Doc::new(
                "put_reaction",
                "Sets a reaction of the caller.",
                [
                    like(React::TOOL, |a| Some(a.called("id", "inReplyTo"))),
                    like(SetChannelReaction::TOOL, |a| Some(a.called("id", "message_id"))),
                ],
            )
            .refuses(&[
                Code::ClaimedByOther,
                Code::Conflict,
                Code::NotFound,
                Code::StaleTurn,
            ]),
        )
        .delete(
            "/v1/messages/{id}/reactions/{signal}",
            unreact,
            Doc::new(
                "remove_reaction",
                "Takes a reaction of the caller back.",
                [
                    like(React::TOOL, |a| Some(a.called("id", "inReplyTo").with("remove", true))),
                    like(SetChannelReaction::TOOL, |a| {
                        Some(a.called("id", "message_id").with("remove", true))
                    }),
                ],
            )
            .refuses(&[
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
                NO_TOOL,
            )
            .refuses(&SENDING),
        )
        .post(
            "/v1/typing",
            typing,
            Doc::new("typing", "Says that the caller types, or no longer.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
}

async fn send(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewMessage>,
) -> Result<Created<Posted>, Refused> {
    Ok(Created(app.posts.post(&caller, new).await?))
}

async fn preview(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewMessage>,
) -> Reply<Preview> {
    Ok(Json(app.posts.preview(&caller, new).await?))
}

async fn messages(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<ListMessages>,
) -> Result<Encoded<Messages>, Refused> {
    Ok(Encoded::new(app.messages.messages_json(&caller, query).await?))
}

async fn message(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Reply<Message> {
    Ok(Json(app.messages.message(&caller, &id).await?))
}

async fn edit(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(patch): Json<MessagePatch>,
) -> Reply<Message> {
    Ok(Json(app.messages.edit(&caller, &id, patch).await?))
}

async fn delete(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Result<Done, Refused> {
    app.messages.delete(&caller, &id).await?;
    Ok(Done)
}

async fn erase(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(erasure): Json<Erasure>,
) -> Reply<Message> {
    Ok(Json(app.messages.erase(&caller, &id, erasure.reason.0).await?))
}

async fn react(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, name)): Path<(String, String)>,
    Json(put): Json<ReactionPut>,
) -> Reply<ReactionAnswer> {
    caller.must_not_be_a_turn()?;
    let signal = signal(&name)?;
    Ok(Json(app.reactions.react(&caller, &id, signal, put.eta, true).await?))
}

async fn unreact(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, name)): Path<(String, String)>,
) -> Reply<ReactionAnswer> {
    caller.must_not_be_a_turn()?;
    let signal = signal(&name)?;
    Ok(Json(app.reactions.react(&caller, &id, signal, None, false).await?))
}

/// Somebody types, on a surface that says so over REST.
async fn typing(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(typing): Json<Typing>,
) -> Result<Done, Refused> {
    caller.must_not_be_a_turn()?;
    app.dispositions.typing(&caller, &typing).await?;
    Ok(Done)
}

fn signal(name: &str) -> Result<Signal, Refusal> {
    Signal::from_name(name).ok_or_else(|| Refusal::invalid(named::unknown::<Signal>(name)))
}

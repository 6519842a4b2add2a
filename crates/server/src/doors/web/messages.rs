//! `/v1/messages` and their reactions, `/v1/attention/preview`, `/v1/typing`.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post, put};
use chorus_core::error::Refusal;
use chorus_core::reaction::Signal;
use chorus_wire::attention::notifications::Typing;
use chorus_wire::rest::attention::Preview;
use chorus_wire::rest::messages::{
    Erasure, ListMessages, Message, MessagePatch, Messages, NewMessage, Posted, ReactionAnswer,
    ReactionPut,
};
use chorus_wire::words;

use crate::app::App;
use crate::doors::extract::{Bearer, Created, Done, Json, Path, Query, Reply};
use crate::doors::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/messages", get(messages).post(send))
        .route("/v1/messages/{id}", get(message).patch(edit).delete(delete))
        .route("/v1/messages/{id}/erase", post(erase))
        .route("/v1/messages/{id}/reactions/{signal}", put(react).delete(unreact))
        .route("/v1/attention/preview", post(preview))
        .route("/v1/typing", post(typing))
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
) -> Reply<Messages> {
    Ok(Json(app.messages(&caller, query).await?))
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
    Ok(Json(app.erase(&caller, &id, erasure.reason).await?))
}

async fn react(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, name)): Path<(String, String)>,
    Json(put): Json<ReactionPut>,
) -> Reply<ReactionAnswer> {
    caller.must_not_be_a_turn()?;
    Ok(Json(app.react(&caller, &id, signal(&name)?, put.eta, true).await?))
}

async fn unreact(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, name)): Path<(String, String)>,
) -> Reply<ReactionAnswer> {
    caller.must_not_be_a_turn()?;
    Ok(Json(app.react(&caller, &id, signal(&name)?, None, false).await?))
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
    Signal::from_name(name).ok_or_else(|| Refusal::invalid(words::unknown::<Signal>(name)))
}

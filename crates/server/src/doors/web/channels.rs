//! `/v1/channels` and `/v1/cursors`.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::{get, put};
use chorus_wire::rest::channels::{Channel, ChannelPatch, Channels, NewChannel, Seat, SeatPut};
use chorus_wire::rest::cursors::{Cursor, CursorPut};

use crate::app::App;
use crate::doors::extract::{Bearer, Created, Done, Json, Path, Reply};
use crate::doors::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/channels", get(channels).post(add))
        .route("/v1/channels/{id}", get(channel).patch(change))
        .route("/v1/channels/{id}/members/{member}", put(seat).delete(unseat))
        .route("/v1/cursors/{conversation}", get(cursor).put(set_cursor))
}

async fn channels(State(app): Host, Bearer(caller): Bearer) -> Reply<Channels> {
    Ok(Json(app.channels(&caller).await?))
}

async fn add(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewChannel>,
) -> Result<Created<Channel>, Refused> {
    Ok(Created(app.add_channel(&caller, new).await?))
}

async fn channel(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Reply<Channel> {
    Ok(Json(app.channel(&caller, &id).await?))
}

async fn change(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(patch): Json<ChannelPatch>,
) -> Reply<Channel> {
    Ok(Json(app.change_channel(&caller, &id, patch).await?))
}

async fn seat(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, member)): Path<(String, String)>,
    Json(seat): Json<SeatPut>,
) -> Reply<Seat> {
    Ok(Json(app.seat(&caller, &id, &member, seat).await?))
}

async fn unseat(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, member)): Path<(String, String)>,
) -> Result<Done, Refused> {
    app.unseat(&caller, &id, &member).await?;
    Ok(Done)
}

async fn cursor(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(conversation): Path<String>,
) -> Reply<Cursor> {
    Ok(Json(app.cursor(&caller, &conversation).await?))
}

async fn set_cursor(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(conversation): Path<String>,
    Json(cursor): Json<CursorPut>,
) -> Reply<Cursor> {
    Ok(Json(app.set_cursor(&caller, &conversation, cursor).await?))
}

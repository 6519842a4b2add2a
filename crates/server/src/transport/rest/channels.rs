//! `/v1/channels` and `/v1/cursors`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::attention::listing;
use chorus_wire::rest::channels::{
    Channel, ChannelPatch, Channels, Leave, ListChannels, NewChannel, Seat, SeatPut,
};
use chorus_wire::rest::cursors::{Cursor, CursorPut};
use chorus_wire::rest::index::{Index, ListIndex};
use chorus_wire::threads::AckRead;
use chorus_wire::tool::Arguments;

use crate::services::App;
use crate::services::alike::{NO_TOOL, like};
use crate::transport::extract::{Bearer, Created, Done, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("conversations", include_str!("examples/channels.json"))
        .name("conversation", "The conversation: `ch_…`.", "ch_0192f0c1a2b37c4d8e5f60718293a4b5")
        .get(
            "/v1/channels",
            channels,
            Doc::new(
                "list_channels",
                "The conversations that the caller may see.",
                [like(listing::ListChannels::TOOL, Some)],
            ),
        )
        .post(
            "/v1/channels",
            add,
            Doc::new("add_channel", "Makes a conversation.", NO_TOOL).refuses(&[
                Code::InsufficientAuthority,
                Code::Conflict,
                Code::NotFound,
            ]),
        )
        .get(
            "/v1/channels/{id}",
            channel,
            Doc::new("get_channel", "One conversation with its roster.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
        .patch(
            "/v1/channels/{id}",
            change,
            Doc::new("change_channel", "Changes a conversation; absent fields stay.", NO_TOOL)
                .refuses(&[Code::InsufficientAuthority, Code::Conflict, Code::NotFound]),
        )
        .put(
            "/v1/channels/{id}/members/{member}",
            seat,
            Doc::new("put_seat", "Gives a member a seat, or changes how it takes part.", NO_TOOL)
                .refuses(&[Code::InsufficientAuthority, Code::Conflict, Code::NotFound]),
        )
        .post(
            "/v1/channels/{id}/leave",
            leave,
            Doc::new(
                "leave_channel",
                "Asks an agent to leave, or leaves: it is told nothing there until named.",
                NO_TOOL,
            )
            .refuses(&[Code::Conflict, Code::NotFound]),
        )
        .delete(
            "/v1/channels/{id}/members/{member}",
            unseat,
            Doc::new("remove_seat", "Takes a member off the roster.", NO_TOOL).refuses(&[
                Code::InsufficientAuthority,
                Code::Conflict,
                Code::NotFound,
            ]),
        )
        .get(
            "/v1/index",
            index,
            Doc::new(
                "index",
                "The conversations that the caller has a seat in, with what it has not read.",
                NO_TOOL,
            ),
        )
        .get(
            "/v1/cursors/{conversation}",
            cursor,
            Doc::new("get_cursor", "How far the caller has read.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
        .put(
            "/v1/cursors/{conversation}",
            set_cursor,
            Doc::new(
                "set_cursor",
                "Says how far the caller has read; never back, nor past the end.",
                [like(AckRead::TOOL, Some)],
            )
            .refuses(&[Code::NotFound]),
        )
}

async fn channels(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(asked): Query<ListChannels>,
) -> Reply<Channels> {
    Ok(Json(app.channels.channels(&caller, asked).await?))
}

async fn index(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(asked): Query<ListIndex>,
) -> Reply<Index> {
    Ok(Json(app.cursors.index(&caller, asked).await?))
}

async fn add(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewChannel>,
) -> Result<Created<Channel>, Refused> {
    Ok(Created(app.channels.add_channel(&caller, new).await?))
}

async fn channel(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Reply<Channel> {
    Ok(Json(app.channels.channel(&caller, &id).await?))
}

async fn change(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(patch): Json<ChannelPatch>,
) -> Reply<Channel> {
    Ok(Json(app.channels.change_channel(&caller, &id, patch).await?))
}

async fn seat(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, member)): Path<(String, String)>,
    Json(seat): Json<SeatPut>,
) -> Reply<Seat> {
    Ok(Json(app.channels.seat(&caller, &id, &member, seat).await?))
}

async fn leave(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(ask): Json<Leave>,
) -> Result<Done, Refused> {
    app.channels.leave(&caller, &id, ask).await?;
    Ok(Done)
}

async fn unseat(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, member)): Path<(String, String)>,
) -> Result<Done, Refused> {
    app.channels.unseat(&caller, &id, &member).await?;
    Ok(Done)
}

async fn cursor(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(conversation): Path<String>,
) -> Reply<Cursor> {
    Ok(Json(app.cursors.cursor(&caller, &conversation).await?))
}

async fn set_cursor(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(conversation): Path<String>,
    Json(cursor): Json<CursorPut>,
) -> Reply<Cursor> {
    Ok(Json(app.cursors.set_cursor(&caller, &conversation, cursor).await?))
}

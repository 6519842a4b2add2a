//! `/v1/inboxes`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::inboxes::{Inbox, InboxPatch, InboxString, Inboxes, NewInbox};

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Bearer, Created, Done, Json, Path, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    const CHANGED: [Code; 3] = [Code::Conflict, Code::InsufficientAuthority, Code::NotFound];
    Routes::of("inboxes", include_str!("examples/inboxes.json"))
        .name("id", "The inbox: `inb_…`.", "inb_0192f0c1a2b37c4d8e5f60718293a4b5")
        .get(
            "/v1/inboxes",
            list,
            Doc::new("list_inboxes", "The inboxes of agents that the caller keeps.", NO_TOOL),
        )
        .post(
            "/v1/inboxes",
            add,
            Doc::new(
                "create_inbox",
                "Makes a connection string by which services elsewhere deliver to an agent. It is shown once.",
                NO_TOOL,
            )
            .refuses(&CHANGED),
        )
        .get(
            "/v1/inboxes/{id}",
            one,
            Doc::new("get_inbox", "One inbox, and what could not be sent back last.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
        .patch(
            "/v1/inboxes/{id}",
            change,
            Doc::new(
                "change_inbox",
                "Changes an inbox's name, or what deliveries have to show.",
                NO_TOOL,
            )
            .refuses(&CHANGED),
        )
        .post(
            "/v1/inboxes/{id}/rotate",
            rotate,
            Doc::new(
                "rotate_inbox",
                "Gives an inbox another connection string; the old one is refused at once.",
                NO_TOOL,
            )
            .refuses(&CHANGED),
        )
        .delete(
            "/v1/inboxes/{id}",
            remove,
            Doc::new("remove_inbox", "Removes an inbox; its conversations stay.", NO_TOOL)
                .refuses(&CHANGED),
        )
}

async fn list(State(app): Host, Bearer(caller): Bearer) -> Reply<Inboxes> {
    Ok(Json(app.inboxes.inboxes(&caller)?))
}

async fn add(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewInbox>,
) -> Result<Created<InboxString>, Refused> {
    Ok(Created(app.inboxes.add_inbox(&caller, new).await?))
}

async fn one(State(app): Host, Bearer(caller): Bearer, Path(id): Path<String>) -> Reply<Inbox> {
    Ok(Json(app.inboxes.inbox_shown(&caller, &id)?))
}

async fn change(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(patch): Json<InboxPatch>,
) -> Reply<Inbox> {
    Ok(Json(app.inboxes.change_inbox(&caller, &id, patch).await?))
}

async fn rotate(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Reply<InboxString> {
    Ok(Json(app.inboxes.rotate_inbox(&caller, &id).await?))
}

async fn remove(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Result<Done, Refused> {
    app.inboxes.remove_inbox(&caller, &id).await?;
    Ok(Done)
}

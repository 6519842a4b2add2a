//! `/v1/endpoints`: agents that are reached by a connection string.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::endpoints::{
    Added, Endpoint, EndpointPatch, Endpoints, NewEndpoint, RotateEndpoint, Tested,
};

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Bearer, Created, Done, Json, Path, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    const CHANGED: [Code; 4] =
        [Code::AddressRefused, Code::Conflict, Code::InsufficientAuthority, Code::NotFound];
    const SEEN: [Code; 2] = [Code::InsufficientAuthority, Code::NotFound];
    Routes::of("endpoints", include_str!("examples/endpoints.json"))
        .get(
            "/v1/endpoints",
            list,
            Doc::new(
                "list_endpoints",
                "Agents that are reached by a connection string, and how.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority]),
        )
        .post(
            "/v1/endpoints",
            add,
            Doc::new(
                "add_endpoint",
                "Reaches an agent by its connection string from now on.",
                NO_TOOL,
            )
            .refuses(&CHANGED),
        )
        .get(
            "/v1/endpoints/{member}",
            one,
            Doc::new("get_endpoint", "How an agent's endpoint does.", NO_TOOL).refuses(&SEEN),
        )
        .patch(
            "/v1/endpoints/{member}",
            change,
            Doc::new("change_endpoint", "Pauses an endpoint, or lets it go on.", NO_TOOL)
                .refuses(&SEEN),
        )
        .delete(
            "/v1/endpoints/{member}",
            remove,
            Doc::new(
                "remove_endpoint",
                "Reaches the agent by its connection string no more.",
                NO_TOOL,
            )
            .refuses(&SEEN),
        )
        .post(
            "/v1/endpoints/{member}/rotate",
            rotate,
            Doc::new(
                "rotate_endpoint",
                "Gives an agent another connection string; callbacks of the old one are void.",
                NO_TOOL,
            )
            .refuses(&CHANGED),
        )
        .post(
            "/v1/endpoints/{member}/test",
            test,
            Doc::new(
                "test_endpoint",
                "Posts once, to try the connection; nobody sees what comes.",
                NO_TOOL,
            )
            .refuses(&[
                Code::AddressRefused,
                Code::InsufficientAuthority,
                Code::NotFound,
            ]),
        )
}

async fn list(State(app): Host, Bearer(caller): Bearer) -> Reply<Endpoints> {
    Ok(Json(app.endpoints.endpoints(&caller)?))
}

async fn add(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewEndpoint>,
) -> Result<Created<Added>, Refused> {
    Ok(Created(app.endpoints.add_endpoint(&caller, new).await?))
}

async fn one(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(member): Path<String>,
) -> Reply<Endpoint> {
    Ok(Json(app.endpoints.endpoint(&caller, &member)?))
}

async fn change(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(member): Path<String>,
    Json(patch): Json<EndpointPatch>,
) -> Reply<Endpoint> {
    Ok(Json(app.endpoints.change_endpoint(&caller, &member, patch).await?))
}

async fn remove(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(member): Path<String>,
) -> Result<Done, Refused> {
    app.endpoints.remove_endpoint(&caller, &member).await?;
    Ok(Done)
}

async fn rotate(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(member): Path<String>,
    Json(new): Json<RotateEndpoint>,
) -> Reply<Added> {
    Ok(Json(app.endpoints.rotate_endpoint(&caller, &member, new).await?))
}

async fn test(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(member): Path<String>,
) -> Reply<Tested> {
    Ok(Json(app.endpoints.test_endpoint(&caller, &member).await?))
}

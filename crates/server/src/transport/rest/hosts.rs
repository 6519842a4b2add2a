//! `/v1/hosts`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::hosts::Hosts;

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Bearer, Json, Reply};
use crate::transport::openapi::{Doc, Routes};

pub(super) fn routes() -> Routes {
    Routes::of("hosts", include_str!("examples/hosts.json")).get(
        "/v1/hosts",
        hosts,
        Doc::new(
            "list_hosts",
            "The hosts that are up on this database, and which of them owns the workspace.",
            NO_TOOL,
        )
        .refuses(&[Code::Forbidden, Code::InsufficientAuthority]),
    )
}

async fn hosts(State(app): State<Arc<App>>, Bearer(caller): Bearer) -> Reply<Hosts> {
    Ok(Json(app.hosts.hosts(&caller)?))
}

//! `/v1/search`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::search::{Found, Search};

use crate::services::App;
use crate::services::alike::READS;
use crate::transport::extract::{Bearer, Json, Query, Reply};
use crate::transport::openapi::{Doc, Routes};

pub(super) fn routes() -> Routes {
    Routes::of("search", include_str!("examples/search.json")).get(
        "/v1/search",
        search,
        Doc::new(
            "search",
            "Messages that hold words, among those that the caller may see, best first.",
            READS,
        )
        .refuses(&[Code::NotFound, Code::PayloadTooLarge]),
    )
}

async fn search(
    State(app): State<Arc<App>>,
    Bearer(caller): Bearer,
    Query(query): Query<Search>,
) -> Reply<Found> {
    Ok(Json(app.search.search(&caller, query).await?))
}

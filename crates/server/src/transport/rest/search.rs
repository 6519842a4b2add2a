//! `/v1/search`, and `/v1/ids` for ids that a terminal has shortened.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::ids::Ids;
use chorus_wire::rest::search::{Found, Search};

use crate::services::App;
use crate::services::alike::{NO_TOOL, READS};
use crate::transport::extract::{Bearer, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};

pub(super) fn routes() -> Routes {
    Routes::of("search", include_str!("examples/search.json"))
        .name(
            "short",
            "A short id: `ch_`, `evt_`, `msg_` or `th_`, and at least four of its first or last digits.",
            "evt_…8293a4b5",
        )
        .get(
            "/v1/search",
            search,
            Doc::new(
                "search",
                "Messages that hold words, among those that the caller may see, best first.",
                READS,
            )
            .refuses(&[Code::NotFound, Code::PayloadTooLarge]),
        )
        .get(
            "/v1/ids/{short}",
            ids,
            Doc::new(
                "list_ids",
                "The ids that begin or end with the digits of a short one, such as `evt_…f622a32`, among those that \
                 the caller may see: conversations, messages and threads.",
                NO_TOOL,
            ),
        )
}

async fn ids(
    State(app): State<Arc<App>>,
    Bearer(caller): Bearer,
    Path(short): Path<String>,
) -> Reply<Ids> {
    Ok(Json(app.short_ids.whole(&caller, &short).await?))
}

async fn search(
    State(app): State<Arc<App>>,
    Bearer(caller): Bearer,
    Query(query): Query<Search>,
) -> Reply<Found> {
    Ok(Json(app.search.search(&caller, query).await?))
}

//! `/v1/audit`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::audit::{Audit, ListAudit, SignedHeads};

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Bearer, Json, Query, Reply};
use crate::transport::openapi::{Doc, Routes};

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("audit", include_str!("examples/audit.json"))
        .get(
            "/v1/audit",
            audit,
            Doc::new("list_audit", "Who did what to whom, and how it ended.", NO_TOOL).refuses(&[
                Code::Forbidden,
                Code::InsufficientAuthority,
                Code::NotFound,
            ]),
        )
        .get(
            "/v1/audit/heads",
            heads,
            Doc::new("audit_heads", "Where every chain ends now, signed.", NO_TOOL)
                .refuses(&[Code::Forbidden, Code::InsufficientAuthority]),
        )
}

async fn audit(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<ListAudit>,
) -> Reply<Audit> {
    Ok(Json(app.audit.audit(&caller, query).await?))
}

async fn heads(State(app): Host, Bearer(caller): Bearer) -> Reply<SignedHeads> {
    Ok(Json(app.audit.heads(&caller).await?))
}

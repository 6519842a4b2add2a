//! `/v1/approvals`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::approvals::{Approval, Approvals, Decision, ListApprovals};

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Bearer, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("approvals", include_str!("examples/approvals.json"))
        .name("id", "What waits for a person: `apr_…`.", "apr_0192f0c1a2b37c4d8e5f60718293a4b7")
        .get(
            "/v1/approvals",
            approvals,
            Doc::new(
                "list_approvals",
                "What agents may do only once a person has agreed.",
                NO_TOOL,
            ),
        )
        .post(
            "/v1/approvals/{id}",
            decide,
            Doc::new(
                "decide_approval",
                "A person decides. A message that is approved is posted as its agent's.",
                NO_TOOL,
            )
            .refuses(&[
                Code::Conflict,
                Code::Forbidden,
                Code::InsufficientAuthority,
                Code::NotFound,
                Code::PolicyForbidsReply,
                Code::ReplyBudgetSpent,
                Code::ClaimedByOther,
                Code::StaleTurn,
            ]),
        )
}

async fn approvals(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<ListApprovals>,
) -> Reply<Approvals> {
    Ok(Json(app.approvals.approvals(&caller, query).await?))
}

async fn decide(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(decision): Json<Decision>,
) -> Reply<Approval> {
    Ok(Json(app.approvals.decide_approval(&caller, &id, decision).await?))
}

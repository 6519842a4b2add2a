//! `/v1/claims` and `/v1/deliveries`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::attention::tools;
use chorus_wire::rest::claims::{Claim, Claims, NewClaim};
use chorus_wire::rest::deliveries::{Deliveries, ListDeliveries};
use chorus_wire::rest::digests::{Digests, ListDigests};
use chorus_wire::tool::Arguments;

use crate::services::App;
use crate::services::alike::{NO_TOOL, READS, like};
use crate::transport::extract::{Bearer, Created, Done, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("work", include_str!("examples/work.json"))
        .name(
            "id",
            "The delivery: `<event id>:<member id>`.",
            "evt_0192f0c1a2b37c4d8e5f60718293a4b5:reviewer_agent",
        )
        .name("event", "The event: `evt_…`.", "evt_0192f0c1a2b37c4d8e5f60718293a4b5")
        .get(
            "/v1/claims",
            claims,
            Doc::new("list_claims", "Who holds the right to decide about which event.", NO_TOOL),
        )
        .post(
            "/v1/claims",
            claim,
            Doc::new(
                "claim",
                "Takes the right to decide about an event.",
                [like(tools::Claim::TOOL, |a| Some(a.called("event", "eventId")))],
            )
            .refuses(&[
                Code::ClaimedByOther,
                Code::Conflict,
                Code::NotFound,
                Code::PolicyForbidsReply,
                Code::StaleTurn,
                Code::TurnHeldByOther,
            ]),
        )
        .delete(
            "/v1/claims/{event}",
            release,
            Doc::new(
                "release_claim",
                "Gives a claim back.",
                [like(tools::Claim::TOOL, |a| {
                    Some(a.called("event", "eventId").with("release", true))
                })],
            )
            .refuses(&[
                Code::ClaimedByOther,
                Code::Conflict,
                Code::NotFound,
                Code::StaleTurn,
            ]),
        )
        .get(
            "/v1/deliveries",
            deliveries,
            Doc::new(
                "list_deliveries",
                "What is on its way to a member, and dead letters.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority, Code::NotFound]),
        )
        .get(
            "/v1/digests",
            digests,
            Doc::new("list_digests", "What happened in followed channels, newest first.", READS)
                .refuses(&[Code::InsufficientAuthority, Code::NotFound]),
        )
        .post(
            "/v1/deliveries/{id}/redeliver",
            redeliver,
            Doc::new("redeliver", "Sends a dead letter again.", NO_TOOL).refuses(&[
                Code::InsufficientAuthority,
                Code::Conflict,
                Code::NotFound,
            ]),
        )
        .post(
            "/v1/deliveries/{id}/end",
            end,
            Doc::new(
                "end_delivery",
                "Ends what an agent works on: its run stops, and nobody owes an answer any more.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority, Code::Conflict, Code::NotFound]),
        )
}

async fn digests(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<ListDigests>,
) -> Reply<Digests> {
    Ok(Json(app.digests.digests(&caller, query).await?))
}

async fn claims(State(app): Host, Bearer(caller): Bearer) -> Reply<Claims> {
    Ok(Json(app.claims.claims(&caller).await?))
}

async fn claim(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewClaim>,
) -> Result<Created<Claim>, Refused> {
    Ok(Created(app.claims.claim(&caller, &new.event).await?))
}

async fn release(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(event): Path<String>,
) -> Result<Done, Refused> {
    caller.must_not_be_a_turn()?;
    app.claims.release(&caller, &event).await?;
    Ok(Done)
}

async fn deliveries(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<ListDeliveries>,
) -> Reply<Deliveries> {
    Ok(Json(app.deliveries.deliveries(&caller, query).await?))
}

async fn end(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Result<Done, Refused> {
    app.deliveries.end(&caller, &id).await?;
    Ok(Done)
}

async fn redeliver(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Result<Done, Refused> {
    app.deliveries.redeliver(&caller, &id).await?;
    Ok(Done)
}

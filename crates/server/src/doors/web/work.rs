//! `/v1/claims` and `/v1/deliveries`.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::{delete, get, post};
use chorus_wire::rest::claims::{Claim, Claims, NewClaim};
use chorus_wire::rest::deliveries::{Deliveries, ListDeliveries};

use crate::app::App;
use crate::doors::extract::{Bearer, Created, Done, Json, Path, Query, Reply};
use crate::doors::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/claims", get(claims).post(claim))
        .route("/v1/claims/{event}", delete(release))
        .route("/v1/deliveries", get(deliveries))
        .route("/v1/deliveries/{id}/redeliver", post(redeliver))
}

async fn claims(State(app): Host, Bearer(caller): Bearer) -> Reply<Claims> {
    Ok(Json(app.claims(&caller).await?))
}

async fn claim(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewClaim>,
) -> Result<Created<Claim>, Refused> {
    Ok(Created(app.claim(&caller, &new.event).await?))
}

async fn release(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(event): Path<String>,
) -> Result<Done, Refused> {
    caller.must_not_be_a_turn()?;
    app.release(&caller, &event).await?;
    Ok(Done)
}

async fn deliveries(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<ListDeliveries>,
) -> Reply<Deliveries> {
    Ok(Json(app.deliveries(&caller, query).await?))
}

async fn redeliver(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Result<Done, Refused> {
    app.redeliver(&caller, &id).await?;
    Ok(Done)
}

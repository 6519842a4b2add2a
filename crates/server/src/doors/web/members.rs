//! `/v1/members`, `/v1/roles`, `/v1/streams`, `/v1/tokens`, `/v1/agents`, `/v1/sessions`, `/v1/whoami`.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::{delete, get, put};
use chorus_wire::rest::members::{Agents, Member, MemberPatch, Members, NewMember, Whoami};
use chorus_wire::rest::roles::{NewRole, Role, Roles};
use chorus_wire::rest::sessions::Sessions;
use chorus_wire::rest::streams::{NewStream, Stream, Streams};
use chorus_wire::rest::tokens::{NewToken, Token};

use crate::app::App;
use crate::doors::extract::{Bearer, Created, Done, Json, Path, Reply};
use crate::doors::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/whoami", get(whoami))
        .route("/v1/members", get(members).post(add_member))
        .route("/v1/members/{id}", get(member).patch(change_member).delete(remove_member))
        .route("/v1/roles", get(roles).post(add_role))
        .route("/v1/roles/{name}", delete(remove_role))
        .route("/v1/roles/{name}/members/{id}", put(put_in).delete(take_out))
        .route("/v1/streams", get(streams).post(add_stream))
        .route("/v1/tokens", axum::routing::post(issue))
        .route("/v1/tokens/{jti}", delete(revoke))
        .route("/v1/agents", get(agents))
        .route("/v1/sessions", get(sessions))
}

async fn whoami(State(app): Host, Bearer(caller): Bearer) -> Json<Whoami> {
    Json(app.whoami(&caller))
}

async fn members(State(app): Host, Bearer(caller): Bearer) -> Reply<Members> {
    Ok(Json(app.members(&caller)?))
}

async fn add_member(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewMember>,
) -> Result<Created<Member>, Refused> {
    Ok(Created(app.add_member(&caller, new).await?))
}

async fn member(State(app): Host, Bearer(caller): Bearer, Path(id): Path<String>) -> Reply<Member> {
    Ok(Json(app.member(&caller, &id)?))
}

async fn change_member(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(patch): Json<MemberPatch>,
) -> Reply<Member> {
    Ok(Json(app.change_member(&caller, &id, patch).await?))
}

async fn remove_member(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Result<Done, Refused> {
    app.remove_member(&caller, &id).await?;
    Ok(Done)
}

async fn roles(State(app): Host, Bearer(caller): Bearer) -> Reply<Roles> {
    Ok(Json(app.roles(&caller)?))
}

async fn add_role(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewRole>,
) -> Result<Created<Role>, Refused> {
    Ok(Created(app.add_role(&caller, new).await?))
}

async fn remove_role(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(name): Path<String>,
) -> Result<Done, Refused> {
    app.remove_role(&caller, &name).await?;
    Ok(Done)
}

async fn put_in(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((name, id)): Path<(String, String)>,
) -> Reply<Role> {
    Ok(Json(app.set_role_member(&caller, &name, &id, true).await?))
}

async fn take_out(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((name, id)): Path<(String, String)>,
) -> Reply<Role> {
    Ok(Json(app.set_role_member(&caller, &name, &id, false).await?))
}

async fn streams(State(app): Host, Bearer(caller): Bearer) -> Reply<Streams> {
    Ok(Json(app.streams(&caller)?))
}

async fn add_stream(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewStream>,
) -> Result<Created<Stream>, Refused> {
    Ok(Created(app.add_stream(&caller, new).await?))
}

async fn issue(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewToken>,
) -> Result<Created<Token>, Refused> {
    Ok(Created(app.issue(&caller, new).await?))
}

async fn revoke(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(jti): Path<String>,
) -> Result<Done, Refused> {
    app.revoke(&caller, &jti).await?;
    Ok(Done)
}

async fn agents(State(app): Host, Bearer(caller): Bearer) -> Reply<Agents> {
    Ok(Json(app.agents(&caller).await?))
}

async fn sessions(State(app): Host, Bearer(caller): Bearer) -> Reply<Sessions> {
    Ok(Json(app.sessions(&caller)?))
}

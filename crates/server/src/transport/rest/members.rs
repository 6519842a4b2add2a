//! `/v1/members`, `/v1/roles`, `/v1/streams`, `/v1/tokens`, `/v1/agents`, `/v1/sessions`, `/v1/whoami`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::attention::listing;
use chorus_wire::rest::members::{Agents, Member, MemberPatch, Members, NewMember, Whoami};
use chorus_wire::rest::roles::{NewRole, Role, Roles};
use chorus_wire::rest::sessions::{GetScreen, SessionScreen, Sessions};
use chorus_wire::rest::streams::{NewStream, Stream, Streams};
use chorus_wire::rest::tokens::{ListTokens, NewToken, RevokedTokens, RotatedKey, Token, Tokens};
use chorus_wire::tool::Arguments;

use crate::services::App;
use crate::services::alike::{NO_TOOL, like};
use crate::transport::extract::{Bearer, Created, Done, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("members", include_str!("examples/members.json"))
        .name("id", "The member's id.", "reviewer_agent")
        .name("name", "The role's name.", "backend-agents")
        .name("jti", "The token's `jti`, as it was issued with it.", "jti_0192f0c1a2b37c4d")
        .get(
            "/v1/whoami",
            whoami,
            Doc::new("whoami", "What the host takes the token for.", NO_TOOL),
        )
        .get(
            "/v1/members",
            members,
            Doc::new(
                "list_members",
                "Everybody in the workspace.",
                [like(listing::ListMembers::TOOL, Some)],
            )
            .refuses(&[Code::ValidationError]),
        )
        .post(
            "/v1/members",
            add_member,
            Doc::new(
                "add_member",
                "Adds a person or an agent, with a token if asked for one.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority, Code::Conflict, Code::NotFound]),
        )
        .get(
            "/v1/members/{id}",
            member,
            Doc::new("get_member", "One member.", NO_TOOL).refuses(&[Code::NotFound]),
        )
        .patch(
            "/v1/members/{id}",
            change_member,
            Doc::new("change_member", "Changes a member; absent fields stay.", NO_TOOL).refuses(&[
                Code::InsufficientAuthority,
                Code::Conflict,
                Code::NotFound,
            ]),
        )
        .delete(
            "/v1/members/{id}",
            remove_member,
            Doc::new(
                "remove_member",
                "Removes a member; its tokens end. The member 'operator' stays.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority, Code::Conflict, Code::NotFound]),
        )
        .post(
            "/v1/members/{id}/pause",
            pause,
            Doc::new(
                "pause_agent",
                "Pauses an agent: it is told nothing, and may change nothing.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority, Code::NotFound]),
        )
        .post(
            "/v1/members/{id}/continue",
            go_on,
            Doc::new("continue_agent", "Lets a paused agent go on.", NO_TOOL)
                .refuses(&[Code::InsufficientAuthority, Code::NotFound]),
        )
        .get("/v1/roles", roles, Doc::new("list_roles", "The named groups of members.", NO_TOOL))
        .post(
            "/v1/roles",
            add_role,
            Doc::new("add_role", "Makes a named group of members.", NO_TOOL)
                .refuses(&[Code::InsufficientAuthority, Code::Conflict]),
        )
        .delete(
            "/v1/roles/{name}",
            remove_role,
            Doc::new("remove_role", "Removes a role; its members stay.", NO_TOOL)
                .refuses(&[Code::InsufficientAuthority, Code::NotFound]),
        )
        .put(
            "/v1/roles/{name}/members/{id}",
            put_in,
            Doc::new("put_in_role", "Puts a member into a role.", NO_TOOL).refuses(&[
                Code::InsufficientAuthority,
                Code::Conflict,
                Code::NotFound,
            ]),
        )
        .delete(
            "/v1/roles/{name}/members/{id}",
            take_out,
            Doc::new("take_out_of_role", "Takes a member out of a role.", NO_TOOL)
                .refuses(&[Code::InsufficientAuthority, Code::NotFound]),
        )
        .get("/v1/streams", streams, Doc::new("list_streams", "The named lines of work.", NO_TOOL))
        .post(
            "/v1/streams",
            add_stream,
            Doc::new("add_stream", "Makes a line of work.", NO_TOOL).refuses(&[
                Code::InsufficientAuthority,
                Code::Conflict,
                Code::NotFound,
            ]),
        )
        .post(
            "/v1/tokens",
            issue,
            Doc::new(
                "issue_token",
                "Issues a token, shown once. The member is made when it is new. An orchestrator gives agents the \
                 role worker, and nothing else.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority, Code::Conflict, Code::NotFound]),
        )
        .get(
            "/v1/tokens",
            tokens,
            Doc::new(
                "list_tokens",
                "The tokens that have not expired, without the tokens themselves: all of them for operators, \
                 orchestrators and auditors, its own for everybody else.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority, Code::NotFound]),
        )
        .post(
            "/v1/tokens/rotate",
            rotate,
            Doc::new(
                "rotate_signing_key",
                "Signs tokens with a new key from here on, and makes turn tokens and callbacks with another. Listed \
                 tokens of the old one are honoured until they end; turn tokens and callbacks end, and what runs is \
                 offered again with new ones. Refused while other hosts share the database.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority, Code::Conflict]),
        )
        .delete(
            "/v1/tokens/{jti}",
            revoke,
            Doc::new(
                "revoke_token",
                "Ends a token. An orchestrator ends tokens of agents only.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority, Code::NotFound]),
        )
        .delete(
            "/v1/members/{id}/tokens",
            revoke_all,
            Doc::new(
                "revoke_tokens",
                "Ends all tokens of a member at once, those of other issuers too. Anybody may end its own; an \
                 orchestrator those of agents.",
                NO_TOOL,
            )
            .refuses(&[Code::InsufficientAuthority, Code::NotFound]),
        )
        .get(
            "/v1/agents",
            agents,
            Doc::new("list_agents", "The agents, with how they are reached now.", NO_TOOL),
        )
        .get(
            "/v1/sessions",
            sessions,
            Doc::new(
                "list_sessions",
                "The live runs of agents and connections of people.",
                NO_TOOL,
            ),
        )
        .get(
            "/v1/sessions/{id}/screen",
            screen,
            Doc::new(
                "watch_screen",
                "What the terminal of an agent's program shows: waits up to 20 s for what is newer.",
                NO_TOOL,
            )
            .refuses(&[
                Code::Conflict,
                Code::InsufficientAuthority,
                Code::NotFound,
                Code::RateLimited,
            ]),
        )
}

async fn whoami(State(app): Host, Bearer(caller): Bearer) -> Json<Whoami> {
    Json(app.members.whoami(&caller))
}

async fn members(State(app): Host, Bearer(caller): Bearer) -> Reply<Members> {
    Ok(Json(app.members.members(&caller)?))
}

async fn add_member(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewMember>,
) -> Result<Created<Member>, Refused> {
    Ok(Created(app.members.add_member(&caller, new).await?))
}

async fn member(State(app): Host, Bearer(caller): Bearer, Path(id): Path<String>) -> Reply<Member> {
    Ok(Json(app.members.member(&caller, &id)?))
}

async fn change_member(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(patch): Json<MemberPatch>,
) -> Reply<Member> {
    Ok(Json(app.members.change_member(&caller, &id, patch).await?))
}

async fn pause(State(app): Host, Bearer(caller): Bearer, Path(id): Path<String>) -> Reply<Member> {
    Ok(Json(app.members.pause_agent(&caller, &id, true).await?))
}

async fn go_on(State(app): Host, Bearer(caller): Bearer, Path(id): Path<String>) -> Reply<Member> {
    Ok(Json(app.members.pause_agent(&caller, &id, false).await?))
}

/// A look at a terminal, of somebody who looks on.
async fn screen(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Query(asked): Query<GetScreen>,
) -> Reply<SessionScreen> {
    Ok(Json(app.screens.screen(&caller, &id, asked).await?))
}

async fn remove_member(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Result<Done, Refused> {
    app.members.remove_member(&caller, &id).await?;
    Ok(Done)
}

async fn roles(State(app): Host, Bearer(caller): Bearer) -> Reply<Roles> {
    Ok(Json(app.roles.roles(&caller)?))
}

async fn add_role(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewRole>,
) -> Result<Created<Role>, Refused> {
    Ok(Created(app.roles.add_role(&caller, new).await?))
}

async fn remove_role(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(name): Path<String>,
) -> Result<Done, Refused> {
    app.roles.remove_role(&caller, &name).await?;
    Ok(Done)
}

async fn put_in(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((name, id)): Path<(String, String)>,
) -> Reply<Role> {
    Ok(Json(app.roles.set_role_member(&caller, &name, &id, true).await?))
}

async fn take_out(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((name, id)): Path<(String, String)>,
) -> Reply<Role> {
    Ok(Json(app.roles.set_role_member(&caller, &name, &id, false).await?))
}

async fn streams(State(app): Host, Bearer(caller): Bearer) -> Reply<Streams> {
    Ok(Json(app.streams.streams(&caller)?))
}

async fn add_stream(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewStream>,
) -> Result<Created<Stream>, Refused> {
    Ok(Created(app.streams.add_stream(&caller, new).await?))
}

async fn issue(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewToken>,
) -> Result<Created<Token>, Refused> {
    Ok(Created(app.tokens.issue(&caller, new).await?))
}

async fn revoke(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(jti): Path<String>,
) -> Result<Done, Refused> {
    app.tokens.revoke(&caller, &jti).await?;
    Ok(Done)
}

async fn tokens(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<ListTokens>,
) -> Reply<Tokens> {
    Ok(Json(app.tokens.tokens(&caller, query)?))
}

async fn rotate(State(app): Host, Bearer(caller): Bearer) -> Reply<RotatedKey> {
    Ok(Json(app.tokens.rotate_key(&caller).await?))
}

async fn revoke_all(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Reply<RevokedTokens> {
    Ok(Json(app.tokens.revoke_all(&caller, &id).await?))
}

async fn agents(State(app): Host, Bearer(caller): Bearer) -> Reply<Agents> {
    Ok(Json(app.members.agents(&caller).await?))
}

async fn sessions(State(app): Host, Bearer(caller): Bearer) -> Reply<Sessions> {
    Ok(Json(app.sessions.sessions(&caller)?))
}

//! `/register`, `/heartbeat`, `/discover`, `/agents` and `/skills`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::registry::{
    Agent, AgentQuery, Agents, Discover, DiscoverAgents, Discovered, HeartbeatTaken, JobResult,
    ListingHeartbeat, PageQuery, Register, Registered, ReputationHistory, SkillTotals,
};
use chorus_wire::tool::Arguments;

use crate::services::App;
use crate::services::alike::{NO_TOOL, like};
use crate::transport::extract::{Bearer, Created, Done, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("registry", include_str!("agents.json"))
        .name("agent", "The agent: its UUID, or a member as `@handle`.", AGENT)
        .name("token", "The token of the challenge, as its URL has it.", "tok_xyz789")
        .post(
            "/register",
            register,
            Doc::new("register_agent", "Registers an agent for hire, or changes it.", NO_TOOL)
                .refuses(&[Code::AddressRefused, Code::ClaimMismatch, Code::Conflict]),
        )
        .post(
            "/heartbeat",
            heartbeat,
            Doc::new("agent_heartbeat", "Says that an agent for hire lives.", NO_TOOL)
                .refuses(&[Code::Forbidden, Code::NotFound]),
        )
        .get(
            "/discover",
            discover,
            Doc::new(
                "discover",
                "Finds agents by what they can do, the best first.",
                [like(DiscoverAgents::TOOL, Some)],
            ),
        )
        .get(
            "/agents",
            list,
            Doc::new("list_agents_for_hire", "Lists the agents for hire, by their ids.", NO_TOOL),
        )
        .get(
            "/agents/{agent}",
            one,
            Doc::new("get_agent_for_hire", "Shows an agent for hire.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
        .delete(
            "/agents/{agent}",
            remove,
            Doc::new(
                "unregister_agent",
                "Takes an agent off the registry; it keeps its reputation.",
                NO_TOOL,
            )
            .refuses(&[Code::Forbidden, Code::NotFound]),
        )
        .get(
            "/agents/{agent}/reputation",
            reputation,
            Doc::new("get_reputation", "What changed an agent's reputation.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
        .post(
            "/agents/{agent}/challenge/{token}",
            challenge,
            Doc::new("answer_challenge", "An endpoint answers the host's challenge.", NO_TOOL)
                .refuses(&[Code::NotFound, Code::Unauthorized]),
        )
        .get(
            "/skills",
            skills,
            Doc::new("list_skills", "Lists the skills that can be hired.", NO_TOOL),
        )
}

/// An agent's UUID, for examples.
pub(super) const AGENT: &str = "a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f";

async fn register(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(asked): Json<Register>,
) -> Result<Created<Registered>, Refused> {
    Ok(Created(app.agents.register(&caller, asked).await?))
}

async fn heartbeat(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(beat): Json<ListingHeartbeat>,
) -> Reply<HeartbeatTaken> {
    Ok(Json(app.agents.heartbeat(&caller, beat).await?))
}

async fn discover(
    State(app): Host,
    Bearer(_): Bearer,
    Query(asked): Query<Discover>,
) -> Reply<Discovered> {
    Ok(Json(app.agents.discover(asked).await?))
}

async fn list(
    State(app): Host,
    Bearer(_): Bearer,
    Query(query): Query<AgentQuery>,
) -> Reply<Agents> {
    Ok(Json(app.agents.agents(query).await?))
}

async fn one(State(app): Host, Bearer(_): Bearer, Path(agent): Path<String>) -> Reply<Agent> {
    Ok(Json(app.agents.agent(&agent).await?))
}

async fn remove(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(agent): Path<String>,
) -> Result<Done, Refused> {
    app.agents.unregister(&caller, &agent).await?;
    Ok(Done)
}

async fn reputation(
    State(app): Host,
    Bearer(_): Bearer,
    Path(agent): Path<String>,
    Query(query): Query<PageQuery>,
) -> Reply<ReputationHistory> {
    Ok(Json(app.agents.reputation(&agent, query).await?))
}

async fn challenge(
    State(app): Host,
    Path((agent, token)): Path<(String, String)>,
    Json(_): Json<JobResult>,
) -> Result<Done, Refused> {
    app.agents.answer_challenge(&agent, &token).await?;
    Ok(Done)
}

async fn skills(
    State(app): Host,
    Bearer(_): Bearer,
    Query(query): Query<PageQuery>,
) -> Reply<SkillTotals> {
    Ok(Json(app.agents.skills(query).await?))
}

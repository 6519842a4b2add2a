//! What clients of other protocols read: the host's keys, agent cards (A2A 1.0), and the manifest
//! and search of ARD.

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::http::header;
use axum::http::request::Parts;
use chorus_core::model::error::Code;
use chorus_wire::registry::{
    AgentCard, ArdManifest, ArdResults, ArdSearch, DiscoverAgents, KeySet,
};
use chorus_wire::tool::Arguments;

use super::agents::AGENT;
use crate::services::App;
use crate::services::alike::{Call, NO_TOOL, like};
use crate::transport::extract::{Bearer, Json, Path, Reply};
use crate::transport::openapi::{Doc, Draft, Routes, Takes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    let search = |id| {
        Doc::new(
            id,
            "Finds agents by words, as ARD asks; without a token where the registry is public.",
            [like(DiscoverAgents::TOOL, discovers)],
        )
    };
    Routes::of("registry", include_str!("interop.json"))
        .name("agent", "The agent: its UUID, or a member as `@handle`.", AGENT)
        .get(
            "/.well-known/jwks.json",
            keys,
            Doc::new("published_keys", "The keys that verify what the host signs.", NO_TOOL),
        )
        .get(
            "/agents/{agent}/.well-known/agent-card.json",
            card,
            Doc::new(
                "agent_card",
                "An agent's A2A card; without a token where the registry is public.",
                NO_TOOL,
            )
            .refuses(&[Code::NotFound]),
        )
        .get(
            "/.well-known/ard.json",
            manifest,
            Doc::new("ard_manifest", "What can be found here (ARD).", NO_TOOL),
        )
        .post("/search", find, search("ard_search"))
        .post("/ard/search", find, search("ard_search_at_base"))
}

/// A tool's call that finds what a search of ARD finds.
fn discovers(call: Call) -> Option<Call> {
    let text = call.0.get("query").and_then(|query| query.get("text")).cloned();
    let asked = Call(serde_json::Map::new());
    Some(match text {
        Some(text) => asked.with("q", text),
        None => asked,
    })
}

/// Somebody who may read what is listed: a member, or anybody where the registry is public.
struct Reader;

impl FromRequestParts<Arc<App>> for Reader {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refused> {
        if app.shared.hiring.public && !parts.headers.contains_key(header::AUTHORIZATION) {
            return Ok(Self);
        }
        Bearer::from_request_parts(parts, app).await.map(|_| Self)
    }
}

impl Takes for Reader {
    fn takes(draft: &mut Draft<'_>) {
        draft.token();
    }
}

async fn keys(State(app): Host) -> Json<KeySet> {
    Json(app.agents.published_keys())
}

async fn card(State(app): Host, _: Reader, Path(agent): Path<String>) -> Reply<AgentCard> {
    Ok(Json(app.agents.card(&agent).await?))
}

async fn manifest(State(app): Host) -> Reply<ArdManifest> {
    Ok(Json(app.agents.manifest().await?))
}

async fn find(State(app): Host, _: Reader, Json(asked): Json<ArdSearch>) -> Reply<ArdResults> {
    Ok(Json(app.agents.search(asked).await?))
}

//! What a client without a token is told: where the endpoint says who gives tokens for it (RFC 9728).

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PATH, header_value};
use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::Json;
use crate::transport::openapi::{Doc, Routes};

/// Where the metadata of a resource is: this before its path.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

pub(super) fn routes() -> Routes {
    let doc = |id| Doc::new(id, "Who gives tokens for the MCP endpoint (RFC 9728).", NO_TOOL);
    Routes::of("mcp", include_str!("examples.json"))
        .get(WELL_KNOWN, metadata, doc("mcp_resource"))
        .get("/.well-known/oauth-protected-resource/v1/mcp", metadata, doc("mcp_resource_at_path"))
}

/// Metadata of a protected resource (RFC 9728 section 2).
#[derive(Serialize, Deserialize, JsonSchema)]
struct Metadata {
    resource: String,
    resource_name: String,
    /// Issuers whose tokens are honoured beside the host's own; absent when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    authorization_servers: Vec<String>,
    bearer_methods_supported: Vec<String>,
    resource_documentation: String,
}

async fn metadata(State(app): State<Arc<App>>) -> Json<Metadata> {
    Json(Metadata {
        resource: format!("{}{PATH}", app.shared.public_url),
        resource_name: format!("Chorus: {}", app.shared.workspace_name),
        authorization_servers: app.shared.auth.issuers(),
        bearer_methods_supported: vec!["header".to_owned()],
        resource_documentation: format!("{}/v1/openapi.json", app.shared.public_url),
    })
}

/// Says where the metadata is, to whoever was refused for want of a good token.
pub(super) fn pointed_to(app: &App, mut response: Response) -> Response {
    if response.status() == StatusCode::UNAUTHORIZED {
        let at =
            format!("Bearer resource_metadata=\"{}{WELL_KNOWN}{PATH}\"", app.shared.public_url);
        response.headers_mut().insert(header::WWW_AUTHENTICATE, header_value(&at));
    }
    response
}

//! MCP at `/v1/mcp` (`spec/threads.md`): any MCP client works here with a URL and a token.
//!
//! The transport is the official SDK's, streamable HTTP, on both wires: sessions up to 2025-11-25, and the stateless
//! 2026-07-28. What stands before it is ours, as on every door: names, limits, the token. A session is its caller's
//! alone, and each request brings the token again.

mod metadata;
mod server;
mod sessions;

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chorus_core::error::{Code, Refusal};
use chorus_wire::attention::descriptors::Names;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::sync::watch;

use super::BODY_BYTES;
use super::attention::Asked;
use super::extract::{self, Query};
use super::openapi::{Doc, Routes};
use super::refused::{Refused, RefusedWith};
use crate::app::App;
use crate::auth::Caller;
use server::Server;
use sessions::Sessions;

/// Where the endpoint is.
const PATH: &str = "/v1/mcp";
const SESSION_ID: &str = "mcp-session-id";

pub(super) fn routes() -> Routes {
    let transport = |id, summary| {
        Doc::new(id, summary).with(|draft| {
            draft.token();
            draft.answer(200, "text/event-stream", Some(json!({"type": "string"})));
        })
    };
    Routes::of("mcp", include_str!("examples.json"))
        .post(
            PATH,
            mcp,
            Doc::new("mcp_call", "One message of MCP, streamable HTTP (spec/threads.md).").with(
                |draft| {
                    draft.token();
                    draft.any_body(json!({"type": "object"}));
                    draft.answer(200, "text/event-stream", Some(json!({"type": "string"})));
                    draft.answer(202, "", None);
                },
            ),
        )
        .get(
            PATH,
            mcp,
            transport("mcp_listen", "What an MCP session is told unasked, as server-sent events."),
        )
        .delete(
            PATH,
            mcp,
            Doc::new("mcp_end", "Ends an MCP session.").with(|draft| {
                draft.token();
                draft.answer(202, "", None);
            }),
        )
        .merge(metadata::routes())
}

/// What a request brings to the tools, past the transport.
#[derive(Clone)]
struct Asking {
    caller: Caller,
    names: Names,
}

/// The endpoint: the transport and whose its sessions are.
#[derive(Clone)]
pub(super) struct Mcp {
    transport: StreamableHttpService<Server, LocalSessionManager>,
    sessions: Arc<Sessions>,
}

impl Mcp {
    pub(super) fn new(app: Arc<App>, mut stopped: watch::Receiver<bool>) -> Self {
        let mut config = StreamableHttpServerConfig::default()
            // The guard has looked at both.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(BODY_BYTES);
        config.json_response = true;
        let ended = config.cancellation_token.clone();
        tokio::spawn(async move {
            // The sender going away means the same.
            let _ = stopped.wait_for(|stopped| *stopped).await;
            ended.cancel();
        });
        let manager = Arc::new(sessions::manager());
        let sessions = Arc::new(Sessions::new(manager.clone()));
        let transport =
            StreamableHttpService::new(move || Ok(Server::new(app.clone())), manager, config);
        Self { transport, sessions }
    }
}

/// Every method of the endpoint: the transport knows them.
async fn mcp(
    State(app): State<Arc<App>>,
    Extension(mcp): Extension<Mcp>,
    Query(asked): Query<Asked>,
    request: Request,
) -> Response {
    match answer(&app, &mcp, &asked, request).await {
        Ok(response) => response,
        Err(refused) => metadata::pointed_to(&app, refused.into_response()),
    }
}

async fn answer(
    app: &Arc<App>,
    mcp: &Mcp,
    asked: &Asked,
    request: Request,
) -> Result<Response, Refused> {
    let (mut parts, body) = request.into_parts();
    let caller = extract::charged(app, &parts.headers).await?;
    let names = asked.names()?;
    let session = session(&parts.headers)?;
    if let Some(id) = &session
        && !mcp.sessions.is_of(id, &caller)
    {
        return Ok(unknown_session());
    }
    let body = match parts.method {
        Method::POST => Body::from(extract::read(app, &parts.headers, body).await?),
        _ => Body::empty(),
    };
    // The token goes no further than this.
    parts.headers.remove(header::AUTHORIZATION);
    parts.extensions.insert(Asking { caller: caller.clone(), names });
    let response = mcp.transport.handle(Request::from_parts(parts, body)).await;
    let mut response = response.map(Body::new);
    if session.is_none()
        && let Some(id) = response.headers().get(SESSION_ID).and_then(|id| id.to_str().ok())
    {
        mcp.sessions.began(id, &caller).await;
    }
    count_refusal(&mut response);
    Ok(response)
}

fn session(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let Some(id) = headers.get(SESSION_ID) else { return Ok(None) };
    let id = id.to_str().map_err(|_| Refusal::invalid("the Mcp-Session-Id header is not text"))?;
    Ok(Some(id.to_owned()))
}

/// One that is another's is as unknown as one that has ended. The client begins a new one.
fn unknown_session() -> Response {
    let refusal = Refusal::not_found("session; initialize a new one");
    Refused::from(refusal).into_response()
}

/// What the transport refuses counts like what we refuse.
fn count_refusal(response: &mut Response) {
    let code = match response.status() {
        StatusCode::NOT_FOUND => Code::NotFound,
        status if status.is_client_error() => Code::ValidationError,
        status if status.is_server_error() => Code::Internal,
        _ => return,
    };
    response.extensions_mut().insert(RefusedWith(code));
}

/// For `WWW-Authenticate`: plain text of ours.
fn header_value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("Bearer"))
}

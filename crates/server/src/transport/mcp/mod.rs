//! MCP at `/v1/mcp` (`spec/threads.md`): any MCP client works here with a URL and a token.
//!
//! The transport is the official SDK's, streamable HTTP, on both wires: sessions up to 2025-11-25, and the stateless
//! 2026-07-28. What stands before it is ours, as on every transport: names, limits, the token. A session is its caller's
//! alone, and each request brings the token again.

mod channel;
mod given;
mod metadata;
mod mistake;
mod notices;
mod prompts;
mod resources;
mod server;
mod sessions;
mod under_way;
mod within;

use std::sync::{Arc, OnceLock};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Uid;
use chorus_wire::jsonrpc::{INVALID_REQUEST, Id, Incoming, ParseError};
use chorus_wire::tool::Names;
use notices::Notices;
use rmcp::handler::server::ServerHandler;
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use server::Server;
use sessions::{Sessions, UnderWay};
use tokio::sync::watch;

use super::BODY_BYTES;
use super::c2a::Asked;
use super::extract::{self, Path, Query};
use super::openapi::{Doc, Routes};
use super::refused::{Refused, RefusedWith, malformed, request_id};
use super::tools::Given;
use crate::auth::Caller;
use crate::services::App;
use crate::services::alike::NO_TOOL;

/// Where the endpoint is.
const PATH: &str = "/v1/mcp";
/// The endpoint of one channel.
const ONE: &str = "/mcp/{channel_id}";
const SESSION_ID: &str = "mcp-session-id";
/// Up to here a number with a fraction is exact.
const WHOLE: f64 = 9_007_199_254_740_992.0;
/// Of the transport's own words for a refusal.
const WHY_BYTES: usize = 4 * 1024;

pub(super) fn routes() -> Routes {
    let transport = |id, summary| {
        Doc::new(id, summary, NO_TOOL).with(|draft| {
            draft.token();
            draft.answer(200, "text/event-stream", Some(json!({"type": "string"})));
        })
    };
    let ends = |id, summary| {
        Doc::new(id, summary, NO_TOOL).with(|draft| {
            draft.token();
            draft.answer(202, "", None);
        })
    };
    let call = |id, summary| {
        Doc::new(id, summary, NO_TOOL).with(|draft| {
            draft.token();
            draft.any_body(json!({"type": "object"}));
            draft.answer(200, "text/event-stream", Some(json!({"type": "string"})));
            draft.answer(202, "", None);
        })
    };
    Routes::of("mcp", include_str!("examples.json"))
        .post(ONE, one, call("mcp_channel_call", "One message of MCP, about one channel."))
        .get(ONE, one, transport("mcp_channel_listen", "What such a session is told unasked."))
        .delete(ONE, one, ends("mcp_channel_end", "Ends such a session."))
        .post(PATH, mcp, call("mcp_call", "One message of MCP, streamable HTTP (spec/threads.md)."))
        .get(
            PATH,
            mcp,
            transport("mcp_listen", "What an MCP session is told unasked, as server-sent events."),
        )
        .delete(PATH, mcp, ends("mcp_end", "Ends an MCP session."))
        .merge(metadata::routes())
}

/// What a request brings to the tools, past the transport.
#[derive(Clone)]
struct Asking {
    caller: Caller,
    names: Names,
    /// The channel that everything must be of.
    within: Option<Uid>,
    /// Where a session's request leaves what the session is to be told.
    session: Option<Arc<Notices>>,
    /// What a tool gave to a request without a session.
    given: Arc<OnceLock<Given>>,
    /// Of a session's request, until its handler has ended. Its answer holds it too.
    _under_way: Option<Arc<UnderWay>>,
}

/// The endpoint: the transport and whose its sessions are.
pub(super) struct Mcp<S = Server> {
    transport: StreamableHttpService<S, Sessions>,
    sessions: Arc<Sessions>,
}

impl<S: ServerHandler> Mcp<S> {
    pub(super) fn new(
        app: Arc<App>,
        handler: impl Fn() -> S + Send + Sync + 'static,
        mut stopped: watch::Receiver<bool>,
    ) -> Self {
        let sessions = Arc::new(Sessions::new(app));
        tokio::spawn(sessions.clone().look_after(stopped.clone()));
        let mut config = StreamableHttpServerConfig::default()
            // The guard has looked at both.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(BODY_BYTES)
            // The first event of a stream would be an empty one, which some clients take for a broken message.
            .with_sse_retry(None);
        config.json_response = true;
        config.session_store = Some(sessions.clone());
        let ended = config.cancellation_token.clone();
        tokio::spawn(async move {
            // The sender going away means the same.
            let _ = stopped.wait_for(|stopped| *stopped).await;
            ended.cancel();
        });
        let transport = StreamableHttpService::new(move || Ok(handler()), sessions.clone(), config);
        Self { transport, sessions }
    }
}

/// The endpoint of this host.
pub(super) fn endpoint(app: Arc<App>, stopped: watch::Receiver<bool>) -> Arc<Mcp> {
    Arc::new(Mcp::new(app.clone(), move || Server::new(app.clone()), stopped))
}

/// The transport with another server behind it, for tests of the transport.
pub(super) fn fixture<S: ServerHandler>(
    app: Arc<App>,
    handler: impl Fn() -> S + Send + Sync + 'static,
    stopped: watch::Receiver<bool>,
) -> Router<Arc<App>> {
    let mcp = Arc::new(Mcp::new(app, handler, stopped));
    let serve = move |State(app): State<Arc<App>>, request: Request| {
        let mcp = mcp.clone();
        async move {
            match answer(&app, &mcp, &Asked::default(), None, request).await {
                Ok(response) => response,
                Err(refused) => metadata::pointed_to(&app, refused.into_response()),
            }
        }
    };
    Router::new().route("/mcp", axum::routing::any(serve))
}

/// Every method of the endpoint: the transport knows them.
async fn mcp(
    State(app): State<Arc<App>>,
    Extension(mcp): Extension<Arc<Mcp>>,
    Query(asked): Query<Asked>,
    request: Request,
) -> Response {
    match answer(&app, &mcp, &asked, None, request).await {
        Ok(response) => response,
        Err(refused) => metadata::pointed_to(&app, refused.into_response()),
    }
}

/// The same for one channel, which the caller must see.
async fn one(
    State(app): State<Arc<App>>,
    Extension(mcp): Extension<Arc<Mcp>>,
    Path(channel): Path<String>,
    Query(asked): Query<Asked>,
    request: Request,
) -> Response {
    match answer(&app, &mcp, &asked, Some(&channel), request).await {
        Ok(response) => response,
        Err(refused) => metadata::pointed_to(&app, refused.into_response()),
    }
}

async fn answer<S: ServerHandler>(
    app: &Arc<App>,
    mcp: &Arc<Mcp<S>>,
    asked: &Asked,
    channel: Option<&str>,
    request: Request,
) -> Result<Response, Refused> {
    let (mut parts, body) = request.into_parts();
    let caller = extract::with_token(app, &parts.headers).await?;
    let names = asked.names()?;
    let within = match channel {
        Some(id) => Some(app.methods.seen(&caller, id).await?),
        None => None,
    };
    let session = session(&parts.headers)?;
    let busy = match &session {
        Some(id) => match mcp.sessions.enter(id, &caller).await {
            Some(busy) => Some(busy),
            None => return Ok(unknown_session()),
        },
        None => None,
    };
    let mut begins = false;
    let mut posted = None;
    let mut under_way = None;
    let body = match parts.method {
        Method::POST => {
            let bytes = extract::read(app, &parts.headers, body).await?;
            let (asks, id) = Asks::of(&bytes);
            if asks == Asks::Nothing {
                app.shared.limits.ping(caller.by, session.as_deref(), app.now())?;
            }
            begins = session.is_none() && asks == Asks::Session;
            if let (Some(busy), Some(id), false) = (&busy, id, is_stateless(&parts.headers)) {
                under_way = busy.begin(id.clone()).map(Arc::new);
                if under_way.is_none() {
                    return Ok(malformed(&taken(id).response(request_id())));
                }
            }
            posted = Some(bytes.clone());
            Body::from(bytes)
        }
        _ => Body::empty(),
    };
    let is_json = says_json(&parts.headers);
    // The token goes no further than this.
    parts.headers.remove(header::AUTHORIZATION);
    let notices = busy.as_ref().map(|busy| busy.notices.clone());
    let given = Arc::default();
    parts.extensions.insert(Asking {
        caller: caller.clone(),
        names,
        within,
        session: notices,
        given: Arc::clone(&given),
        _under_way: under_way.clone(),
    });
    mcp.sessions.make_room().await;
    // A session that is made or woken is made whole, also when its client goes away meanwhile: of half a one nobody would
    // know.
    let makes = begins || busy.as_ref().is_some_and(|busy| busy.wakes);
    let mcp = mcp.clone();
    let handled = async move {
        let response = mcp.transport.handle(Request::from_parts(parts, body)).await;
        if session.is_none()
            && let Some(id) = response.headers().get(SESSION_ID).and_then(|id| id.to_str().ok())
        {
            mcp.sessions.began(id, &caller).await;
        }
        drop(busy);
        response.map(Body::new)
    };
    let mut response = match makes {
        true => tokio::spawn(handled).await.map_err(|_| {
            Refusal::new(Code::Internal, "the host made a mistake while it made a session")
        })?,
        false => handled.await,
    };
    if response.status().is_client_error() || response.status().is_server_error() {
        response = in_our_shape(response, posted, is_json).await;
    } else if let Some(given) = given.get() {
        response = given::put_in(given, response).await?;
    } else if let Some(id) = under_way.filter(|_| !says_json(response.headers())) {
        response = response.map(|answer| under_way::until_over(answer, id));
    }
    count_refusal(&mut response);
    Ok(response)
}

/// What a message asks for, as far as it makes a difference here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// A ping, a notification or an answer: of them there are fewer than of calls.
    Nothing,
    Session,
    Other,
}

impl Asks {
    /// With the id of what is to be answered.
    fn of(body: &[u8]) -> (Self, Option<Id>) {
        match Incoming::parse_bytes(body) {
            Ok(Incoming::Request { id, method, .. }) => {
                let asks = match &*method {
                    "ping" => Self::Nothing,
                    "initialize" => Self::Session,
                    _ => Self::Other,
                };
                (asks, Some(id))
            }
            Ok(Incoming::Notification { .. } | Incoming::Response { .. }) => (Self::Nothing, None),
            Err(_) => (Self::Other, whole_number(body)),
        }
    }
}

/// The id of a message that the transport takes all the same: to it `7.0` is 7.
fn whole_number(body: &[u8]) -> Option<Id> {
    #[derive(serde::Deserialize)]
    struct Asked {
        id: f64,
    }
    let Asked { id } = serde_json::from_slice(body).ok()?;
    (id.fract() == 0.0 && id.abs() < WHOLE).then_some(Id::Number(id as i64))
}

/// The wire on which nothing is of a session, even where one is named.
fn is_stateless(headers: &HeaderMap) -> bool {
    let version = headers.get("mcp-protocol-version");
    version.is_some_and(|version| version == ProtocolVersion::V_2026_07_28.as_str())
}

/// Two requests under way with one id: nobody could tell which of them an answer is for.
fn taken(id: Id) -> ParseError {
    let message = "a request with this id is under way in this session: give each its own id";
    ParseError { id: Some(id), number: INVALID_REQUEST, message: message.to_owned() }
}

fn session(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let Some(id) = headers.get(SESSION_ID) else { return Ok(None) };
    let id = id.to_str().map_err(|_| Refusal::invalid("the Mcp-Session-Id header is not text"))?;
    Ok(Some(id.to_owned()))
}

/// One that is another's is as unknown as one that has ended. The client begins a new one.
fn unknown_session() -> Response {
    let refusal = Refusal::new(Code::NotFound, "no such session: initialize a new one");
    Refused::from(refusal).into_response()
}

/// The transport refuses in plain text what is no message, and headers that it does not take: here as on every transport.
async fn in_our_shape(response: Response, posted: Option<Bytes>, is_json: bool) -> Response {
    if says_json(response.headers()) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let misread = match posted.as_deref().map(Incoming::parse_bytes) {
        Some(Err(error)) => Some(error),
        Some(Ok(_)) if is_json && parts.status == StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            let message = "not a message of MCP".to_owned();
            Some(ParseError { id: None, number: INVALID_REQUEST, message })
        }
        _ => None,
    };
    if let Some(error) = misread {
        return malformed(&error.response(request_id()));
    }
    let text = axum::body::to_bytes(body, WHY_BYTES).await.unwrap_or_default();
    let why = match std::str::from_utf8(&text) {
        Ok(why) if !why.is_empty() => why,
        _ => "the request is not as MCP over HTTP has it",
    };
    let refusal = Refusal::new(code_of(parts.status), why);
    let mut response = Refused::from(refusal).with_status(parts.status).into_response();
    if let Some(allow) = parts.headers.get(header::ALLOW) {
        response.headers_mut().insert(header::ALLOW, allow.clone());
    }
    response
}

fn says_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("application/json"))
}

fn code_of(status: StatusCode) -> Code {
    match status {
        StatusCode::NOT_FOUND => Code::NotFound,
        status if status.is_server_error() => Code::Internal,
        _ => Code::ValidationError,
    }
}

/// What the transport refuses counts like what we refuse.
fn count_refusal(response: &mut Response) {
    let status = response.status();
    if status.is_client_error() || status.is_server_error() {
        response.extensions_mut().insert(RefusedWith(code_of(status)));
    }
}

/// For `WWW-Authenticate`: plain text of ours.
fn header_value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("Bearer"))
}

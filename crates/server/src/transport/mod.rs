//! The transports: what comes in, one folder per word. A transport parses, asks [`crate::services`] and prints; it never sees
//! the store.

mod admin;
mod app;
mod below;
mod browser;
mod c2a;
mod carried;
mod cookie;
mod extract;
mod gateway;
mod guard;
mod mcp;
mod named;
mod openapi;
mod pages;
mod refused;
mod registry;
mod rest;
mod sign_in;
mod sign_in_with;
mod tools;
mod webhook;

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderValue, header};
use axum::{Extension, Router, middleware};
use browser::Browser;
use chorus_core::model::error::{Code, Refusal};
pub(crate) use gateway::gateway;
pub(crate) use guard::Hosts;
use openapi::Routes;
use refused::Refused;
use rmcp::handler::server::ServerHandler;
use tokio::sync::watch;
pub(crate) use webhook::events as callback_events;

use crate::listen::connection_limiter::Full;
use crate::services::App;

/// Longest body of a request, in bytes: the longest message with its parts and metadata, twice over.
pub(crate) const BODY_BYTES: usize = 1024 * 1024;

/// Every route there is, with its documentation.
fn all() -> Routes {
    admin::routes()
        .merge(sign_in::routes())
        .merge(sign_in_with::routes())
        .merge(openapi::routes())
        .merge(rest::routes())
        .merge(c2a::routes())
        .merge(mcp::routes())
        .merge(webhook::routes())
        .merge(registry::routes())
}

/// Everything the host answers.
pub(crate) fn router(app: Arc<App>, hosts: Hosts, stopped: watch::Receiver<bool>) -> Router {
    let mcp = mcp::endpoint(app.clone(), stopped);
    let guard = Arc::new(guard::Guard::new(hosts, app.clone()));
    all()
        .router()
        .merge(app::routes())
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
        // One layer: axum boxes every route anew for each layer, and clones these boxes for each request.
        .layer((
            middleware::from_fn_with_state(guard, guard::guard),
            Extension(mcp),
            DefaultBodyLimit::disable(),
        ))
        .with_state(app)
}

/// Another MCP server at `/mcp`, behind the same guard, limits and sessions as the host's own. Who brings no token
/// speaks for `token`.
pub(crate) fn mcp_fixture<S: ServerHandler>(
    app: Arc<App>,
    hosts: Hosts,
    token: String,
    handler: impl Fn() -> S + Send + Sync + 'static,
    stopped: watch::Receiver<bool>,
) -> Router {
    let guard = Arc::new(guard::Guard::new(hosts, app.clone()));
    let bearer = HeaderValue::from_str(&format!("Bearer {token}")).ok();
    mcp::fixture(app.clone(), handler, stopped)
        .layer(middleware::from_fn_with_state(guard, guard::guard))
        .layer(middleware::map_request(move |mut request: Request| {
            if let Some(bearer) = &bearer {
                let headers = request.headers_mut();
                headers.entry(header::AUTHORIZATION).or_insert_with(|| bearer.clone());
            }
            std::future::ready(request)
        }))
        .with_state(app)
}

/// Answers a connection that found no place, whatever it asks.
pub(crate) fn no_place(full: Full) -> Router {
    Router::new().fallback(async move || {
        let mut answer = Refused::no_place(full);
        Browser::default().tell(answer.headers_mut());
        answer
    })
}

async fn unknown_path() -> Refused {
    Refused::from(Refusal::new(Code::NotFound, "no such path; the API is below /v1"))
}

async fn unknown_method() -> Refused {
    Refused::method(Refusal::invalid("this path does not take that method"))
}

//! Where a request goes: to this host's own services, or on to the host that owns the workspace.
//!
//! While nobody owns it, as when a host has just been killed, requests wait: a pause of seconds is no error to anybody.
//! Who asks how this host does is answered at once.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::code;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout, timeout_at};

use super::browser::Browser;
use super::guard::Hosts;
use super::refused::Refused;
use crate::cluster::forward::{Forward, Sent};
use crate::cluster::{Cluster, Location};
use crate::telemetry::Metrics;
use crate::workspaces::{Entered, PREFIX, Workspaces};

/// How long a request waits for the workspace to have an owner: longer than a lease and a start.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long the owner may take to say how it does, for whoever asks another host.
const LOOKING: Duration = Duration::from_secs(1);
/// How often it looks whether the lease was renewed, or the owner can be reached again.
const LOOK: Duration = Duration::from_millis(50);
const MOVED: &str = "the workspace moved to another host and nothing of this was done; try again";
/// Requests that wait at one time.
const WAITING: usize = 4_096;

struct Gateway {
    cluster: Arc<Cluster>,
    hosts: Hosts,
    browser: Browser,
    metrics: Arc<Metrics>,
    waiting: Semaphore,
    workspaces: Option<Arc<Workspaces>>,
    stopped: watch::Receiver<bool>,
}

/// What clients of this host reach, wherever the workspace is served.
pub(crate) fn gateway(
    cluster: Arc<Cluster>,
    hosts: Hosts,
    public_url: &str,
    metrics: Arc<Metrics>,
    workspaces: Option<Arc<Workspaces>>,
    stopped: watch::Receiver<bool>,
) -> Router {
    let browser = Browser::of(public_url);
    let waiting = Semaphore::new(WAITING);
    let gateway = Gateway { cluster, hosts, browser, metrics, waiting, workspaces, stopped };
    Router::new().fallback(enter).with_state(Arc::new(gateway))
}

async fn enter(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    if request.uri().path().starts_with(PREFIX) {
        return gateway.below(request).await;
    }
    if let Some(name) = asked_after(request.uri()) {
        return gateway.ready(&name, &request);
    }
    let place = gateway.cluster.place().borrow().clone();
    match place {
        Location::Here(here) if here.lease.holds() => {
            let Ok(response) = TowerToHyperService::new(here.router.clone()).call(request).await;
            response
        }
        _ => gateway.pass_on(request).await,
    }
}

impl Gateway {
    async fn pass_on(&self, request: Request) -> Response {
        let mut response = self.passed_on(request).await;
        if response.extensions().get::<super::refused::RefusedWith>().is_some() {
            self.browser.tell(response.headers_mut());
        }
        response
    }

    async fn passed_on(&self, request: Request) -> Response {
        let path = request.uri().path();
        let looks = path == "/readyz";
        match path {
            "/healthz" => return "ok\n".into_response(),
            "/metrics" => return self.metrics.answer(),
            _ => {}
        }
        if let Err(refusal) = self.hosts.check(request.uri(), request.headers()) {
            return Refused::from(refusal).into_response();
        }
        let from = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|from| from.0);
        let from = from.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)));
        let mut place = self.cluster.place();
        let until = Instant::now() + if looks { Duration::ZERO } else { PATIENCE };
        let mut unsent = Some(request);
        let mut forward = None;
        let mut waits = None;
        loop {
            let now = place.borrow_and_update().clone();
            match now {
                Location::Here(here) if here.lease.holds() => match unsent.take() {
                    Some(request) => return self.here(&here.router, request).await,
                    // It was on its way to another host, which was not the owner any more.
                    None => return self.again(forward, &here.router).await,
                },
                Location::Elsewhere(peer) => {
                    if let Some(request) = unsent.take() {
                        forward = Forward::of(request, from).await;
                    }
                    let Some(forward) = &mut forward else {
                        return Refused::from(Refusal::invalid("the body did not come"))
                            .into_response();
                    };
                    let within = if looks { LOOKING } else { Duration::MAX };
                    let sent = forward.send(&self.cluster, &peer, self.stopped.clone());
                    match timeout(within, sent).await.unwrap_or(Sent::NotDone) {
                        Sent::Answered(response) => return response,
                        Sent::NotDone => {}
                        Sent::Spent => return unavailable(MOVED),
                        Sent::Unknown => return unknown(),
                    }
                }
                Location::Here(_) | Location::Nowhere(_) => {}
            }
            // Waiting is for another host to take over, and not for a database that is away.
            let is_cut_off = self.cluster.view().is_none_or(|view| view.trouble.is_some());
            if Instant::now() >= until || is_cut_off {
                return self.nobody(looks);
            }
            if waits.is_none() {
                let Ok(one) = self.waiting.try_acquire() else {
                    return unavailable("too many requests wait for the workspace to have a host");
                };
                waits = Some(one);
            }
            let _ = timeout_at(until.min(Instant::now() + LOOK), place.changed()).await;
        }
    }

    /// How one workspace does, whatever the others do.
    fn ready(&self, name: &str, request: &Request) -> Response {
        let ready = self.hosts.check(request.uri(), request.headers()).and_then(|()| {
            let workspaces = self.workspaces.as_ref().ok_or_else(only_one)?;
            workspaces.ready(name)
        });
        match ready {
            Ok(()) => "ready\n".into_response(),
            Err(refusal) => {
                let status = code::status(refusal.code);
                let status =
                    StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
                (status, format!("not ready: {}\n", refusal.message)).into_response()
            }
        }
    }

    /// What is meant for another workspace of this host, whose own address ends with its name.
    async fn below(&self, request: Request) -> Response {
        let mut response = match self.sent_below(request).await {
            Ok(response) => return response,
            Err(refusal) => Refused::from(refusal).into_response(),
        };
        self.browser.tell(response.headers_mut());
        response
    }

    async fn sent_below(&self, mut request: Request) -> Result<Response, Refusal> {
        self.hosts.check(request.uri(), request.headers())?;
        let workspaces = self.workspaces.as_ref().ok_or_else(only_one)?;
        let (name, rest) = named(request.uri())?;
        if rest.path() == "/healthz" {
            // It asks whether the process answers, and opens nothing.
            return Ok("ok\n".into_response());
        }
        if rest.path() == "/metrics" {
            let why = "what is counted is the host's, at its own /metrics";
            return Err(Refusal::new(Code::NotFound, why));
        }
        let entered = workspaces.enter(&name).await?;
        *request.uri_mut() = rest;
        let Ok(mut response) =
            TowerToHyperService::new(entered.served.router()).call(request).await;
        // Its own paths begin at its address.
        let to = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok());
        if let Some(to) = to.filter(|to| to.starts_with('/'))
            && let Ok(to) = HeaderValue::from_str(&format!("{PREFIX}{name}{to}"))
        {
            response.headers_mut().insert(header::LOCATION, to);
        }
        // It is used as long as the answer is under way.
        Ok(response.map(|body| Body::new(WhileEntered { body, _entered: entered })))
    }

    async fn here(&self, router: &Router, request: Request) -> Response {
        let Ok(response) = TowerToHyperService::new(router.clone()).call(request).await;
        response
    }

    /// This host has become the owner while the request was on its way to another.
    async fn again(&self, forward: Option<Forward>, router: &Router) -> Response {
        match forward.and_then(Forward::back) {
            Some(request) => self.here(router, request).await,
            None => unavailable(MOVED),
        }
    }

    /// Nobody serves the workspace, and why.
    fn nobody(&self, looks: bool) -> Response {
        let why = self.cluster.why_nowhere();
        if looks {
            let body = format!("not ready: {why}\n");
            return (StatusCode::SERVICE_UNAVAILABLE, body).into_response();
        }
        unavailable(&format!("no host serves the workspace now ({why}); try again in a moment"))
    }
}

fn unknown() -> Response {
    let refusal = Refusal::new(
        Code::OutcomeUnknown,
        "the host that owns the workspace was lost while it worked on this, and it is not known whether it was done; \
         repeat it with the same idempotency key",
    );
    Refused::from(refusal).into_response()
}

fn unavailable(why: &str) -> Response {
    let mut response = Refused::from(Refusal::new(Code::Unavailable, why)).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

fn only_one() -> Refusal {
    let why = "a host on PostgreSQL has one workspace; one on a folder can have more";
    Refusal::new(Code::NotFound, why)
}

/// The workspace that `/readyz?workspace=` asks about.
fn asked_after(uri: &Uri) -> Option<String> {
    let query = uri.query().filter(|_| uri.path() == "/readyz")?;
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query).ok()?;
    pairs.into_iter().find(|(key, _)| key == "workspace").map(|(_, name)| name)
}

/// The workspace that a path names, and what comes after its name.
fn named(uri: &Uri) -> Result<(String, Uri), Refusal> {
    let path = uri.path_and_query().map_or("", |path| path.as_str());
    let path = path.strip_prefix(PREFIX).unwrap_or(path);
    let end = path.find(['/', '?']).unwrap_or(path.len());
    let (name, rest) = path.split_at(end);
    let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    let rest = rest.parse().map_err(|_| Refusal::invalid("this is no path"))?;
    Ok((name.to_owned(), rest))
}

/// The body of an answer, with what keeps its workspace open.
struct WhileEntered {
    body: Body,
    _entered: Entered,
}

impl HttpBody for WhileEntered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

//! Where a request goes: to this host's own services, or on to the host that owns the workspace.
//!
//! While nobody owns it, as when a host has just been killed, requests wait: a pause of seconds is no error to anybody.
//! Who asks how this host does is answered at once.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::code;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout, timeout_at};

use super::below::{self, named};
use super::browser::Browser;
use super::carried::{Asked, carried, is_stream};
use super::guard::Hosts;
use super::refused::Refused;
use crate::cluster::forward::{Forward, Sent};
use crate::cluster::{Cluster, Local, Location, Peer};
use crate::telemetry::Metrics;
use crate::workspaces::{Entered, PREFIX, Way, Workspaces};

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
    if let Some(name) = asked_after(request.uri()) {
        let let_in = gateway.hosts.check(request.uri(), request.headers());
        return gateway.ready(&name, let_in).await;
    }
    // Alone, there is nobody to whom a stream could move.
    let asked = if gateway.cluster.is_shared() { Asked::of(&request) } else { None };
    let response = gateway.clone().answered(request).await;
    match asked {
        Some(asked) if is_stream(&response) => {
            let ask = move |request| gateway.clone().asked_again(request).boxed();
            response.map(|body| carried(asked, body, Box::new(ask)))
        }
        _ => response,
    }
}

impl Gateway {
    /// The answer of whoever owns the workspace.
    async fn answered(self: Arc<Self>, request: Request) -> Response {
        if request.uri().path().starts_with(PREFIX) {
            return self.below(request).await;
        }
        let place = self.cluster.place().borrow().clone();
        match place {
            Location::Here(here) if here.lease.holds() => {
                let router = here.router.clone();
                let Ok(response) = TowerToHyperService::new(router).call(request).await;
                response
            }
            _ => self.pass_on(request).await,
        }
    }

    /// The same for a stream that goes on; none when this host stops.
    async fn asked_again(self: Arc<Self>, request: Request) -> Option<Response> {
        if *self.stopped.borrow() { None } else { Some(self.answered(request).await) }
    }

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
        let patience = if looks { Patience::LOOKS } else { Patience::ANSWERS };
        match self.on_its_way(request, &Target::Own, patience).await {
            Ok(response) => response,
            Err(refusal) if looks => {
                let body = format!("not ready: {}\n", refusal.message);
                (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
            }
            Err(refusal) => unavailable(refusal),
        }
    }

    /// Has a request answered here, or by the host that owns its workspace. While none does, it waits.
    async fn on_its_way(
        &self,
        request: Request,
        target: &Target<'_>,
        patience: Patience,
    ) -> Result<Response, Refusal> {
        let from = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|from| from.0);
        let from = from.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)));
        let mut place = self.cluster.place();
        let until = Instant::now() + patience.waits;
        let moved_on = || Refusal::new(Code::Unavailable, MOVED);
        let mut unsent = Some(request);
        let mut forward: Option<Forward> = None;
        let mut waits = None;
        loop {
            place.borrow_and_update();
            let why = match self.spot(target).await? {
                Spot::Here(here) => {
                    // It may have been on its way to another host, which was not the owner any more.
                    let request = unsent.take().or_else(|| forward.take().and_then(Forward::back));
                    return here.answer(request.ok_or_else(moved_on)?).await;
                }
                Spot::Elsewhere(peer, moved) => {
                    if let Some(request) = unsent.take() {
                        forward = Forward::of(request, from).await;
                    }
                    let Some(forward) = &mut forward else {
                        return Err(Refusal::invalid("the body did not come"));
                    };
                    let sent = forward.send(&self.cluster, &peer, moved, self.stopped.clone());
                    match timeout(patience.asks, sent).await.unwrap_or(Sent::NotDone) {
                        Sent::Answered(response) => return Ok(response),
                        Sent::NotDone => {}
                        Sent::Spent => return Err(moved_on()),
                        Sent::Unknown => return Ok(unknown()),
                    }
                    target.forget(self.workspaces.as_deref());
                    format!("the host at {} cannot be reached", peer.at)
                }
                Spot::Nowhere(why) => why,
            };
            // Waiting is for another host to take over, and not for a database that is away.
            let is_cut_off = match self.cluster.view() {
                None => matches!(target, Target::Own),
                Some(view) => view.trouble.is_some(),
            };
            if Instant::now() >= until || is_cut_off {
                let why = if patience.waits.is_zero() {
                    why
                } else {
                    format!("no host serves the workspace now ({why}); try again in a moment")
                };
                return Err(Refusal::new(Code::Unavailable, why));
            }
            if waits.is_none() {
                let Ok(one) = self.waiting.try_acquire() else {
                    let why = "too many requests wait for the workspace to have a host";
                    return Err(Refusal::new(Code::Unavailable, why));
                };
                waits = Some(one);
            }
            let _ = timeout_at(until.min(Instant::now() + LOOK), place.changed()).await;
        }
    }

    /// Where the workspace is that a request is for.
    async fn spot(&self, target: &Target<'_>) -> Result<Spot, Refusal> {
        let Target::Below(workspaces, name) = target else {
            let now = self.cluster.place().borrow().clone();
            return Ok(match now {
                Location::Here(here) if here.lease.holds() => Spot::Here(Here::Own(here)),
                Location::Elsewhere(peer) => {
                    let moved = self.cluster.moved(&peer);
                    Spot::Elsewhere(peer, moved)
                }
                Location::Here(_) | Location::Nowhere(_) => {
                    Spot::Nowhere(self.cluster.why_nowhere())
                }
            });
        };
        Ok(match workspaces.way(name, false).await? {
            Way::Here(entered) => Spot::Here(Here::Below(entered)),
            Way::Elsewhere(peer, key) => {
                let moved = self.cluster.lost(&peer, key);
                Spot::Elsewhere(peer, moved)
            }
            Way::Nowhere(refusal) => Spot::Nowhere(refusal.message),
        })
    }

    /// How one workspace does, whatever the others do.
    async fn ready(&self, name: &str, let_in: Result<(), Refusal>) -> Response {
        let ready = async {
            let_in?;
            let workspaces = self.workspaces.as_ref().ok_or_else(only_own)?;
            workspaces.ready(name).await
        };
        match ready.await {
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
            Err(refusal) => unavailable(refusal),
        };
        self.browser.tell(response.headers_mut());
        response
    }

    async fn sent_below(&self, request: Request) -> Result<Response, Refusal> {
        self.hosts.check(request.uri(), request.headers())?;
        let workspaces = self.workspaces.as_ref().ok_or_else(only_own)?;
        let (name, rest) = named(request.uri())?;
        if rest.path() == "/healthz" {
            // It asks whether the process answers, and opens nothing.
            return Ok("ok\n".into_response());
        }
        if rest.path() == "/metrics" {
            let why = "what is counted is the host's, at its own /metrics";
            return Err(Refusal::new(Code::NotFound, why));
        }
        self.on_its_way(request, &Target::Below(workspaces, &name), Patience::ANSWERS).await
    }
}

/// The workspace that a request is for.
enum Target<'a> {
    /// The hosts' own.
    Own,
    Below(&'a Arc<Workspaces>, &'a str),
}

impl Target<'_> {
    /// It was not where it was thought to be.
    fn forget(&self, workspaces: Option<&Workspaces>) {
        if let (Self::Below(_, name), Some(workspaces)) = (self, workspaces) {
            workspaces.forget_key(name);
        }
    }
}

/// Where a workspace is served.
enum Spot {
    Here(Here),
    /// Elsewhere, and what ends when it is there no more.
    Elsewhere(Arc<Peer>, BoxFuture<'static, ()>),
    /// Nowhere, and why.
    Nowhere(String),
}

enum Here {
    Own(Arc<Local>),
    Below(Entered),
}

impl Here {
    async fn answer(self, request: Request) -> Result<Response, Refusal> {
        match self {
            Self::Own(here) => {
                let Ok(response) =
                    TowerToHyperService::new(here.router.clone()).call(request).await;
                Ok(response)
            }
            Self::Below(entered) => below::serve(entered, request).await,
        }
    }
}

/// How long a request waits for its workspace to have an owner, and for the owner to answer.
#[derive(Clone, Copy)]
struct Patience {
    waits: Duration,
    asks: Duration,
}

impl Patience {
    const ANSWERS: Self = Self { waits: PATIENCE, asks: Duration::MAX };
    /// Whoever asks how a host does is answered at once.
    const LOOKS: Self = Self { waits: Duration::ZERO, asks: LOOKING };
}

fn unknown() -> Response {
    let refusal = Refusal::new(
        Code::OutcomeUnknown,
        "the host that owns the workspace was lost while it worked on this, and it is not known whether it was done; \
         repeat it with the same idempotency key",
    );
    Refused::from(refusal).into_response()
}

fn unavailable(refusal: Refusal) -> Response {
    let retries = matches!(refusal.code, Code::Unavailable | Code::RateLimited);
    let mut response = Refused::from(refusal).into_response();
    if retries {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn only_own() -> Refusal {
    Refusal::new(Code::NotFound, "this host has no workspaces beside its own")
}

/// The workspace that `/readyz?workspace=` asks about.
fn asked_after(uri: &Uri) -> Option<String> {
    let query = uri.query().filter(|_| uri.path() == "/readyz")?;
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query).ok()?;
    pairs.into_iter().find(|(key, _)| key == "workspace").map(|(_, name)| name)
}

//! Where a request goes: to this host's own services, or on to the host that owns the workspace.
//!
//! While nobody owns it, as when a host has just been killed, requests wait: a pause of seconds is no error to anybody.
//! Who asks how this host does is answered at once.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chorus_core::model::error::{Code, Refusal};
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
    stopped: watch::Receiver<bool>,
}

/// What clients of this host reach, wherever the workspace is served.
pub(crate) fn gateway(
    cluster: Arc<Cluster>,
    hosts: Hosts,
    public_url: &str,
    metrics: Arc<Metrics>,
    stopped: watch::Receiver<bool>,
) -> Router {
    let browser = Browser::of(public_url);
    let waiting = Semaphore::new(WAITING);
    let gateway = Gateway { cluster, hosts, browser, metrics, waiting, stopped };
    Router::new().fallback(enter).with_state(Arc::new(gateway))
}

async fn enter(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
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

/// Not the status of what was refused: it may have been done.
fn unknown() -> Response {
    let refusal = Refusal::new(
        Code::Unavailable,
        "the host that owns the workspace was lost while it worked on this, and it is not known whether it was done; \
         repeat it with the same idempotency key",
    );
    Refused::from(refusal).with_status(StatusCode::BAD_GATEWAY).into_response()
}

fn unavailable(why: &str) -> Response {
    let mut response = Refused::from(Refusal::new(Code::Unavailable, why)).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

//! The hosts' own listener: what other hosts of the database pass on, and what they ask.
//!
//! Only hosts with the same keys get in. What they pass on was let in by the one that was asked, which says who asked
//! it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use super::forward::{FROM, Forwarded, NOT_OWNER, read};
use super::{BELOW, Below, Cluster, IDLE, Location};
use crate::listen::told_to_stop;

/// Connections of other hosts at one time: each client's stream of events or WebSocket takes one.
const CONNECTIONS: usize = 65_536;
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Rest after the system refused a connection.
const REST: Duration = Duration::from_millis(100);
/// Longest head of a request in bytes, with what was added on the way.
const HEAD_BYTES: usize = 96 * 1024;
/// Asks a host to look who owns the workspace.
pub(crate) const LOOK: &str = "/hosts/look";

/// Asks the owner how the operator gets in, for the folder of a host that serves nothing yet. A workspace's name may
/// follow.
pub(crate) const ACCESS: &str = "/hosts/operator";
/// Asks the owner to close a workspace, whose name follows.
pub(crate) const CLOSE: &str = "/hosts/close";

/// Serves other hosts until this one stops.
pub(crate) async fn serve(
    listener: TcpListener,
    cluster: Arc<Cluster>,
    below: Option<Arc<dyn Below>>,
    mut stopped: watch::Receiver<bool>,
) {
    let here = Here { cluster, below };
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = told_to_stop(&mut stopped) => return,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection of another host could not be accepted");
                tokio::time::sleep(REST).await;
                continue;
            }
        };
        let Ok(place) = places.clone().try_acquire_owned() else { continue };
        let (here, stopped) = (here.clone(), stopped.clone());
        tokio::spawn(async move {
            connection(stream, here, stopped).await;
            drop(place);
        });
    }
}

/// What other hosts find here.
#[derive(Clone)]
struct Here {
    cluster: Arc<Cluster>,
    below: Option<Arc<dyn Below>>,
}

async fn connection(stream: TcpStream, here: Here, mut stopped: watch::Receiver<bool>) {
    let Some(others) = &here.cluster.others else { return };
    let _ = stream.set_nodelay(true);
    let acceptor = TlsAcceptor::from(others.identity.load().server.clone());
    let stream = match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::debug!(%error, "somebody without the keys of this deployment was refused");
            return;
        }
        Err(_) => return,
    };
    let service = service_fn(|request| answer(here.clone(), request));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(IDLE * 2).max_buf_size(HEAD_BYTES);
    let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = told_to_stop(&mut stopped) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::trace!(%error, "a connection of another host broke");
    }
}

async fn answer(here: Here, mut request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    let Some(from) = request.headers_mut().remove(FROM) else {
        return Ok(here.asked(request.uri().path()).await);
    };
    let from = from.to_str().ok().and_then(|from| from.parse::<SocketAddr>().ok());
    let Some(from) = from else { return Ok(not_owner()) };
    request.extensions_mut().insert(ConnectInfo(from));
    request.extensions_mut().insert(Forwarded);
    let Some(request) = read(request.map(Body::new)).await else { return Ok(not_owner()) };
    if request.uri().path().starts_with(BELOW)
        && let Some(below) = here.below
    {
        let answered = below.answer(request).await;
        return Ok(answered.unwrap_or_else(not_owner));
    }
    let place = here.cluster.place().borrow().clone();
    match place {
        Location::Here(here) if here.lease.holds() => {
            TowerToHyperService::new(here.router.clone()).call(request).await
        }
        _ => Ok(not_owner()),
    }
}

/// It is passed on once: whoever sent it looks where the owner is.
fn not_owner() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::MISDIRECTED_REQUEST;
    response.headers_mut().insert(NOT_OWNER, HeaderValue::from_static("1"));
    response
}

impl Here {
    /// What a host asks for itself.
    async fn asked(&self, path: &str) -> Response<Body> {
        let place = self.cluster.place().borrow().clone();
        let after = |what| path.strip_prefix(what).and_then(|rest| rest.strip_prefix('/'));
        if path == LOOK {
            self.cluster.look();
            return Response::new(Body::empty());
        }
        let access = match (after(ACCESS), after(CLOSE), place) {
            (Some(name), _, _) => match self.below.clone() {
                Some(below) => below.access(name.to_owned()).await,
                None => None,
            },
            (_, Some(name), _) => {
                if let Some(below) = self.below.clone() {
                    below.close(name.to_owned()).await;
                }
                return Response::new(Body::empty());
            }
            (None, None, Location::Here(here)) if path == ACCESS => (here.operator)().await,
            _ => {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::NOT_FOUND;
                return response;
            }
        };
        Response::new(serde_json::to_vec(&access.unwrap_or_default()).unwrap_or_default().into())
    }
}

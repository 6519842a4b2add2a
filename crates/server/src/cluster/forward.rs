//! Passing a request on to the host that owns the workspace.
//!
//! What was sent is repeated only where that is safe: nothing had been sent yet, the other host says that it is not
//! the owner, or the request only reads.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING, UPGRADE};
use axum::http::request::Parts;
use axum::http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::sync::watch;

use super::{Cluster, Peer};

/// Who asked the host that passes a request on.
pub(crate) const FROM: HeaderName = HeaderName::from_static("chorus-forwarded-from");
/// The request was not for the host that was asked: it does not own the workspace.
pub(crate) const NOT_OWNER: HeaderName = HeaderName::from_static("chorus-not-owner");
/// A body up to this length, in bytes, is read before it is sent, so that it can be sent again.
const KEPT: usize = 256 * 1024;
/// How long an answer may take that was under way when its host ceased to be the owner.
const ANSWERING: Duration = Duration::from_secs(1);
/// How long it may take to come.
const KEEPING: Duration = Duration::from_secs(30);

/// Put beside a request that another host has passed on, and checked.
#[derive(Clone, Copy)]
pub(crate) struct Forwarded;

/// A request on its way to another host.
pub(crate) struct Forward {
    parts: Parts,
    body: Kept,
    upgrade: Option<OnUpgrade>,
}

enum Kept {
    Whole(Bytes),
    Stream(Option<Body>),
}

/// What became of it.
pub(crate) enum Sent {
    Answered(Response<Body>),
    /// It was not done, and can be sent again.
    NotDone,
    /// It was not done, and its body cannot be sent again.
    Spent,
    /// It is not known whether it was done, and it cannot be repeated.
    Unknown,
}

impl Forward {
    /// Takes a request in; none when its body does not come.
    pub(crate) async fn of(mut request: Request<Body>, from: SocketAddr) -> Option<Self> {
        let upgrade = request.headers().contains_key(UPGRADE);
        let upgrade = upgrade.then(|| hyper::upgrade::on(&mut request));
        let (mut parts, body) = request.into_parts();
        let whole = keep(&parts.headers, body).await?;
        strip(&mut parts.headers, upgrade.is_some());
        let from = HeaderValue::from_str(&from.to_string()).ok()?;
        parts.headers.insert(FROM, from);
        Some(Self { parts, body: whole, upgrade })
    }

    fn only_reads(&self) -> bool {
        [Method::GET, Method::HEAD, Method::OPTIONS].contains(&self.parts.method)
    }

    /// As it is sent; none when its body was sent before.
    fn request(&mut self, peer: &Peer) -> Option<Request<Body>> {
        let body = match &mut self.body {
            Kept::Whole(bytes) => Body::from(bytes.clone()),
            Kept::Stream(body) => body.take()?,
        };
        let path = self.parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let uri: Uri = format!("https://{}{path}", peer.at).parse().ok()?;
        let mut request = Request::new(body);
        *request.method_mut() = self.parts.method.clone();
        *request.uri_mut() = uri;
        *request.version_mut() = Version::HTTP_11;
        *request.headers_mut() = self.parts.headers.clone();
        Some(request)
    }

    /// The request as it came, for the services of this host itself; none when its body was sent.
    pub(crate) fn back(self) -> Option<Request<Body>> {
        let Self { mut parts, body, upgrade } = self;
        let from = parts.headers.remove(FROM);
        let from = from.and_then(|from| from.to_str().ok()?.parse::<SocketAddr>().ok());
        let body = match body {
            Kept::Whole(bytes) => Body::from(bytes),
            Kept::Stream(body) => body?,
        };
        let mut request = Request::from_parts(parts, body);
        if let Some(from) = from {
            request.extensions_mut().insert(ConnectInfo(from));
        }
        if let Some(upgrade) = upgrade {
            request.extensions_mut().insert(upgrade);
        }
        Some(request)
    }

    /// Sends it to the owner, and gives the answer, whose body ends with an error when the owner is another (`moved`), or
    /// this host stops.
    pub(crate) async fn send(
        &mut self,
        cluster: &Cluster,
        peer: &Peer,
        mut moved: BoxFuture<'static, ()>,
        stopped: watch::Receiver<bool>,
    ) -> Sent {
        let Some(others) = &cluster.others else { return Sent::Unknown };
        let repeats = matches!(self.body, Kept::Whole(_));
        let Some(request) = self.request(peer) else { return Sent::Spent };
        let not_done = if repeats { Sent::NotDone } else { Sent::Spent };
        let mut answered = others.client.request(request);
        let answered = tokio::select! {
            answered = &mut answered => answered,
            () = &mut moved => {
                if self.only_reads() {
                    return Sent::NotDone;
                }
                // Who hands over answers first what is under way, and the answer may be on its way.
                match tokio::time::timeout(ANSWERING, answered).await {
                    Ok(answered) => answered,
                    Err(_) => return Sent::Unknown,
                }
            }
        };
        let over = over(moved, stopped);
        let mut response = match answered {
            Ok(response) if response.headers().contains_key(NOT_OWNER) => return not_done,
            Ok(response) => response,
            Err(why) => {
                tracing::debug!(%why, host = peer.id, "a request could not be passed on");
                cluster.look();
                let is_safe = self.only_reads() || why.is_connect();
                return if is_safe { not_done } else { Sent::Unknown };
            }
        };
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            if let Some(upgrade) = self.upgrade.take() {
                tokio::spawn(splice(upgrade, hyper::upgrade::on(&mut response), over));
            }
            return Sent::Answered(response.map(|_| Body::empty()));
        }
        strip(response.headers_mut(), false);
        Sent::Answered(response.map(|body| Body::new(UntilOver { body, over })))
    }
}

/// Reads a body that is short; none when it does not come.
async fn keep(headers: &HeaderMap, body: Body) -> Option<Kept> {
    match length(headers, &body) {
        Some(length) if length <= KEPT as u64 => {
            let body = tokio::time::timeout(KEEPING, body.collect()).await.ok()?;
            Some(Kept::Whole(body.ok()?.to_bytes()))
        }
        _ => Some(Kept::Stream(Some(body))),
    }
}

/// A request of another host with its body, if that is short. An answer to one that was not read would close the
/// connection, and the next request on it would be lost.
pub(super) async fn read(request: Request<Body>) -> Option<Request<Body>> {
    let (parts, body) = request.into_parts();
    let body = match keep(&parts.headers, body).await? {
        Kept::Whole(bytes) => Body::from(bytes),
        Kept::Stream(body) => body?,
    };
    Some(Request::from_parts(parts, body))
}

/// The length of a body, where it is known.
fn length(headers: &HeaderMap, body: &Body) -> Option<u64> {
    let said = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    said.or(body.size_hint().exact())
}

/// Leaves out what concerns one connection only. An upgrade concerns both.
fn strip(headers: &mut HeaderMap, upgrades: bool) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        if !(upgrades && name == UPGRADE) {
            headers.remove(name);
        }
    }
    for name in ["keep-alive", "proxy-connection", "te", "trailer", "expect"] {
        headers.remove(name);
    }
    headers.remove(TRANSFER_ENCODING);
    headers.remove(FROM);
    match upgrades {
        true => headers.insert(CONNECTION, HeaderValue::from_static("upgrade")),
        false => headers.remove(CONNECTION),
    };
}

/// Ends with that, or when this host stops: an answer is waited for until then, and a stream is not.
fn over(
    moved: BoxFuture<'static, ()>,
    mut stopped: watch::Receiver<bool>,
) -> BoxFuture<'static, ()> {
    async move {
        tokio::select! {
            () = moved => {}
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
    }
    .boxed()
}

/// Copies what comes on either connection to the other, until one has ended.
async fn splice(client: OnUpgrade, owner: OnUpgrade, over: BoxFuture<'static, ()>) {
    let (Ok(client), Ok(owner)) = (client.await, owner.await) else { return };
    let (mut client, mut owner) = (TokioIo::new(client), TokioIo::new(owner));
    tokio::select! {
        // However it ended, both ends see it.
        _ = tokio::io::copy_bidirectional(&mut client, &mut owner) => {}
        () = over => {}
    }
}

/// The body of an answer, as long as its host is the owner.
struct UntilOver {
    body: Incoming,
    over: BoxFuture<'static, ()>,
}

impl HttpBody for UntilOver {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(io::Error::other)));
        }
        match self.over.as_mut().poll(cx) {
            Poll::Ready(()) => {
                Poll::Ready(Some(Err(io::Error::other("another host serves the workspace now"))))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

//! Listening: connections come in, are counted, shake hands where the host speaks HTTPS, and are served until
//! they end (spec/operations.md, "Connections on a bad day").
//!
//! Invariant: nobody who says nothing, speaks slowly or never reads holds more than the one place its connection
//! has ([`seats`]), and that one not for ever ([`timeouts`]). Each connection is a task of its own; the loop that
//! accepts waits for none of them.

pub(crate) mod connection_limiter;
mod timeouts;
mod unread;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response, Version};
use connection_limiter::{ConnectionLimiter, Full};
use futures_util::future::{BoxFuture, Either};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use timeouts::{Seated, Timeouts};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_rustls::TlsAcceptor;
use unread::Watched;

use crate::config::Pace;
use crate::config::limits::Limits as Settings;
use crate::telemetry::{Cut, Metrics};
use crate::tls::Tls;

/// Rest after the system refused a connection, as when it has no more file descriptors.
const REST: Duration = Duration::from_millis(100);
/// Connections past a limit that are told so at one time; the others are closed without a word.
const TOLD: usize = 64;
/// How long one may take to be told.
const TELLING: Duration = Duration::from_secs(1);
/// Longest head of a request in bytes: tokens of other issuers have some KiB.
const HEAD_BYTES: usize = 64 * 1024;

/// How long each step of a connection may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub handshake: Duration,
    pub headers: Duration,
    pub idle: Duration,
    /// In which not a byte could be written.
    pub stalled: Duration,
}

impl Times {
    pub(crate) fn of(settings: &Settings, pace: Pace) -> Self {
        Self {
            handshake: settings.handshake_time.0,
            headers: settings.header_time.0,
            idle: settings.idle_time.0,
            stalled: pace.dead_after,
        }
    }
}

/// What every connection is served with.
pub(crate) struct Front {
    pub router: Router,
    /// Answers those who find no place, by why.
    pub full: fn(Full) -> Router,
    pub tls: Option<Arc<Tls>>,
    pub seats: Arc<ConnectionLimiter>,
    pub times: Times,
    pub metrics: Arc<Metrics>,
}

impl Front {
    /// Takes connections until it is told to stop; returns when those that were served have ended. What has become
    /// a WebSocket ends by itself.
    pub(crate) async fn serve(self, listener: TcpListener, mut stopped: watch::Receiver<bool>) {
        let (served, mut ended) = mpsc::channel::<Infallible>(1);
        let front = Arc::new(self);
        let telling = Arc::new(Semaphore::new(TOLD));
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = told_to_stop(&mut stopped) => break,
            };
            let (stream, from) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    front.complain(&error).await;
                    continue;
                }
            };
            // Answers are small, and waited for.
            let _ = stream.set_nodelay(true);
            let (front, stopped, served) = (front.clone(), stopped.clone(), served.clone());
            match front.seats.take(from.ip()) {
                Ok(seat) => {
                    tokio::spawn(async move {
                        let timeouts = Timeouts::new(front.times, front.metrics.clone());
                        let stream = Seated::new(stream, Some(seat), timeouts.clone());
                        front.connection(stream, &timeouts, from, stopped).await;
                        drop(served);
                    });
                }
                Err(full) => {
                    front.metrics.cut(full.cut());
                    let Ok(place) = telling.clone().try_acquire_owned() else { continue };
                    tokio::spawn(async move {
                        let told = front.tell(stream, (front.full)(full), None);
                        let _ = tokio::time::timeout(TELLING, told).await;
                        drop(place);
                    });
                }
            }
        }
        drop(served);
        // While the last answers are written, who asks how the host does is answered still: by the router, which
        // refuses everything else.
        loop {
            let accepted = tokio::select! {
                _ = ended.recv() => return,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, from)) = accepted else { break };
            let Ok(place) = telling.clone().try_acquire_owned() else { continue };
            let front = front.clone();
            tokio::spawn(async move {
                let router = front.router.clone();
                let told = front.tell(stream, router, Some(from));
                let _ = tokio::time::timeout(TELLING, told).await;
                drop(place);
            });
        }
        ended.recv().await;
    }

    async fn complain(&self, error: &io::Error) {
        // A peer that is gone before it was accepted is its own affair.
        if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
        {
            return;
        }
        tracing::warn!(%error, "a connection could not be accepted");
        tokio::time::sleep(REST).await;
    }

    /// One connection, from its first byte to its end.
    async fn connection(
        &self,
        stream: Seated,
        timeouts: &Timeouts,
        from: SocketAddr,
        stopped: watch::Receiver<bool>,
    ) {
        let router = self.router.clone();
        let from = Some(from);
        let Some(tls) = &self.tls else {
            return serve(stream, Served { router, from }, timeouts, stopped).await;
        };
        match tokio::time::timeout(self.times.handshake, shake_hands(tls, stream)).await {
            Ok(Ok(stream)) => serve(stream, Served { router, from }, timeouts, stopped).await,
            Ok(Err(error)) => tracing::debug!(?from, %error, "a handshake failed"),
            Err(_) => self.metrics.cut(Cut::Handshake),
        }
    }

    /// One answer, and the end: why there is no place, or that the host stops.
    async fn tell(&self, stream: TcpStream, router: Router, from: Option<SocketAddr>) {
        let timeouts = Timeouts::new(self.times, self.metrics.clone());
        let stream = Seated::new(stream, None, timeouts.clone());
        let served = Served { router, from };
        let http = http(&timeouts, false);
        let _ = match &self.tls {
            None => http.serve_connection(TokioIo::new(stream), served).await,
            Some(tls) => match shake_hands(tls, stream).await {
                Ok(stream) => http.serve_connection(TokioIo::new(stream), served).await,
                Err(_) => return,
            },
        };
    }
}

async fn shake_hands(
    tls: &Tls,
    stream: Seated,
) -> io::Result<tokio_rustls::server::TlsStream<Seated>> {
    TlsAcceptor::from(tls.current()).accept(stream).await
}

fn http(timeouts: &Timeouts, keep_alive: bool) -> http1::Builder {
    let mut http = http1::Builder::new();
    // What it is told is how long a connection may idle; the timer knows when a request has begun.
    http.timer(timeouts.clone())
        .header_read_timeout(timeouts.times.idle)
        .max_buf_size(HEAD_BYTES)
        .keep_alive(keep_alive);
    http
}

async fn serve<Io>(
    stream: Io,
    served: Served,
    timeouts: &Timeouts,
    mut stopped: watch::Receiver<bool>,
) where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let http = http(timeouts, true);
    let connection = http.serve_connection(TokioIo::new(stream), served).with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = told_to_stop(&mut stopped) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::trace!(%error, "a connection broke");
    }
}

pub(crate) async fn told_to_stop(stopped: &mut watch::Receiver<bool>) {
    // The sender going away means the same.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// The router, told who asks.
struct Served {
    router: Router,
    from: Option<SocketAddr>,
}

impl Service<Request<Incoming>> for Served {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Either<
        <TowerToHyperService<Router> as Service<Request<Incoming>>>::Future,
        BoxFuture<'static, Result<Response<Body>, Infallible>>,
    >;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        if let Some(from) = self.from {
            request.extensions_mut().insert(ConnectInfo(from));
        }
        let router = TowerToHyperService::new(self.router.clone());
        // Before HTTP/1.1 a connection ends unless both sides say that it does not.
        if request.body().is_end_stream() || request.version() < Version::HTTP_11 {
            return Either::Left(router.call(request));
        }
        let (head, body) = request.into_parts();
        let (body, read) = Watched::new(body);
        let answer = router.call(Request::from_parts(head, body));
        Either::Right(Box::pin(async move {
            let mut answer = answer.await?;
            read.tell(&mut answer);
            Ok(answer)
        }))
    }
}

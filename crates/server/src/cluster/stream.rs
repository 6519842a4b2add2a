//! A connection to another host, as hyper's client takes one.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::http::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower_service::Service;

use super::identity::Identity;

/// How long another host may take until it has shaken hands.
const CONNECT: Duration = Duration::from_secs(2);

/// Connects to the address that stands in the URI.
#[derive(Clone)]
pub(super) struct Connector {
    pub(super) identity: Arc<ArcSwap<Identity>>,
}

/// An encrypted connection to a host with the same keys.
pub(super) struct PeerStream(TlsStream<TcpStream>);

impl Service<Uri> for Connector {
    type Response = TokioIo<PeerStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let identity = self.identity.load_full();
        Box::pin(async move {
            let at = uri.authority().and_then(|authority| authority.as_str().parse().ok());
            let at: SocketAddr = at.ok_or_else(|| io::Error::other("no address of a host"))?;
            let name = ServerName::IpAddress(at.ip().into());
            let connected = tokio::time::timeout(CONNECT, async {
                let stream = TcpStream::connect(at).await?;
                stream.set_nodelay(true)?;
                TlsConnector::from(identity.client.clone()).connect(name, stream).await
            });
            let stream =
                connected.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
            Ok(TokioIo::new(PeerStream(stream)))
        })
    }
}

impl Connection for PeerStream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for PeerStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for PeerStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

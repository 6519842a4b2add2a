//! The address that the host listens on, and the URLs by which it is reached.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::StartError;
use super::context::{HostContext, Reached};
use crate::config::Config;
use crate::listen::connection_limiter::ConnectionLimiter;
use crate::listen::{Front, Times};
use crate::tls::Tls;
use crate::transport::{self, Hosts};

/// A listener that has its port.
pub(super) struct Bound {
    listener: TcpListener,
    pub(super) reached: Reached,
}

impl Bound {
    pub(super) async fn bind(config: &Config, tls: bool) -> Result<Self, StartError> {
        let no_port = |why| StartError::Listen { addr: config.listen, why };
        let listener = TcpListener::bind(config.listen).await.map_err(no_port)?;
        let addr = listener.local_addr().map_err(no_port)?;
        let local = local_url(addr, tls);
        let url = match &config.public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => local.clone(),
        };
        // A command beside the host sends its token over no network. With TLS it goes by the public name: the
        // certificate is for that one.
        let local = if tls { url.clone() } else { local };
        Ok(Self { listener, reached: Reached { addr, url, local } })
    }

    /// Serves requests until `stopped` says so.
    pub(super) fn serve(
        self,
        context: &HostContext,
        tls: Option<Arc<Tls>>,
        stopped: watch::Receiver<bool>,
    ) -> JoinHandle<()> {
        let (config, metrics) = (&context.config, context.metrics.clone());
        let Reached { addr, url, .. } = &self.reached;
        let hosts = Hosts::new(*addr, config.public_url.as_deref());
        let seats = ConnectionLimiter::new(&config.settings.limits, metrics.clone());
        let connections = seats.all();
        let cluster = context.cluster.clone();
        let front = Front {
            router: transport::gateway(
                cluster,
                hosts,
                url,
                metrics.clone(),
                context.workspaces.clone(),
                stopped.clone(),
            ),
            full: transport::no_place,
            tls,
            seats,
            times: Times::of(&config.settings.limits, config.pace),
            metrics,
        };
        let server = tokio::spawn(front.serve(self.listener, stopped));
        tracing::info!(%addr, url, connections, "the host is up");
        server
    }
}

/// An address that a client can use, when the host listens on all.
fn reachable(addr: SocketAddr) -> SocketAddr {
    let mut reachable = addr;
    if addr.ip().is_unspecified() {
        reachable.set_ip(match addr {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    reachable
}

fn local_url(addr: SocketAddr, tls: bool) -> String {
    match tls {
        true => format!("https://localhost:{}", addr.port()),
        false => format!("http://{}", reachable(addr)),
    }
}

//! What a name is at the moment of connecting, less all that may not be connected to.

use std::error::Error;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::{fmt, io};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::Semaphore;
use url::Host;

use super::Allowed;

/// Look-ups at once. The system's resolver blocks a thread for each, for as long as a name server likes to keep it
/// waiting, and the host needs threads for other things.
const LOOKUPS: usize = 64;
/// Addresses of a name that are looked at: a name server can send thousands.
const ADDRESSES: usize = 16;

/// All addresses of the name were refused.
#[derive(Debug)]
pub(super) struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name is of no address that may be connected to")
    }
}

impl Error for Refused {}

/// The system's resolver.
#[derive(Clone)]
pub(super) struct System(Arc<Semaphore>);

impl Default for System {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LOOKUPS)))
    }
}

impl Resolve for System {
    fn resolve(&self, name: Name) -> Resolving {
        let turns = self.0.clone();
        Box::pin(async move {
            let turn = turns.acquire_owned().await?;
            let look_up = move || {
                // Kept until the thread is free again, also when nobody waits for the answer any more.
                let _turn = turn;
                (name.as_str(), 0).to_socket_addrs()
            };
            let found = tokio::task::spawn_blocking(look_up).await??;
            Ok(Box::new(found) as Addrs)
        })
    }
}

/// Any resolver, and the check of what it found. A connection is made to what was found here and to nothing else, so that
/// it does not matter what the name says the next time.
pub(super) struct Checked {
    pub inner: Arc<dyn Resolve>,
    pub allowed: Arc<Allowed>,
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = self.allowed.clone();
        let host = name.as_str().to_owned();
        let found = self.inner.resolve(name);
        Box::pin(async move {
            let host = Host::Domain(host.as_str());
            let mut refused = false;
            let permitted = |address: &SocketAddr| {
                let permits = allowed.permits(address.ip(), &host);
                refused |= !permits;
                permits
            };
            let fit: Vec<SocketAddr> = found.await?.take(ADDRESSES).filter(permitted).collect();
            match fit.is_empty() {
                true if refused => Err(Refused.into()),
                true => Err(io::Error::from(io::ErrorKind::NotFound).into()),
                false => Ok(Box::new(fit.into_iter()) as Addrs),
            }
        })
    }
}

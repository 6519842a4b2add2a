//! The hosts of one database: which of them serves the workspace, and the way to it.
//!
//! Any host answers. The one that owns the workspace serves it itself ([`Location::Here`]); every other passes requests
//! on to it over the hosts' own listener ([`forward`], [`listener`]), to whoever proves to have the same keys
//! ([`identity`]). A host whose workspace is a file is the only one there is.
//!
//! Invariant: a request is passed on once. What one host sends to another is answered there or refused.

pub(crate) mod forward;
pub(crate) mod identity;
pub(crate) mod listener;
mod stream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, Response};
use chorus_store::db::Error;
use chorus_store::membership::{Lease, LiveHost, Membership, View};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use identity::Identity;
use serde::{Deserialize, Serialize};
use stream::Connector;
use tokio::sync::watch;

/// How long a connection between hosts may be idle until it is closed.
const IDLE: Duration = Duration::from_secs(60);

/// How long another host may take to answer what this one asks for itself.
const ASKING: Duration = Duration::from_secs(5);
/// How long another host may take to be told something.
const TELLING: Duration = Duration::from_millis(500);

/// Where the workspace is served.
#[derive(Clone)]
pub(crate) enum Location {
    Here(Arc<Local>),
    Elsewhere(Arc<Peer>),
    /// Nowhere, for the moment, and why.
    Nowhere(Arc<str>),
}

/// The workspace is served by this host.
pub(crate) struct Local {
    pub(crate) router: Router,
    pub(crate) lease: Arc<Lease>,
    /// How the operator gets in, for a host that is asked and does not serve it.
    pub(crate) operator: OperatorAccess,
}

/// Makes a token and a link.
pub(crate) type OperatorAccess = Arc<dyn Fn() -> BoxFuture<'static, Option<Access>> + Send + Sync>;

/// What begins the path of what is for a workspace beside the hosts' own.
pub(crate) const BELOW: &str = "/w/";

/// The workspaces beside the hosts' own, for other hosts.
pub(crate) trait Below: Send + Sync {
    /// None where this host does not serve the workspace.
    fn answer(
        self: Arc<Self>,
        request: Request<Body>,
    ) -> BoxFuture<'static, Option<Response<Body>>>;
    /// How the operator of a workspace gets in.
    fn access(self: Arc<Self>, workspace: String) -> BoxFuture<'static, Option<Access>>;
    fn close(self: Arc<Self>, workspace: String) -> BoxFuture<'static, ()>;
}

/// With what the operator gets in.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Access {
    pub(crate) token: String,
    /// Signs in once, within ten minutes.
    pub(crate) link: String,
}

/// The host that owns the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    /// New with each of its starts.
    pub(crate) id: String,
    pub(crate) at: SocketAddr,
    /// Where clients reach it.
    pub(crate) url: String,
}

impl Peer {
    /// None of a program that serves nobody.
    pub(crate) fn of(host: &LiveHost) -> Option<Self> {
        let at = host.peer.parse().ok()?;
        Some(Self { id: host.id.clone(), at, url: host.url.clone() })
    }
}

/// This host among the hosts of its database.
pub(crate) struct Cluster {
    place: watch::Sender<Location>,
    others: Option<Others>,
    /// Whose the keys are that it signs with.
    keys: KeysOf,
}

/// Whose keys a workspace goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeysOf {
    Itself,
    /// Those of the hosts' own workspace, whose operator exchanges them.
    Hosts,
}

/// What a host has whose database others share.
struct Others {
    membership: Membership,
    identity: Arc<ArcSwap<Identity>>,
    client: Client<Connector, Body>,
}

impl Cluster {
    /// A host whose workspace is its own.
    pub(crate) fn single(keys: KeysOf) -> Self {
        Self { place: nowhere(), others: None, keys }
    }

    pub(crate) fn keys(&self) -> KeysOf {
        self.keys
    }

    pub(crate) fn of(membership: Membership, identity: Identity) -> Self {
        let identity = Arc::new(ArcSwap::from_pointee(identity));
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE)
            .build(Connector { identity: identity.clone() });
        let others = Some(Others { membership, identity, client });
        Self { place: nowhere(), others, keys: KeysOf::Itself }
    }

    pub(crate) fn place(&self) -> watch::Receiver<Location> {
        self.place.subscribe()
    }

    pub(crate) fn set(&self, place: Location) {
        self.place.send_modify(|now| *now = place);
    }

    pub(crate) fn membership(&self) -> Option<&Membership> {
        self.others.as_ref().map(|others| &others.membership)
    }

    /// Whether other hosts may own what this one owns now.
    pub(crate) fn is_shared(&self) -> bool {
        self.others.is_some()
    }

    /// Why nobody serves the workspace, for whoever asks at this host.
    pub(crate) fn why_nowhere(&self) -> String {
        let why = match &*self.place.borrow() {
            Location::Nowhere(why) => why.to_string(),
            Location::Here(_) => "this host could not renew its lease".to_owned(),
            Location::Elsewhere(peer) => format!("the host at {} cannot be reached", peer.at),
        };
        self.view().and_then(|view| view.trouble).unwrap_or(why)
    }

    /// Leaves the other hosts. Waits for the database.
    pub(crate) fn leave(&self) {
        if let Some(membership) = self.membership() {
            membership.leave();
        }
    }

    /// How things are among the hosts; none where there can be no other.
    pub(crate) fn view(&self) -> Option<View> {
        self.membership().map(|membership| membership.view().borrow().clone())
    }

    /// Whether other hosts are up.
    pub(crate) fn has_others(&self) -> bool {
        let others =
            |view: View| view.hosts.iter().any(|host| host.id != view.me && !host.peer.is_empty());
        self.view().is_some_and(others)
    }

    /// Looks who owns the workspace, before it is time.
    pub(crate) fn look(&self) {
        if let Some(membership) = self.membership() {
            membership.look();
        }
    }

    /// Has the other hosts look who owns the workspace, so that they take what was handed over at once.
    pub(crate) async fn tell_others(&self) {
        let (Some(others), Some(view)) = (&self.others, self.view()) else { return };
        let peers = view.hosts.iter().filter(|host| host.id != view.me);
        let told = peers.filter_map(|host| host.peer.parse().ok()).map(|at: SocketAddr| {
            let request = Request::post(format!("https://{at}{}", listener::LOOK));
            let request = request.body(Body::empty());
            async move {
                let Ok(request) = request else { return };
                // Who is not reached looks by itself, a little later.
                let _ = tokio::time::timeout(TELLING, others.client.request(request)).await;
            }
        });
        join_all(told).await;
    }

    /// Asks the host that serves the hosts' own workspace, or another, how its operator gets in.
    pub(crate) async fn access(&self, peer: &Peer, workspace: Option<&str>) -> Option<Access> {
        let body = self.ask(peer, listener::ACCESS, workspace).await?;
        serde_json::from_slice(&body).ok()
    }

    /// Has all other hosts close a workspace that they may have open.
    pub(crate) async fn close(&self, workspace: &str) {
        let Some(view) = self.view() else { return };
        let peers: Vec<_> =
            view.hosts.iter().filter(|host| host.id != view.me).filter_map(Peer::of).collect();
        join_all(peers.iter().map(|peer| self.ask(peer, listener::CLOSE, Some(workspace)))).await;
    }

    async fn ask(&self, peer: &Peer, what: &str, workspace: Option<&str>) -> Option<Bytes> {
        let others = self.others.as_ref()?;
        let slash = if workspace.is_some() { "/" } else { "" };
        let workspace = workspace.unwrap_or_default();
        let request = Request::post(format!("https://{}{what}{slash}{workspace}", peer.at));
        let asked = others.client.request(request.body(Body::empty()).ok()?);
        let answer = tokio::time::timeout(ASKING, asked).await.ok()?.ok()?;
        Some(answer.into_body().collect().await.ok()?.to_bytes())
    }

    /// Ends when the hosts' own workspace is served by another host than this one.
    pub(crate) fn moved(&self, peer: &Peer) -> BoxFuture<'static, ()> {
        let (mut place, id) = (self.place(), peer.id.clone());
        async move {
            let left =
                |place: &Location| !matches!(place, Location::Elsewhere(now) if now.id == id);
            // The sender goes with the host.
            let _ = place.wait_for(left).await;
        }
        .boxed()
    }

    /// Ends when another host owns a workspace than this one, or this one is gone.
    pub(crate) fn lost(&self, peer: &Peer, workspace: i64) -> BoxFuture<'static, ()> {
        let (view, id) = (self.membership().map(Membership::view), peer.id.clone());
        async move {
            let Some(mut view) = view else { return };
            let lost = |view: &View| {
                view.host(&id).is_none() || view.owner(workspace).is_some_and(|now| now.id != id)
            };
            let _ = view.wait_for(lost).await;
        }
        .boxed()
    }

    /// Takes other keys; false while other hosts are up, which do not have them.
    pub(crate) async fn rekey(&self, fingerprint: &[u8], secret: [u8; 32]) -> Result<bool, Error> {
        let Some(others) = &self.others else { return Ok(true) };
        let gone = |_| Error::Engine("the host is stopping".to_owned());
        let agreed = others.membership.rekey(fingerprint).await.map_err(gone)??;
        if agreed {
            let failed = |why: rustls::Error| Error::Engine(why.to_string());
            others.identity.store(Arc::new(Identity::of(secret).map_err(failed)?));
        }
        Ok(agreed)
    }
}

fn nowhere() -> watch::Sender<Location> {
    watch::Sender::new(Location::Nowhere("the host is starting".into()))
}

//! Starting and stopping the host, in this process: for `chorus serve`, the demo and the tests alike.
//!
//! What is started: the writer's thread, the dispatcher that distributes what it causes, and the server. They
//! are stopped in the other order: first nobody comes in, then what waits is answered, then the folder is let
//! go.

mod bound;
pub(crate) mod checked;
mod context;
mod dispatchers;
mod engine;
mod error;
mod first;
pub(crate) mod heads;
mod host_file;
mod ownership;
mod retention;
mod serving;
mod stop;
mod tasks;
mod verify;
mod workspaces;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bound::Bound;
use checked::{Checked, Storage};
use chorus_store::membership::{JoinError, Joining, Membership};
use chorus_store::sqlite::Folder;
use chorus_store::{OpenError, Place};
use context::HostContext;
pub use error::StartError;
use futures_util::future::BoxFuture;
use ownership::{Ownership, ended};
pub use serving::Serving;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use workspaces::Common;

use crate::cluster::identity::Identity;
use crate::cluster::{self, Below, Cluster, KeysOf, listener};
use crate::config::Config;
use crate::telemetry::Metrics;
use crate::transport::{self, Hosts};

/// Where a running host says how it is reached, in its data folder.
pub const HOST_FILE: &str = "host.json";
/// The operator's token, in the data folder; whoever can read it runs the room.
pub const OPERATOR_FILE: &str = "operator.token";

/// How long connections may take to end.
const GOODBYE: Duration = Duration::from_secs(3);

/// The host.
pub struct Host;

/// A host at work. It goes on when this is dropped without [`Running::stop`], until the runtime ends.
pub struct Running {
    pub addr: SocketAddr,
    /// How it is reached: the public URL, or the address it listens on; no slash at the end.
    pub url: String,
    /// Signs the operator in, once, for ten minutes. Empty where the operator was removed, and where another host
    /// serves the workspace.
    pub operator_link: String,
    /// The operator's token, as the data folder had it when it started. Empty where the link is.
    pub operator_token: String,
    /// The workspace's public id, where this host serves it.
    pub workspace_id: String,
    /// Where the host is reached that serves the workspace, if that is another.
    pub served_by: Option<String>,
    ownership: Arc<Ownership>,
    data: PathBuf,
    /// How commands beside it reach it, as its file says.
    local: String,
    drain: Duration,
    stop: watch::Sender<bool>,
    server: JoinHandle<()>,
    /// What goes on beside it: keeping the workspace, listening for other hosts, looking at the certificate's files.
    tasks: Vec<JoinHandle<()>>,
}

impl Host {
    /// Opens the folder, listens, and answers. Call it within a tokio runtime.
    // Boxed, so that it is compiled here. A program that awaited it would compile all of the host's tasks again.
    pub fn start(config: Config) -> BoxFuture<'static, Result<Running, StartError>> {
        Box::pin(Self::begin(config))
    }

    async fn begin(config: Config) -> Result<Running, StartError> {
        let Checked { storage, traces, tls, objects } = Checked::of(&config)?;
        if let Some(objects) = &objects {
            objects.check().await.map_err(StartError::Objects)?;
        }
        // A port that another program has ends the start before anything is made.
        let bound = Bound::bind(&config, tls.is_some()).await?;
        let reached = bound.reached.clone();
        let (storage, (cluster, peers, folder)) =
            join_others(&config, storage, &reached.url).await?;
        let metrics = Arc::new(Metrics::default());
        let common =
            Common { config, reached: reached.clone(), metrics, traces, objects: objects.clone() };
        let cluster = Arc::new(cluster);
        let workspaces = workspaces::of(&common, storage.database.as_ref(), &cluster)?;
        let Common { config, metrics, traces, .. } = common;
        let context = HostContext {
            cluster,
            reached: reached.clone(),
            metrics,
            traces,
            objects,
            folder: folder.map(Arc::new),
            links: Arc::default(),
            workspaces: Some(workspaces.clone()),
            connections: None,
            storage_mib: 0,
            may_begin: true,
            config,
        };
        let (stop, stopped) = watch::channel(false);
        let mut tasks = Vec::new();
        if let Some(peers) = peers {
            let cluster = context.cluster.clone();
            let below = Some(workspaces.clone() as Arc<dyn Below>);
            tasks.push(tokio::spawn(listener::serve(peers, cluster, below, stopped.clone())));
        }
        let ownership = Ownership {
            context,
            serving: watch::Sender::new(None),
            ends: watch::Sender::new(false),
        };
        if let Err(why) = ownership.begin(storage).await {
            let _ = stop.send(true);
            ownership.context.cluster.leave();
            if let Some(folder) = ownership.folder() {
                folder.take_back();
            }
            return Err(why);
        }
        let ownership = Arc::new(ownership);
        let context = &ownership.context;
        let data = context.config.data.clone();
        // Before the first answer, so that whoever sees the host up finds it by its folder. Before anything that can do
        // without space, where there is little.
        host_file::write(&data, &reached.local)?;
        tasks.push(tokio::spawn(ownership.clone().run()));
        tasks.push(tokio::spawn(workspaces.sweep(stopped.clone())));
        tasks.extend(tls.clone().map(|tls| tokio::spawn(tls.watch())));
        let server = bound.serve(context, tls, stopped);
        let serving = ownership.serving.borrow().clone();
        let served_by = match &*context.cluster.place().borrow() {
            cluster::Location::Elsewhere(peer) => Some(peer.url.clone()),
            _ => None,
        };
        let link = serving.as_ref().map(|serving| serving.link()).transpose()?;
        let token = serving.as_ref().map(|serving| serving.token.clone());
        let workspace_id = serving.map(|serving| serving.app.shared.workspace_id.to_string());
        Ok(Running {
            addr: reached.addr,
            url: reached.url,
            operator_link: link.unwrap_or_default(),
            operator_token: token.unwrap_or_default(),
            workspace_id: workspace_id.unwrap_or_default(),
            served_by,
            data,
            local: reached.local,
            drain: Duration::from_secs(context.config.settings.basics.drain_seconds),
            stop,
            server,
            tasks,
            ownership,
        })
    }
}

/// Joins the others. Of hosts that begin at once in one folder of keys one makes them, and the others wait for those.
async fn join_others(
    config: &Config,
    mut storage: Storage,
    url: &str,
) -> Result<(Storage, Joined), StartError> {
    let began = Instant::now();
    loop {
        match join(config, &storage, url).await {
            Err(StartError::OtherKeys(_))
                if storage.keys.are_new() && began.elapsed() < FOR_KEYS =>
            {
                tokio::time::sleep(LOOK_FOR_KEYS).await;
                storage = Storage::of(config)?;
            }
            joined => return joined.map(|joined| (storage, joined)),
        }
    }
}

/// How a host is among the others, its listener for them, and its data folder.
type Joined = (Cluster, Option<TcpListener>, Option<Folder>);

/// How long a host without keys waits for those that another one is making, and how often it looks.
const FOR_KEYS: Duration = Duration::from_secs(5);
const LOOK_FOR_KEYS: Duration = Duration::from_millis(100);

/// Joins the hosts of the database, where it is one that can have several; with the listener for the others, and the data
/// folder, which this host holds also while it serves nothing.
async fn join(config: &Config, storage: &Storage, url: &str) -> Result<Joined, StartError> {
    let Some(address) = storage.database.clone() else {
        return Ok((Cluster::single(KeysOf::Itself), None, None));
    };
    let folder =
        Folder::hold(&config.data).map_err(|why| StartError::Store(OpenError::Folder(why)))?;
    let joined = async {
        let none = folder.must_have_no_database();
        none.map_err(|why| StartError::Store(OpenError::Folder(why)))?;
        let settings = &config.settings.hosts;
        let at = settings.listen.unwrap_or_else(|| SocketAddr::new(address.nearest_ip(), 0));
        let no_port = |why| StartError::ListenForHosts { addr: at, why };
        let peers = TcpListener::bind(at).await.map_err(no_port)?;
        let identity = Identity::of(storage.keys.peer_secret());
        let identity =
            identity.map_err(|why| StartError::Lost(format!("no key for hosts: {why}")))?;
        let joining = Joining {
            peer: peers.local_addr().map_err(no_port)?.to_string(),
            url: url.to_owned(),
            keys: storage.keys.fingerprint().to_vec(),
            lease: settings.lease.0,
        };
        let membership = Membership::join(&address, joining).map_err(|why| match why {
            JoinError::OtherKeys => StartError::OtherKeys(first::other_keys(&storage.key_folder)),
            JoinError::Database(why) => {
                let place = Place::Postgres(address.clone());
                StartError::Store(OpenError::Database { place, why })
            }
        })?;
        Ok((Cluster::of(membership, identity), peers))
    };
    match joined.await {
        Ok((cluster, peers)) => Ok((cluster, Some(peers), Some(folder))),
        Err(why) => {
            folder.take_back();
            Err(why)
        }
    }
}

impl Running {
    /// The workspace, while this host serves it.
    pub fn serving(&self) -> Option<Arc<Serving>> {
        self.ownership.serving.borrow().clone()
    }

    /// Another MCP server at `/mcp` over this host's own transport, for tests of the transport: its guard, limits
    /// and sessions, and `token` for who brings none. Whoever calls serves it.
    #[doc(hidden)]
    pub fn mcp_fixture<S: rmcp::handler::server::ServerHandler>(
        &self,
        token: String,
        handler: impl Fn() -> S + Send + Sync + 'static,
    ) -> Option<axum::Router> {
        let hosts = Hosts::new(self.addr, None);
        let serving = self.serving()?;
        let (app, stopped) = (serving.app.clone(), serving.stop.subscribe());
        Some(transport::mcp_fixture(app, hosts, token, handler, stopped))
    }

    /// Waits until all that was committed by now can be searched; false when that takes too long.
    pub async fn searchable(&self, within: Duration) -> bool {
        let Some(serving) = self.serving() else { return false };
        let hints = &serving.app.shared.searching.hints;
        hints.look_everywhere();
        hints.caught_up(within).await
    }

    /// Returns when the writer has ended by itself, and why: nothing can be written until the host is started anew. A host
    /// on a database goes on, and opens the workspace again, or leaves it to another.
    pub async fn broken(&self) -> String {
        let alone = self.ownership.context.cluster.membership().is_none();
        match self.serving().filter(|_| alone) {
            Some(serving) => ended(&serving).await,
            None => std::future::pending().await,
        }
    }

    /// Waits until all logs were walked since the start, for tests.
    #[doc(hidden)]
    pub async fn verified(&self) {
        if let Some(serving) = self.serving() {
            serving.verified().await;
        }
    }

    /// A clock that is set by hand has moved: what is due is done now.
    pub fn tick(&self) {
        if let Some(serving) = self.serving() {
            serving.writer.tick();
            serving.app.shared.clock.notify();
        }
    }
}

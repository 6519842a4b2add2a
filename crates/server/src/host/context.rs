//! What a host has as long as it runs, whether it serves the workspace or not.

use std::net::SocketAddr;
use std::sync::Arc;

use chorus_store::Connections;
use chorus_store::sqlite::Folder;

use crate::auth::SignInLinks;
use crate::cluster::Cluster;
use crate::config::Config;
use crate::objects::Objects;
use crate::telemetry::Metrics;
use crate::traces::Traces;
use crate::workspaces::Workspaces;

/// What is the same each time that this host begins to serve the workspace.
pub(super) struct HostContext {
    pub(super) config: Config,
    pub(super) cluster: Arc<Cluster>,
    pub(super) reached: Reached,
    pub(super) metrics: Arc<Metrics>,
    pub(super) traces: Arc<Traces>,
    /// The store for the bytes of larger files, if there is one.
    pub(super) objects: Option<Arc<Objects>>,
    /// The data folder, where the host holds it also while it serves nothing.
    pub(super) folder: Option<Arc<Folder>>,
    /// Links that sign somebody in.
    pub(super) links: Arc<SignInLinks>,
    /// The workspaces beside the host's own; none of one of those.
    pub(super) workspaces: Option<Arc<Workspaces>>,
    /// The connections to the database, where the workspace shares them with others.
    pub(super) connections: Option<Connections>,
    /// What the workspace may store, in MiB; 0 is no limit.
    pub(super) storage_mib: u64,
    /// Whether the workspace may be made where there is none.
    pub(super) may_begin: bool,
}

/// Where the host is reached.
#[derive(Clone)]
pub(super) struct Reached {
    pub(super) addr: SocketAddr,
    /// How others reach the host: the public URL, or the address; no slash at the end.
    pub(super) url: String,
    /// How commands on this machine reach it.
    pub(super) local: String,
}

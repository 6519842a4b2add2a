//! Workspaces beside the host's own: how each is opened, below its own address.

use std::path::PathBuf;
use std::sync::Arc;

use chorus_core::model::workspace_name::WorkspaceName;
use chorus_store::Connections;
use chorus_store::catalog::Catalog;
use chorus_store::postgres::Address;
use chorus_store::sqlite::Folder;
use futures_util::FutureExt;

use super::StartError;
use super::checked::Storage;
use super::context::{HostContext, Reached};
use super::serving::Serving;
use crate::cluster::{Cluster, KeysOf};
use crate::config::{Config, Settings};
use crate::objects::Objects;
use crate::telemetry::Metrics;
use crate::traces::Traces;
use crate::workspaces::{Allowance, Keeping, Opening, PREFIX, Served, Workspaces};

/// What a host has for all its workspaces.
#[derive(Clone)]
pub(super) struct Common {
    pub(super) config: Config,
    pub(super) reached: Reached,
    pub(super) metrics: Arc<Metrics>,
    pub(super) traces: Arc<Traces>,
    pub(super) objects: Option<Arc<Objects>>,
}

/// The workspaces beside the own one of a host.
pub(super) fn of(
    common: &Common,
    database: Option<&Arc<Address>>,
    cluster: &Arc<Cluster>,
) -> Result<Arc<Workspaces>, StartError> {
    let Common { config, metrics, .. } = common;
    let catalog = match database {
        None => Catalog::open(&config.data, config.clock.now()).map_err(StartError::Workspaces)?,
        Some(address) => Catalog::shared(&config.data, address),
    };
    let settings = &config.settings.workspaces;
    let keeping = Keeping {
        open: settings.open,
        idle: settings.idle.0,
        grace: settings.grace.0,
        allowance: Allowance {
            connections: settings.connections,
            requests_per_second: settings.requests_per_second,
            requests_burst: settings.requests_burst,
            cpu_percent: settings.cpu_percent,
            storage_mib: settings.storage_mib,
        },
    };
    let objects = common.objects.clone();
    let connections = database.map(|address| Connections::of(address, config.sync));
    let common = common.clone();
    let open = move |opening: Opening| {
        let (common, connections) = (common.clone(), connections.clone());
        async move {
            // Opening reads and writes files, which nobody else is to wait for.
            let runtime = tokio::runtime::Handle::current();
            let open = move || runtime.block_on(open(&common, connections, opening));
            let opened = tokio::task::spawn_blocking(open);
            let served = opened.await.map_err(|_| "opening it panicked".to_owned())?;
            served.map(|served| served as Arc<dyn Served>).map_err(|why| why.to_string())
        }
        .boxed()
    };
    let (clock, metrics) = (config.clock.clone(), metrics.clone());
    let (cluster, open) = (cluster.clone(), Box::new(open));
    let workspaces = Workspaces::new(catalog, cluster, clock, keeping, metrics, objects, open);
    Ok(Arc::new(workspaces))
}

async fn open(
    common: &Common,
    connections: Option<Connections>,
    opening: Opening,
) -> Result<Arc<Serving>, StartError> {
    let Opening { entry, storage_mib, folder, links, owned } = opening;
    if owned.is_none() && entry.is_made && !Folder::database_in(&folder).exists() {
        let why = format!(
            "its folder {} or the database in it is gone; put it back, or delete the workspace",
            folder.display()
        );
        return Err(StartError::Lost(why));
    }
    let context = HostContext {
        links,
        connections,
        may_begin: !entry.is_made,
        storage_mib,
        ..common.of_workspace(&entry.name, folder)
    };
    let storage = Storage::of(&context.config)?;
    context.serve(storage, owned).await
}

impl Common {
    /// The same for one of its workspaces. What is said of who may sign in holds for the host's own workspace alone.
    fn of_workspace(&self, name: &WorkspaceName, data: PathBuf) -> HostContext {
        let below = |url: &str| format!("{url}{PREFIX}{name}");
        let Self { config, reached, metrics, traces, objects } = self.clone();
        let mut settings = Settings { issuers: Default::default(), ..config.settings };
        if let Some(folder) = &mut settings.retention.archive_dir {
            folder.push(&**name);
        }
        // Hosts of one database have the same keys, and for all workspaces: what is signed names its workspace.
        let (keys, keys_of) = match config.database {
            None => (None, KeysOf::Itself),
            Some(_) => {
                (Some(config.keys.unwrap_or_else(|| config.data.join("keys"))), KeysOf::Hosts)
            }
        };
        let config = Config {
            data,
            keys,
            public_url: config.public_url.as_deref().map(|url| below(url.trim_end_matches('/'))),
            workspace: name.to_string(),
            settings,
            ..config
        };
        let reached =
            Reached { addr: reached.addr, url: below(&reached.url), local: below(&reached.local) };
        HostContext {
            config,
            cluster: Arc::new(Cluster::single(keys_of)),
            reached,
            metrics,
            traces,
            objects,
            folder: None,
            links: Arc::default(),
            workspaces: None,
            connections: None,
            storage_mib: 0,
            may_begin: true,
        }
    }
}

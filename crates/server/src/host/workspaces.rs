//! Workspaces beside the host's own: how each is opened, from its own folder and below its own address.

use std::sync::Arc;

use chorus_core::model::workspace_name::WorkspaceName;
use chorus_store::catalog::{Catalog, Entry, folder_of};
use chorus_store::sqlite::Folder;
use futures_util::FutureExt;

use super::StartError;
use super::checked::Storage;
use super::context::{HostContext, Reached};
use super::serving::Serving;
use crate::auth::SignInLinks;
use crate::cluster::Cluster;
use crate::config::{Config, Settings};
use crate::telemetry::Metrics;
use crate::traces::Traces;
use crate::workspaces::{Keeping, PREFIX, Served, Workspaces};

/// What a host has for all its workspaces.
#[derive(Clone)]
pub(super) struct Common {
    pub(super) config: Config,
    pub(super) reached: Reached,
    pub(super) metrics: Arc<Metrics>,
    pub(super) traces: Arc<Traces>,
}

/// The workspaces of a host on a folder. One on a database has none.
pub(super) fn of(common: &Common) -> Result<Option<Arc<Workspaces>>, StartError> {
    let Common { config, metrics, .. } = common;
    if config.database.is_some() {
        return Ok(None);
    }
    let catalog = Catalog::open(&config.data, config.clock.now());
    let catalog = catalog.map_err(StartError::Workspaces)?;
    let settings = &config.settings.workspaces;
    let keeping = Keeping { open: settings.open, idle: settings.idle.0, grace: settings.grace.0 };
    let common = common.clone();
    let open = move |entry: Entry, links: Arc<SignInLinks>| {
        let common = common.clone();
        async move {
            // Opening reads and writes files, which nobody else is to wait for.
            let runtime = tokio::runtime::Handle::current();
            let opened =
                tokio::task::spawn_blocking(move || runtime.block_on(open(&common, &entry, links)));
            let served = opened.await.map_err(|_| "opening it panicked".to_owned())?;
            served.map(|served| served as Arc<dyn Served>).map_err(|why| why.to_string())
        }
        .boxed()
    };
    let (clock, metrics) = (config.clock.clone(), metrics.clone());
    Ok(Some(Arc::new(Workspaces::new(catalog, clock, keeping, metrics, Box::new(open)))))
}

async fn open(
    common: &Common,
    entry: &Entry,
    links: Arc<SignInLinks>,
) -> Result<Arc<Serving>, StartError> {
    let context = common.of_workspace(&entry.name, links);
    let data = &context.config.data;
    if entry.is_made && !Folder::database_in(data).exists() {
        let why = format!(
            "its folder {} or the database in it is gone; put it back, or delete the workspace",
            data.display()
        );
        return Err(StartError::Lost(why));
    }
    let storage = Storage::of(&context.config)?;
    context.serve(storage, None).await
}

impl Common {
    /// The same for one of its workspaces. What is said of who may sign in holds for the host's own workspace alone.
    fn of_workspace(&self, name: &WorkspaceName, links: Arc<SignInLinks>) -> HostContext {
        let below = |url: &str| format!("{url}{PREFIX}{name}");
        let Self { config, reached, metrics, traces } = self.clone();
        let mut settings = Settings { issuers: Default::default(), ..config.settings };
        if let Some(folder) = &mut settings.retention.archive_dir {
            folder.push(&**name);
        }
        let config = Config {
            data: folder_of(&config.data, name),
            keys: None,
            public_url: config.public_url.as_deref().map(|url| below(url.trim_end_matches('/'))),
            workspace: name.to_string(),
            settings,
            ..config
        };
        let reached =
            Reached { addr: reached.addr, url: below(&reached.url), local: below(&reached.local) };
        HostContext {
            config,
            cluster: Arc::new(Cluster::single()),
            reached,
            metrics,
            traces,
            folder: None,
            links,
            workspaces: None,
        }
    }
}

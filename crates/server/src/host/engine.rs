//! What stands behind the transports: the store with its writer, the dispatcher of what commands cause, and the
//! capabilities over both.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::ids::Prefix;
use chorus_store::db::Error;
use chorus_store::membership::{Lease, Owned};
use chorus_store::search::{Index, Search};
use chorus_store::{OpenError, Options, Readers, Store};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::checked::Storage;
use super::context::HostContext;
use super::{OPERATOR_FILE, StartError, first};
use crate::auth::Auth;
use crate::config::Config;
use crate::dispatch::channel_count::ChannelCount;
use crate::dispatch::connections::Connections;
use crate::dispatch::erased::ErasedEvents;
use crate::dispatch::feed::Feed;
use crate::dispatch::hiring::{Due, JOBS};
use crate::dispatch::replies::pending::Replies;
use crate::dispatch::webhook::state::Webhooks;
use crate::dispatch::{Dispatcher, Made, Sink};
use crate::indexer::Hints;
use crate::limits::Limits;
use crate::services::clock::HostClock;
use crate::services::copies::PARTIAL;
use crate::services::digests::{DIGESTS, Scribe};
use crate::services::quotas::Quotas;
use crate::services::retention::Rules;
use crate::services::search::Searching;
use crate::services::{App, Shared};
use crate::telemetry::Metrics;

/// The writer and the dispatcher are at work.
pub(super) struct Engine {
    pub(super) app: Arc<App>,
    pub(super) dispatcher: JoinHandle<()>,
}

/// What the background tasks go on with.
pub(super) struct Pending {
    /// Digests that were made and are to be told.
    pub(super) digests: mpsc::Receiver<Made>,
    /// Jobs that are to be posted.
    pub(super) jobs: mpsc::Receiver<Due>,
    /// The search index, which one thread keeps.
    pub(super) index: Index,
    /// Changes with the directory.
    pub(super) members_moved: watch::Receiver<()>,
}

impl Engine {
    pub(super) fn start(
        context: &HostContext,
        storage: Storage,
        owned: Option<Owned>,
    ) -> Result<(Self, Pending), StartError> {
        let HostContext { config, reached, metrics, traces, cluster, .. } = context;
        let settings = &config.settings;
        let webhooks =
            Webhooks::open(&settings.webhook, &storage.roots, (reached.addr.ip(), &reached.url))
                .map_err(StartError::Egress)?;
        let options = Options {
            owned: owned.as_ref().map(|owned| owned.epoch),
            folder: context.folder.clone(),
            connections: context.connections.clone(),
            may_begin: context.may_begin && !config.data.join(OPERATOR_FILE).exists(),
            ..options(config, &storage)
        };
        let place = options.place();
        let (store, keys) = first::open(options, storage.keys)?;
        // What a backup that was interrupted has left. The folder is ours alone now.
        chorus_store::backup::remove(&config.data.join(PARTIAL));
        let workspace = store.tenant().uid;
        let workspace_name = store.tenant().name.to_string();
        let workspace_id: Arc<str> = workspace.show(Prefix::Workspace).into();
        let directory = Arc::new(ArcSwap::from_pointee(store.directory().clone()));
        report(metrics, &store);
        let lease = owned.map_or_else(Lease::unlimited, |owned| owned.lease);
        let gone = Arc::new(ErasedEvents::default());
        let (connections, channel_count) =
            (Arc::<Connections>::default(), Arc::<ChannelCount>::default());
        let hints = Arc::new(Hints::default());
        let (sink, batches, overflowed) =
            Sink::new(directory.clone(), connections.clone(), channel_count.clone(), hints.clone());
        let members_moved = sink.moved();
        let (writer, readers) =
            store.start(Box::new(move |effects| sink.put(effects))).map_err(StartError::Store)?;
        // Before anything can be made.
        count(&channel_count, &readers, config).map_err(|why| {
            // It holds the folder until it ends.
            writer.stop();
            StartError::Store(OpenError::Database { place: place.clone(), why })
        })?;
        let (search, index) = Search::of(&config.data, workspace);
        let (digests, made) = mpsc::channel(DIGESTS);
        let (jobs, posted) = mpsc::channel(JOBS);
        let hiring = Arc::new(settings.registry.hiring());
        let (moved, lists) = watch::channel(());
        let (feed, replies) = (Arc::<Feed>::default(), Arc::<Replies>::default());
        let dispatcher = Dispatcher {
            lists: moved,
            digests,
            jobs,
            hiring: hiring.clone(),
            batches,
            overflowed,
            replies: replies.clone(),
            directory: directory.clone(),
            connections: connections.clone(),
            feed: feed.clone(),
            metrics: metrics.clone(),
            traces: traces.clone(),
            workspace_id: workspace_id.clone(),
        };
        let dispatcher = tokio::spawn(dispatcher.run());
        let app = Arc::new(App::new(Shared {
            auth: Arc::new(
                Auth::new(workspace, keys).trusting(&settings.issuers).leased(lease.clone()),
            ),
            body_time: Duration::from_secs(settings.limits.body_seconds),
            budgets: settings.budget.budgets(),
            channel_count,
            clock: Arc::new(HostClock::new(config.clock.clone())),
            cluster: cluster.clone(),
            connections,
            data: config.data.as_path().into(),
            directory,
            directory_moved: members_moved.clone(),
            drain: Default::default(),
            feed,
            flow: settings.attention.settings(),
            gone,
            hiring,
            id_generator: Arc::new(storage.id_generator),
            limits: Arc::new(Limits::new(&settings.limits)),
            lease,
            links: context.links.clone(),
            lists,
            metrics: metrics.clone(),
            objects: context.objects.clone(),
            pace: config.pace,
            place,
            public_url: reached.url.as_str().into(),
            quotas: Arc::new(Quotas::new(&settings.limits, context.storage_mib)),
            readers,
            redactor: Arc::new(settings.redaction.redactor()),
            replies,
            rules: Arc::new(Rules {
                keep: settings.retention.keep,
                archive: settings.retention.archive_dir.clone(),
            }),
            searching: Arc::new(Searching { index: search, hints }),
            sensitive: settings.approvals.tools().into(),
            summaries: Arc::new(Scribe::new(
                settings.threads.summary_command.clone(),
                settings.threads.summary_timeout.0,
            )),
            traces: traces.clone(),
            typing: Default::default(),
            webhooks: Arc::new(webhooks),
            workspace_id,
            workspace_name: workspace_name.into(),
            workspaces: context.workspaces.clone(),
            writer,
        }));
        Ok((
            Self { app, dispatcher },
            Pending { digests: made, index, jobs: posted, members_moved },
        ))
    }
}

fn options(config: &Config, storage: &Storage) -> Options {
    let settings = &config.settings;
    let digest = &settings.digest;
    Options {
        database: storage.database.clone(),
        sync: config.sync,
        batching: !config.dangerous_no_batching,
        slower_sync: config.dangerous_slow_sync,
        name: config.workspace.clone(),
        budgets: settings.budget.budgets(),
        digests: digest.enabled.then(|| digest.every.ms()),
        approvals: settings.approvals.rules(),
        flow: settings.attention.settings(),
        deferral: settings.deadlines.defer.ms(),
        keep: settings.retention.keep,
        clock: config.clock.clone(),
        ..Options::new(&config.data, storage.uid)
    }
}

/// Counts and tells what was repaired when the store was opened.
fn report(metrics: &Metrics, store: &Store) {
    for repair in store.repairs() {
        metrics.repaired(repair.part);
        tracing::warn!(part = repair.part.name(), "mended at the start: {repair}");
    }
}

fn count(channels: &ChannelCount, readers: &Readers, config: &Config) -> Result<(), Error> {
    channels.set(readers.count(ConversationKind::Channel)?, config.clock.now());
    Ok(())
}

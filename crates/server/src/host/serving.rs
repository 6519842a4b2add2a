//! Serving a workspace: its store, its services and what goes on in the background, from the moment this host owns it
//! until it lets it go.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use axum::Router;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Timestamp;
use chorus_store::membership::{Epoch, Owned};
use chorus_store::{Readers, Writer};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::checked::Storage;
use super::context::HostContext;
use super::engine::{Engine, Pending};
use super::verify::Verifier;
use super::{GOODBYE, StartError, first, heads, tasks};
use crate::cluster::{Access, Cluster, Local, Location, OperatorAccess};
use crate::dispatch::connections::STOPPING;
use crate::services::App;
use crate::services::copies::PARTIAL;
use crate::services::digests::Scribe;
use crate::transport::{self, Hosts};
use crate::workspaces::Served;

/// How often it is looked whether the last request was answered.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A workspace that this host serves.
pub struct Serving {
    /// The writer and readers of its store, for tests and benchmarks; everybody else uses the transports.
    pub writer: Writer,
    pub readers: Readers,
    pub(super) app: Arc<App>,
    pub(super) epoch: Option<Epoch>,
    pub(super) token: String,
    pub(super) stop: watch::Sender<bool>,
    router: Router,
    /// Until it ends.
    threads: Mutex<Option<Threads>>,
}

struct Threads {
    dispatcher: JoinHandle<()>,
    indexer: thread::JoinHandle<()>,
    verifier: Verifier,
}

/// None where the member was removed.
async fn operator_access(app: Arc<App>) -> Result<Option<Access>, Refusal> {
    let Some(member) = app.operator.operator().await? else { return Ok(None) };
    let token = app.operator.token(&member).await?;
    let link = app.sign_ins.link_of_operator(&member)?;
    Ok(Some(Access { token, link }))
}

impl HostContext {
    /// Opens the store and begins to serve it; nobody is let in yet.
    pub(super) async fn serve(
        &self,
        storage: Storage,
        owned: Option<Owned>,
    ) -> Result<Arc<Serving>, StartError> {
        let epoch = owned.as_ref().map(|owned| owned.epoch);
        let (engine, pending) = Engine::start(self, storage, owned)?;
        let writer = engine.app.shared.writer.clone();
        let begun = self.begin(engine, pending, epoch).await;
        if begun.is_err() {
            // It holds the folder until it ends.
            let _ = tokio::task::spawn_blocking(move || writer.stop()).await;
        }
        begun
    }

    async fn begin(
        &self,
        engine: Engine,
        pending: Pending,
        epoch: Option<Epoch>,
    ) -> Result<Arc<Serving>, StartError> {
        let config = &self.config;
        let app = &engine.app;
        let digest = &config.settings.digest;
        let scribe = Scribe::new(digest.command.clone(), digest.timeout.0);
        tokio::spawn(app.digests.clone().tell_digests(pending.digests, scribe));
        let token = first::operator_token(&app.operator, &config.data).await?;
        let (stop, stopped) = watch::channel(false);
        let (indexer, verifier) = tasks::threads(app, pending.index)?;
        heads::look(app, &config.data).await;
        tasks::start(config, app, pending.jobs, pending.members_moved, &stopped);
        let hosts = Hosts::new(self.reached.addr, config.public_url.as_deref());
        Ok(Arc::new(Serving {
            writer: app.shared.writer.clone(),
            readers: app.shared.readers.clone(),
            epoch,
            token: token.unwrap_or_default(),
            router: transport::router(app.clone(), hosts, stopped),
            stop,
            threads: Mutex::new(Some(Threads { dispatcher: engine.dispatcher, indexer, verifier })),
            app: engine.app,
        }))
    }
}

impl Serving {
    /// A link that signs the operator in; empty where there is no operator.
    pub(super) fn link(&self) -> Result<String, StartError> {
        first::sign_in_link(&self.app, !self.token.is_empty())
    }

    /// Lets requests in.
    pub(super) fn open(&self, cluster: &Cluster) {
        let app = self.app.clone();
        let operator: OperatorAccess = Arc::new(move || {
            let access = operator_access(app.clone());
            async move { access.await.ok().flatten() }.boxed()
        });
        let lease = self.app.shared.lease.clone();
        cluster.set(Location::Here(Arc::new(Local {
            router: self.router.clone(),
            lease,
            operator,
        })));
    }

    /// Takes no more requests, answers those under way, and tells sessions to come back.
    pub(super) async fn drain(&self, within: Duration) {
        let shared = &self.app.shared;
        let until = Instant::now() + within;
        tracing::info!(
            under_way = shared.drain.under_way(),
            sessions = shared.connections.len(),
            "draining"
        );
        shared.drain.begin();
        shared.feed.close();
        for connection in shared.connections.all() {
            connection.close(STOPPING);
        }
        while shared.drain.under_way() + shared.connections.len() > 0 && Instant::now() < until {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let _ = self.stop.send(true);
    }

    /// Writes what is open, and lets the store go.
    pub(super) async fn end(&self) {
        let _ = self.stop.send(true);
        let shared = &self.app.shared;
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Threads { dispatcher, indexer, verifier }) = threads else { return };
        shared.searching.hints.stop();
        let (writer, verifier) = (self.writer.clone(), verifier.end());
        let stopped = tokio::task::spawn_blocking(move || {
            // First who reads: the write-ahead log is copied back whole only while nobody does.
            let joined = indexer.join().and(verifier.join());
            writer.stop();
            joined
        });
        let stopped = stopped.await.map_err(drop).and_then(|joined| joined.map_err(drop));
        if stopped.is_err() {
            tracing::error!("the writer, or who keeps the index, could not be stopped");
        }
        // The sink went with the writer's thread, and the dispatcher ends with it.
        if tokio::time::timeout(GOODBYE, dispatcher).await.is_err() {
            tracing::warn!("the dispatcher did not end");
        }
        chorus_store::backup::remove(&shared.data.join(PARTIAL));
    }

    /// Waits until all logs were walked since the start, for tests.
    pub(super) async fn verified(&self) {
        let rounds = {
            let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            threads.as_ref().map(|threads| threads.verifier.rounds())
        };
        if let Some(mut rounds) = rounds {
            // It fails when the thread has ended, and then there is nothing to wait for.
            let _ = rounds.wait_for(|rounds| *rounds > 0).await;
        }
    }
}

impl Served for Serving {
    fn router(&self) -> Router {
        self.router.clone()
    }

    fn ended(&self) -> Option<String> {
        self.writer.ended()
    }

    fn trouble(&self) -> Option<String> {
        self.app.ready().err().or_else(|| self.app.shared.quotas.why_full())
    }

    fn is_idle(&self) -> bool {
        let shared = &self.app.shared;
        let now = self.app.now();
        let endpoints = self.app.active_endpoints();
        shared.drain.under_way() == 0
            && shared.feed.followers() == 0
            && shared.webhooks.are_idle(&endpoints, &shared.connections, now)
    }

    fn connections(&self) -> usize {
        self.app.shared.connections.len()
    }

    fn written(&self) -> Duration {
        Duration::from_micros(self.writer.stats().cpu_us)
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.writer.next_due()
    }

    fn access(&self) -> BoxFuture<'static, Result<Option<Access>, Refusal>> {
        operator_access(self.app.clone()).boxed()
    }

    fn close(&self, within: Duration) -> BoxFuture<'_, ()> {
        async move {
            self.drain(within).await;
            self.end().await;
        }
        .boxed()
    }
}

//! Starting and stopping the host, in this process: for `chorus serve`, the demo and the tests alike.
//!
//! What is started: the writer's thread, the dispatcher that distributes what it causes, and the server. They
//! are stopped in the other order: first nobody comes in, then what waits is answered, then the folder is let
//! go.

mod bound;
pub(crate) mod checked;
mod dispatchers;
mod engine;
mod error;
mod first;
pub(crate) mod heads;
mod host_file;
mod retention;
mod stop;
mod tasks;
mod verify;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bound::Bound;
use checked::Checked;
use chorus_store::{Readers, Writer};
use engine::Engine;
pub use error::StartError;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::config::Config;
use crate::services::App;
use crate::services::digests::Scribe;
use crate::transport::{self, Hosts};

/// Where a running host says how it is reached, in its data folder.
pub const HOST_FILE: &str = "host.json";
/// The operator's token, in the data folder; whoever can read it runs the room.
pub const OPERATOR_FILE: &str = "operator.token";

/// How often it is looked whether the writer has ended by itself.
const WRITER_CHECK: Duration = Duration::from_millis(250);
/// How long connections may take to end.
const GOODBYE: Duration = Duration::from_secs(3);

/// The host.
pub struct Host;

/// A host at work. It goes on when this is dropped without [`Running::stop`], until the runtime ends.
pub struct Running {
    pub addr: SocketAddr,
    /// How it is reached: the public URL, or the address it listens on; no slash at the end.
    pub url: String,
    /// Signs the operator in, once, for ten minutes. Empty where the operator was removed.
    pub operator_link: String,
    /// The operator's token, as the data folder had it when it started. Empty where the operator was removed.
    pub operator_token: String,
    /// The workspace's public id.
    pub workspace_id: String,
    /// The writer and readers of its store, for tests and benchmarks; everybody else uses the transports.
    pub writer: Writer,
    pub readers: Readers,
    app: Arc<App>,
    data: PathBuf,
    /// How commands beside it reach it, as its file says.
    local: String,
    drain: Duration,
    stop: watch::Sender<bool>,
    server: JoinHandle<()>,
    dispatcher: JoinHandle<()>,
    indexer: std::thread::JoinHandle<()>,
    verifier: verify::Verifier,
    /// Looks at the certificate's files.
    watching: Option<JoinHandle<()>>,
}

impl Host {
    /// Opens the folder, listens, and answers. Call it within a tokio runtime.
    pub async fn start(config: Config) -> Result<Running, StartError> {
        let checked = Checked::of(&config)?;
        // A port that another program has ends the start before anything is made.
        let bound = Bound::bind(&config, checked.tls.is_some()).await?;
        let (engine, pending) = Engine::start(&config, checked.storage, &bound)?;
        let app = &engine.app;
        let digest = &config.settings.digest;
        let scribe = Scribe::new(digest.command.clone(), digest.timeout.0);
        tokio::spawn(app.digests.clone().tell_digests(pending.digests, scribe));
        let operator_token = first::operator_token(&app.operator, &config.data).await?;
        let operator_link = first::sign_in_link(app, operator_token.is_some())?;
        // Before the first answer, so that whoever sees the host up finds it by its folder. Before anything that can do
        // without space, where there is little.
        host_file::write(&config.data, &bound.local)?;
        let (stop, stopped) = watch::channel(false);
        let (indexer, verifier) = tasks::threads(app, pending.index)?;
        heads::look(app, &config.data).await;
        tasks::start(&config, app, pending.jobs, pending.members_moved, &stopped);
        let watching = checked.tls.clone().map(|tls| tokio::spawn(tls.watch()));
        let (addr, url, local) = (bound.addr, bound.url.clone(), bound.local.clone());
        let server = bound.serve(&config, app, checked.tls, stopped);
        Ok(Running {
            addr,
            url,
            operator_link,
            operator_token: operator_token.unwrap_or_default(),
            workspace_id: app.shared.workspace_id.to_string(),
            writer: app.shared.writer.clone(),
            readers: app.shared.readers.clone(),
            app: engine.app,
            data: config.data,
            local,
            drain: Duration::from_secs(config.settings.basics.drain_seconds),
            stop,
            server,
            dispatcher: engine.dispatcher,
            indexer,
            verifier,
            watching,
        })
    }
}

impl Running {
    /// Another MCP server at `/mcp` over this host's own transport, for tests of the transport: its guard, limits
    /// and sessions, and `token` for who brings none. Whoever calls serves it.
    #[doc(hidden)]
    pub fn mcp_fixture<S: rmcp::handler::server::ServerHandler>(
        &self,
        token: String,
        handler: impl Fn() -> S + Send + Sync + 'static,
    ) -> axum::Router {
        let hosts = Hosts::new(self.addr, None);
        transport::mcp_fixture(self.app.clone(), hosts, token, handler, self.stop.subscribe())
    }

    /// Waits until all that was committed by now can be searched; false when that takes too long.
    pub async fn searchable(&self, within: Duration) -> bool {
        self.app.shared.searching.hints.look_everywhere();
        self.app.shared.searching.hints.caught_up(within).await
    }

    /// Returns when the writer has ended by itself, and why: nothing can be written until the host is started anew.
    pub async fn broken(&self) -> String {
        loop {
            if let Some(why) = self.writer.ended() {
                return why;
            }
            tokio::time::sleep(WRITER_CHECK).await;
        }
    }

    /// A clock that is set by hand has moved: what is due is done now.
    pub fn tick(&self) {
        self.writer.tick();
        self.app.shared.clock.notify();
    }
}

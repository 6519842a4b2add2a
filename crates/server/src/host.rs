//! Starting and stopping the host, in this process: for `chorus serve`, the demo and the tests alike.
//!
//! What is started: the writer's thread, the dispatcher that distributes what it causes, and the server. They
//! are stopped in the other order: first nobody comes in, then what waits is answered, then the folder is let
//! go.

mod first;
pub(crate) mod heads;
mod retention;
mod stop;
mod verify;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use arc_swap::ArcSwap;
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Prefix;
use chorus_store::postgres::{Address, AddressError};
use chorus_store::search::Search;
use chorus_store::{OpenError, Options, Readers, Writer};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::auth::{Auth, Keys, KeysError, SignIn, write_private};
use crate::config::Config;
use crate::dispatch::channel_count::ChannelCount;
use crate::dispatch::connections::Connections;
use crate::dispatch::erased::ErasedEvents;
use crate::dispatch::feed::Feed;
use crate::dispatch::replies;
use crate::dispatch::replies::pending::Replies;
use crate::dispatch::webhook;
use crate::dispatch::webhook::state::Webhooks;
use crate::dispatch::{Dispatcher, Sink};
use crate::indexer::{self, Hints};
use crate::limits::Limits;
use crate::listen::connection_limiter::ConnectionLimiter;
use crate::listen::{Front, Times};
use crate::services::assets::Thumbnails;
use crate::services::copies::PARTIAL;
use crate::services::digests::{DIGESTS, Scribe};
use crate::services::quotas::Quotas;
use crate::services::retention::Retention;
use crate::services::search::Searching;
use crate::services::{App, IdGenerator};
use crate::telemetry::Metrics;
use crate::tls::{self, Files, Tls, TlsError};
use crate::traces::Traces;
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

/// Why the host did not start.
#[derive(Debug)]
pub enum StartError {
    /// Where the database is to be.
    Address(AddressError),
    Store(OpenError),
    Keys(KeysError),
    /// The certificate or its key.
    Tls(TlsError),
    /// `[otlp]`.
    Traces(String),
    /// `[webhook] roots`.
    Roots(TlsError),
    /// What posts to endpoints.
    Egress(reqwest::Error),
    /// The address to listen on.
    Listen {
        addr: SocketAddr,
        why: io::Error,
    },
    /// A file of the data folder.
    File {
        path: PathBuf,
        why: io::Error,
    },
    /// A thread of the host's.
    Thread(io::Error),
    /// The folder was a host's, and something of it is not there any more.
    Lost(String),
    /// The first start could not make what a workspace needs.
    First(Refusal),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(why) => why.fmt(f),
            Self::Store(why) => why.fmt(f),
            Self::Keys(why) => why.fmt(f),
            Self::Tls(why) => why.fmt(f),
            Self::Listen { addr, why } => {
                write!(f, "cannot listen on {addr}: {why}; choose another with --listen")
            }
            Self::Roots(why) => write!(f, "webhook.roots: {why}"),
            Self::Egress(why) => write!(f, "no client for webhooks: {why}"),
            Self::Thread(why) => write!(f, "cannot start a thread: {why}"),
            Self::File { path, why } => write!(f, "{}: {why}", path.display()),
            Self::Traces(why) | Self::Lost(why) => f.write_str(why),
            Self::First(why) => write!(f, "the workspace could not be made: {}", why.message),
        }
    }
}

impl std::error::Error for StartError {}

impl Host {
    /// Opens the folder, listens, and answers. Call it within a tokio runtime.
    pub async fn start(config: Config) -> Result<Running, StartError> {
        // First, so that a mistake in it makes nothing.
        let traces = Traces::open(&config.settings.otlp).map_err(StartError::Traces)?;
        let traces = Arc::new(traces);
        let roots = config.settings.webhook.roots.as_deref().map(tls::roots).transpose();
        let roots = roots.map_err(StartError::Roots)?.unwrap_or_default();
        let draw = IdGenerator::default();
        let uid = draw.uid(config.clock.now()).map_err(StartError::First)?;
        let digest = &config.settings.digest;
        let database = config.database.as_deref().map(Address::read).transpose();
        let database = database.map_err(StartError::Address)?.map(Arc::new);
        let key_folder = config.keys.clone().unwrap_or_else(|| config.data.join("keys"));
        first::must_be_whole(&config.data, &key_folder, database.is_none())?;
        let tls = match (&config.settings.tls.cert, &config.settings.tls.key) {
            (Some(cert), Some(key)) => {
                let files = Files { cert: cert.clone(), key: key.clone() };
                Some(Tls::open(files).map_err(StartError::Tls)?)
            }
            _ => None,
        };
        let keys = Keys::read(&key_folder).map_err(StartError::Keys)?;
        // Taken before anything is made: a port that another program has ends the start, and leaves nothing.
        let no_port = |why| StartError::Listen { addr: config.listen, why };
        let listener = TcpListener::bind(config.listen).await.map_err(no_port)?;
        let addr = listener.local_addr().map_err(no_port)?;
        let url = match &config.public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => local_url(addr, tls.is_some()),
        };
        let webhooks = Webhooks::open(&config.settings.webhook, &roots, (addr.ip(), &url));
        let webhooks = webhooks.map_err(StartError::Egress)?;
        let options = Options {
            may_begin: !config.data.join(OPERATOR_FILE).exists(),
            database,
            sync: config.sync,
            batching: !config.dangerous_no_batching,
            slower_sync: config.dangerous_slow_sync,
            name: config.workspace.clone(),
            budgets: config.settings.budget.budgets(),
            digests: digest.enabled.then(|| digest.every.ms()),
            approvals: config.settings.approvals.rules(),
            flow: config.settings.attention.settings(),
            deferral: config.settings.deadlines.defer.ms(),
            keep: config.settings.retention.keep,
            clock: config.clock.clone(),
            ..Options::new(&config.data, uid)
        };
        let place = options.place();
        let (store, keys) = first::open(options, keys, &key_folder)?;
        // What a backup that was interrupted has left. The folder is ours alone now.
        chorus_store::backup::remove(&config.data.join(PARTIAL));
        let workspace = store.tenant().uid;
        let workspace_name = store.tenant().name.to_string();
        let workspace_id: Arc<str> = workspace.show(Prefix::Workspace).into();
        let directory = Arc::new(ArcSwap::from_pointee(store.directory().clone()));
        let (connections, feed) = (Arc::new(Connections::default()), Arc::new(Feed::default()));
        let metrics = Arc::new(Metrics::default());
        for repair in store.repairs() {
            metrics.repaired(repair.part);
            tracing::warn!(part = repair.part.name(), "mended at the start: {repair}");
        }
        let gone = Arc::new(ErasedEvents::default());
        let channels = Arc::new(ChannelCount::default());
        let (sink, batches, overflowed) =
            Sink::new(directory.clone(), connections.clone(), gone.clone(), channels.clone());
        let members_moved = sink.moved();
        let (writer, readers) =
            store.start(Box::new(move |effects| sink.put(effects))).map_err(StartError::Store)?;
        // Before anything can be made.
        let there = readers.count(ConversationKind::Channel);
        let there = there
            .map_err(|why| StartError::Store(OpenError::Database { place: place.clone(), why }))?;
        channels.set(there, config.clock.now());
        let (search, index) = Search::of(&config.data, workspace);
        let hints = Arc::new(Hints::default());
        let indexing = (hints.clone(), index, readers.clone());
        let (digests, made) = mpsc::channel(DIGESTS);
        let (moved, lists) = watch::channel(());
        let replies = Arc::new(Replies::default());
        let dispatcher = Dispatcher {
            lists: moved,
            digests,
            batches,
            overflowed,
            replies: replies.clone(),
            hints: hints.clone(),
            directory: directory.clone(),
            connections: connections.clone(),
            feed: feed.clone(),
            metrics: metrics.clone(),
            traces: traces.clone(),
            workspace_id: workspace_id.clone(),
        };
        let dispatcher = tokio::spawn(dispatcher.run());
        let app = Arc::new(App {
            writer: writer.clone(),
            readers: readers.clone(),
            clock: config.clock.clone(),
            clock_moved: Default::default(),
            draw,
            directory,
            auth: Auth::new(workspace, keys).trusting(&config.settings.issuers),
            connections,
            feed,
            lists,
            gone,
            metrics,
            traces,
            redactor: config.settings.redaction.redactor(),
            limits: Arc::new(Limits::new(&config.settings.limits)),
            body_time: Duration::from_secs(config.settings.limits.body_seconds),
            sensitive: config.settings.approvals.tools(),
            workspace_id: workspace_id.clone(),
            workspace_name,
            public_url: url.clone(),
            sign_in: SignIn::default(),
            pace: config.pace,
            kinds: Default::default(),
            homes: Default::default(),
            tails: Default::default(),
            typing: Default::default(),
            drain: Default::default(),
            data: config.data.clone(),
            place,
            copying: Default::default(),
            rotating: Default::default(),
            budgets: config.settings.budget.budgets(),
            flow: config.settings.attention.settings(),
            summaries: Scribe::new(
                config.settings.threads.summary_command.clone(),
                config.settings.threads.summary_timeout.0,
            ),
            retention: Retention {
                keep: config.settings.retention.keep,
                archive: config.settings.retention.archive_dir.clone(),
            },
            uploads: Default::default(),
            thumbnails: Thumbnails::default(),
            quotas: Quotas::new(&config.settings.limits),
            channels,
            searching: Searching { index: search, hints },
            webhooks,
            replies,
        });
        let scribe = Scribe::new(digest.command.clone(), digest.timeout.0);
        tokio::spawn(app.clone().tell_digests(made, scribe));
        let operator_token = app.first_start(&config.data).await?;
        let operator_link = match &operator_token {
            Some(_) => app.sign_in_link().map_err(StartError::First)?,
            None => {
                tracing::error!(
                    "the member 'operator' was removed, and nobody can run this host; stop it, run `chorus \
                     doctor --repair` on its data folder, and start it again"
                );
                String::new()
            }
        };
        let operator_token = operator_token.unwrap_or_default();

        let hosts = Hosts::new(addr, config.public_url.as_deref());
        let (stop, stopped) = watch::channel(false);
        // With TLS a certificate is for names; the one that every machine has is its own.
        let local = match (&tls, &config.public_url) {
            (Some(_), Some(_)) => url.clone(),
            _ => local_url(addr, tls.is_some()),
        };
        // Before the first answer, so that whoever sees the host up finds it by its folder; and by its local
        // address, so that a command beside it sends its token over no network. Before anything that can do without
        // space, where there is little.
        match write_host_file(&config.data, &local) {
            // A host that serves what it has is worth more than a command that finds it by its folder.
            Err(StartError::File { why, .. }) if is_full(&why) => {
                tracing::error!(
                    "host.json could not be written: commands need --url until there is space"
                );
            }
            written => written?,
        }
        let (hints, index, readers) = indexing;
        let indexer = indexer::start(hints, index, readers.clone()).map_err(StartError::Thread)?;
        let verifier = verify::Verifier::start(readers.clone()).map_err(StartError::Thread)?;
        heads::look(&app, &config.data).await;
        tokio::spawn(heads::keep(app.clone(), config.data.clone(), stopped.clone()));
        tokio::spawn(first::keep_token(app.clone(), config.data.clone(), stopped.clone()));
        tokio::spawn(replies::serve(app.clone(), stopped.clone()));
        tokio::spawn(app.clone().make_thumbnails(stopped.clone()));
        tokio::spawn(webhook::serve(app.clone(), members_moved, stopped.clone()));
        let every = config.settings.retention.every.ms();
        tokio::spawn(retention::keep(app.clone(), every, stopped.clone()));
        let watching = tls.clone().map(|tls| tokio::spawn(tls.watch()));
        let seats = ConnectionLimiter::new(&config.settings.limits, app.metrics.clone());
        let connections = seats.all();
        let front = Front {
            router: transport::router(app.clone(), hosts, stopped.clone()),
            full: transport::no_place,
            tls,
            seats,
            times: Times::of(&config.settings.limits, config.pace),
            metrics: app.metrics.clone(),
        };
        let server = tokio::spawn(front.serve(listener, stopped));
        tracing::info!(%addr, url, workspace = &*workspace_id, connections, "the host is up");
        Ok(Running {
            addr,
            url,
            operator_link,
            operator_token,
            workspace_id: workspace_id.to_string(),
            writer,
            readers,
            app,
            data: config.data,
            local,
            drain: Duration::from_secs(config.settings.basics.drain_seconds),
            stop,
            server,
            dispatcher,
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
        self.app.searching.hints.look_everywhere();
        self.app.searching.hints.caught_up(within).await
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
        self.app.clock_moved.notify();
    }
}

/// An address that a client can use, when the host listens on all.
fn reachable(addr: SocketAddr) -> SocketAddr {
    let mut reachable = addr;
    if addr.ip().is_unspecified() {
        reachable.set_ip(match addr {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
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

fn write_host_file(data: &Path, url: &str) -> Result<(), StartError> {
    let path = data.join(HOST_FILE);
    let text = json!({"url": url, "pid": std::process::id()}).to_string();
    write_private(&path, text.as_bytes()).map_err(|why| StartError::File { path, why })
}

fn is_full(why: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(why.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

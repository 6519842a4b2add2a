//! The handles that the capabilities of a host share.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use chorus_core::model::budget::Budgets;
use chorus_core::model::flow;
use chorus_core::state::directory::Directory;
use chorus_store::membership::Lease;
use chorus_store::{Place, Readers, Writer};
use chorus_wire::tool::Tool;
use tokio::sync::watch;

use super::IdGenerator;
use super::clock::HostClock;
use super::digests::Scribe;
use super::dispositions::TypingRates;
use super::drain::Drain;
use super::quotas::Quotas;
use super::retention::Rules;
use super::search::Searching;
use crate::auth::{Auth, SignInLinks};
use crate::cluster::Cluster;
use crate::config::Pace;
use crate::dispatch::channel_count::ChannelCount;
use crate::dispatch::connections::Connections;
use crate::dispatch::erased::ErasedEvents;
use crate::dispatch::feed::Feed;
use crate::dispatch::hiring::Hiring;
use crate::dispatch::replies::pending::Replies;
use crate::dispatch::webhook::state::Webhooks;
use crate::limits::Limits;
use crate::objects::Objects;
use crate::redact::Redactor;
use crate::telemetry::Metrics;
use crate::traces::Traces;
use crate::workspaces::Workspaces;

/// The handles that capabilities share, and that transports use themselves.
pub(crate) struct Shared {
    pub(crate) auth: Arc<Auth>,
    /// How long the body of a request may take to come.
    pub(crate) body_time: Duration,
    /// The store for the bytes of larger files, if there is one.
    pub(crate) objects: Option<Arc<Objects>>,
    pub(crate) budgets: Budgets,
    /// How many channels there are.
    pub(crate) channel_count: Arc<ChannelCount>,
    pub(crate) clock: Arc<HostClock>,
    /// The hosts of the database.
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) connections: Arc<Connections>,
    /// The data folder, where a backup is made.
    pub(crate) data: Arc<Path>,
    pub(crate) directory: Arc<ArcSwap<Directory>>,
    /// Changes with the directory.
    pub(crate) directory_moved: watch::Receiver<()>,
    /// What is under way, once the host is to stop.
    pub(crate) drain: Arc<Drain>,
    pub(crate) feed: Arc<Feed>,
    /// How the flow of talk is read here.
    pub(crate) flow: flow::Settings,
    /// Events that were erased while somebody may still be shown them.
    pub(crate) gone: Arc<ErasedEvents>,
    /// How agents are hired here.
    pub(crate) hiring: Arc<Hiring>,
    pub(crate) id_generator: Arc<IdGenerator>,
    /// Until when this host may answer without looking whether it owns the workspace.
    pub(crate) lease: Arc<Lease>,
    pub(crate) limits: Arc<Limits>,
    /// Links that were given out and not used. They outlive a workspace that is closed meanwhile.
    pub(crate) links: Arc<SignInLinks>,
    /// Changes when the list of channels and threads may be another for somebody; over when the host stops.
    pub(crate) lists: watch::Receiver<()>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) pace: Pace,
    /// Where the workspace is kept.
    pub(crate) place: Place,
    /// Where others reach the host; without a slash at its end.
    pub(crate) public_url: Arc<str>,
    /// How much of the host each member may take.
    pub(crate) quotas: Arc<Quotas>,
    pub(crate) readers: Readers,
    pub(crate) redactor: Arc<Redactor>,
    /// What goes back to services that have delivered to an inbox.
    pub(crate) replies: Arc<Replies>,
    /// How long events are kept, and where the rest goes.
    pub(crate) rules: Arc<Rules>,
    pub(crate) searching: Arc<Searching>,
    /// Tools that an agent calls only once a person has agreed.
    pub(crate) sensitive: Arc<[&'static Tool]>,
    /// Who writes summaries of threads.
    pub(crate) summaries: Arc<Scribe>,
    pub(crate) traces: Arc<Traces>,
    pub(crate) typing: Arc<TypingRates>,
    pub(crate) webhooks: Arc<Webhooks>,
    pub(crate) workspace_id: Arc<str>,
    pub(crate) workspace_name: Arc<str>,
    /// The workspaces beside this one, where it is the host's own and may have some.
    pub(crate) workspaces: Option<Arc<Workspaces>>,
    pub(crate) writer: Writer,
}

//! What can be done here: one use case a file. Transports parse and print; the store is known to this module alone.
//!
//! A use case turns what was asked into a [`Command`] and waits for its answer, or reads what the caller may
//! see. It decides nothing about the room itself: that is core's. What it checks is what only the edge knows:
//! ids, content, and what a token may be used for.

pub(crate) mod alike;
mod id_generator;
mod idempotency;
mod ids;
mod read;

mod clock;
pub(crate) mod messages;
pub(crate) mod methods;
mod moderation;
mod names;
pub(crate) mod send;
pub(crate) mod tails;

pub(crate) mod callbacks;
pub(crate) mod channels;
pub(crate) mod copies;
pub(crate) mod cursors;
pub(crate) mod endpoints;
pub(crate) mod members;
pub(crate) mod pauses;
pub(crate) mod projects;
pub(crate) mod quotas;
pub(crate) mod reactions;
pub(crate) mod retention;
pub(crate) mod roles;
pub(crate) mod schedules;
pub(crate) mod search;
pub(crate) mod stimuli;
pub(crate) mod streams;
mod submit;
pub(crate) mod thread_work;
pub(crate) mod threads;
pub(crate) mod tokens;

pub(crate) mod approvals;
pub(crate) mod assets;
pub(crate) mod audit;
pub(crate) mod claims;
pub(crate) mod deliveries;
pub(crate) mod digests;
pub(crate) mod inbox;
pub(crate) mod inboxes;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod speakers;
pub(crate) mod turns;
pub(crate) mod why;

pub(crate) mod drain;
pub(crate) mod follow;
pub(crate) mod log;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use chorus_core::model::budget::Budgets;
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::flow;
use chorus_core::model::ids::{Timestamp, Uid};
use chorus_core::state::directory::Directory;
use chorus_store::{Clock, Place, Readers, Writer};
use chorus_wire::attention::descriptors::Tool;
use tokio::sync::watch;

use crate::auth::{Auth, Caller, SignIn, Workspace};
use crate::config::Pace;
use crate::dispatch::channel_count::ChannelCount;
use crate::dispatch::connections::Connections;
use crate::dispatch::erased::ErasedEvents;
use crate::dispatch::feed::Feed;
use crate::dispatch::replies::pending::Replies;
use crate::dispatch::webhook::state::Webhooks;
use crate::limits::Limits;
use crate::redact::Redactor;
use crate::telemetry::Metrics;
use crate::traces::Traces;
use clock::ClockMoved;
pub(crate) use id_generator::IdGenerator;

/// Everything a use case needs; one per host.
pub(crate) struct App {
    pub(crate) writer: Writer,
    pub(crate) readers: Readers,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) clock_moved: ClockMoved,
    pub(crate) draw: IdGenerator,
    pub(crate) directory: Arc<ArcSwap<Directory>>,
    pub(crate) auth: Auth,
    pub(crate) connections: Arc<Connections>,
    pub(crate) feed: Arc<Feed>,
    /// Changes when the list of channels and threads may be another for somebody; over when the host stops.
    pub(crate) lists: watch::Receiver<()>,
    pub(crate) gone: Arc<ErasedEvents>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) traces: Arc<Traces>,
    pub(crate) redactor: Redactor,
    pub(crate) limits: Arc<Limits>,
    /// How long the body of a request may take to come.
    pub(crate) body_time: Duration,
    /// Tools that an agent calls only once a person has agreed.
    pub(crate) sensitive: Vec<Tool>,
    pub(crate) workspace_id: Arc<str>,
    pub(crate) workspace_name: String,
    /// Where others reach the host; without a slash at its end.
    pub(crate) public_url: String,
    pub(crate) sign_in: SignIn,
    pub(crate) pace: Pace,
    /// Kinds of conversations that were looked at; a kind never changes.
    pub(crate) kinds: read::Known<ConversationKind>,
    /// Conversations of threads that were posted to; a thread never moves.
    pub(crate) homes: read::Known<Uid>,
    /// The newest messages of rooms that are read a lot.
    pub(crate) tails: tails::Tails,
    pub(crate) typing: turns::TypingRates,
    /// What is under way, once the host is to stop.
    pub(crate) drain: Arc<drain::Drain>,
    /// The data folder, where a backup is made.
    pub(crate) data: PathBuf,
    /// Where the workspace is kept.
    pub(crate) place: Place,
    /// Held while one is made.
    pub(crate) copying: tokio::sync::Mutex<()>,
    /// Read while a token is noted and signed, which is with one key; written while the keys are exchanged.
    pub(crate) rotating: tokio::sync::RwLock<()>,
    pub(crate) budgets: Budgets,
    /// How the flow of talk is read here.
    pub(crate) flow: flow::Settings,
    /// Who writes summaries of threads.
    pub(crate) summaries: digests::Scribe,
    pub(crate) retention: retention::Retention,
    pub(crate) searching: search::Searching,
    pub(crate) uploads: assets::Uploads,
    /// Who makes small pictures.
    pub(crate) thumbnails: assets::Thumbnails,
    /// How much of the host each member may take.
    pub(crate) quotas: quotas::Quotas,
    /// How many channels there are.
    pub(crate) channels: Arc<ChannelCount>,
    pub(crate) webhooks: Webhooks,
    /// What goes back to services that have delivered to an inbox.
    pub(crate) replies: Arc<Replies>,
}

impl App {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Who there is, as of now.
    pub(crate) fn directory(&self) -> Guard<Arc<Directory>> {
        self.directory.load()
    }

    /// The caller behind a bearer token of anybody trusted.
    pub(crate) async fn identify(&self, bearer: &str) -> Result<Caller, Refusal> {
        self.auth.meet(bearer, self.now()).await?;
        match self.caller(bearer) {
            // Its token is good: another host may have made the member a moment ago.
            Err(refusal) if refusal.code == Code::NotFound && self.writer.has_company() => {
                self.caught_up().await?;
                self.caller(bearer)
            }
            caller => caller,
        }
    }

    /// The caller behind a bearer token that the host signed, or that was identified lately.
    pub(crate) fn caller(&self, bearer: &str) -> Result<Caller, Refusal> {
        self.auth.verify(bearer, &self.directory(), self.now())
    }

    /// Whether a caller that stays connected still may.
    pub(crate) fn still_valid(&self, caller: &Caller) -> bool {
        self.auth.still_valid(caller, &self.directory(), self.now())
    }

    /// The caller, in the turn that an argument names.
    pub(crate) fn in_turn(&self, caller: &Caller, turn: Option<&str>) -> Result<Caller, Refusal> {
        match turn {
            Some(token) => self.auth.in_turn(caller, token, &self.directory(), self.now()),
            None => Ok(caller.clone()),
        }
    }

    /// As callers may name it.
    pub(crate) fn workspace(&self) -> Workspace<'_> {
        Workspace { id: &self.workspace_id, name: &self.workspace_name }
    }

    /// Whether the host can still write.
    pub(crate) fn ready(&self) -> Result<(), String> {
        if self.drain.is_draining() {
            return Err("draining".to_owned());
        }
        let health = self.writer.health();
        if health.ok { Ok(()) } else { Err(health.reason.unwrap_or_default()) }
    }
}

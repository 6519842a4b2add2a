//! What the dispatcher of webhooks and its workers use of the host.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::state::directory::Directory;

use crate::auth::Auth;
use crate::dispatch::connections::Connections;
use crate::dispatch::webhook::state::Webhooks;
use crate::services::IdGenerator;
use crate::services::callbacks::CallbackService;
use crate::services::clock::HostClock;
use crate::services::commands::Commands;
use crate::services::drain::Drain;
use crate::services::endpoints::EndpointService;
use crate::services::messages::MessageService;
use crate::services::runs::RunService;
use crate::services::sessions::SessionService;
use crate::telemetry::Metrics;

/// What a worker uses of the host.
pub(crate) struct Handles {
    pub(crate) auth: Arc<Auth>,
    pub(crate) callbacks: Arc<CallbackService>,
    pub(crate) clock: Arc<HostClock>,
    pub(crate) commands: Arc<Commands>,
    pub(crate) connections: Arc<Connections>,
    pub(crate) directory: Arc<ArcSwap<Directory>>,
    pub(crate) drain: Arc<Drain>,
    pub(crate) endpoints: Arc<EndpointService>,
    pub(crate) id_generator: Arc<IdGenerator>,
    pub(crate) messages: Arc<MessageService>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) public_url: Arc<str>,
    pub(crate) runs: Arc<RunService>,
    pub(crate) sessions: Arc<SessionService>,
    pub(crate) webhooks: Arc<Webhooks>,
    pub(crate) workspace_name: Arc<str>,
}

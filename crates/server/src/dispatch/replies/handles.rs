//! What the dispatcher of replies and its workers use of the host.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::state::directory::Directory;

use crate::auth::Auth;
use crate::dispatch::replies::pending::Replies;
use crate::dispatch::webhook::state::Webhooks;
use crate::services::IdGenerator;
use crate::services::clock::HostClock;
use crate::services::commands::Commands;
use crate::services::inboxes::InboxService;

/// What a worker uses of the host.
pub(crate) struct Handles {
    pub(crate) auth: Arc<Auth>,
    pub(crate) clock: Arc<HostClock>,
    pub(crate) commands: Arc<Commands>,
    pub(crate) directory: Arc<ArcSwap<Directory>>,
    pub(crate) id_generator: Arc<IdGenerator>,
    pub(crate) inboxes: Arc<InboxService>,
    pub(crate) replies: Arc<Replies>,
    pub(crate) webhooks: Arc<Webhooks>,
}

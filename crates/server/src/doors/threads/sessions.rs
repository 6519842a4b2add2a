//! Whose an MCP session is: of one member with one token. To everybody else it does not exist.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chorus_core::command::Turn;
use chorus_core::ids::MemberKey;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};

use crate::auth::Caller;

/// Sessions of one token at once; the oldest ends when another begins. A client needs one, and some leave theirs open.
const EACH: usize = 64;
/// A session in which nothing was asked for so long has ended; the client begins another.
const IDLE: Duration = Duration::from_secs(4 * 3600);

/// Whom a session belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    member: MemberKey,
    jti: Option<Arc<str>>,
    turn: Option<Turn>,
}

impl Owner {
    fn of(caller: &Caller) -> Self {
        Self { member: caller.by.member, jti: caller.jti.clone(), turn: caller.by.turn }
    }
}

pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    owners: Mutex<Owners>,
}

#[derive(Default)]
struct Owners {
    of: HashMap<String, (u64, Owner)>,
    begun: u64,
    /// How many there may be before those that have ended are looked for.
    look_at: usize,
}

/// The transport's own memory of sessions.
pub(super) fn manager() -> LocalSessionManager {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(IDLE);
    config.sse_retry = None;
    let mut manager = LocalSessionManager::default();
    manager.session_config = config;
    manager
}

impl Sessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>) -> Self {
        Self { manager, owners: Mutex::default() }
    }

    pub(super) fn is_of(&self, id: &str, caller: &Caller) -> bool {
        self.lock().of.get(id).is_some_and(|(_, owner)| *owner == Owner::of(caller))
    }

    /// A session has begun; one that its caller has too many of ends.
    pub(super) async fn began(&self, id: &str, caller: &Caller) {
        self.forget_ended().await;
        let ends = self.put(id, Owner::of(caller));
        if let Some(id) = ends {
            let _ = self.manager.close_session(&id.as_str().into()).await;
        }
    }

    fn put(&self, id: &str, owner: Owner) -> Option<String> {
        let mut owners = self.lock();
        owners.begun += 1;
        let begun = owners.begun;
        let theirs = owners.of.iter().filter(|(_, (_, o))| *o == owner);
        let oldest = match theirs.clone().count() {
            n if n >= EACH => theirs.min_by_key(|(_, (n, _))| *n).map(|(id, _)| id.clone()),
            _ => None,
        };
        if let Some(oldest) = &oldest {
            owners.of.remove(oldest);
        }
        owners.of.insert(id.to_owned(), (begun, owner));
        oldest
    }

    /// The transport forgets sessions by itself; so do we, each time there are twice as many as there were.
    async fn forget_ended(&self) {
        {
            let owners = self.lock();
            if owners.of.len() < owners.look_at {
                return;
            }
        }
        let there = self.manager.sessions.read().await;
        let mut owners = self.lock();
        owners.of.retain(|id, _| there.contains_key(id.as_str()));
        owners.look_at = (owners.of.len() * 2).max(EACH);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Owners> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Sessions of the MCP transport: whose each is, how long it lasts, and what it costs.
//!
//! A session belongs to one member with one token; to everybody else it does not exist. The SDK keeps two tasks and
//! their channels for each, tens of KiB, so one in which nothing happens is put to sleep: what stays of it is here, about
//! a KiB, and the SDK makes the rest again from it when the next request comes. One in which nothing was asked for
//! [`IDLE_MS`] has ended. Time is the host's clock.

mod transport;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chorus_core::command::Turn;
use chorus_core::ids::{MemberKey, Timestamp};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use tokio::sync::watch;

use super::notices::Notices;
use crate::app::App;
use crate::auth::Caller;

/// Sessions of one token at once; the oldest ends when another begins. A client needs one, and some leave theirs open.
const EACH: usize = 64;
/// A session in which nothing was asked, and to which nobody listens, for so long has ended; the client begins another.
const IDLE_MS: i64 = 30 * 60_000;
/// One in which nothing happens for so long is put to sleep. A client that is at work asks more often.
const REST_MS: i64 = 30_000;
/// Between two looks at all of them.
const LOOK: Duration = Duration::from_secs(15);
/// Sessions that are awake before those longest at rest are put to sleep at once: what idle sessions cost is bounded,
/// however fast they are begun.
const AWAKE: usize = 64;

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

/// What is kept of a session, asleep or not.
struct Session {
    /// None until the answer to `initialize` is on its way.
    owner: Option<Owner>,
    /// Which one of all it is.
    number: u64,
    used: Timestamp,
    /// Requests under way, and streams that are open.
    busy: u32,
    /// What `initialize` said, as JSON.
    state: Box<str>,
    notices: Arc<Notices>,
    /// Tasks of this session that were put to sleep, and have not said yet that they ended.
    ending: u32,
}

#[derive(Default)]
struct Known {
    of: HashMap<Arc<str>, Session>,
    begun: u64,
}

pub(super) struct Sessions {
    app: Arc<App>,
    /// Those that are awake.
    awake: LocalSessionManager,
    known: Arc<Mutex<Known>>,
}

/// A session is at work for as long as this is held.
pub(super) struct Busy {
    app: Arc<App>,
    known: Arc<Mutex<Known>>,
    id: Arc<str>,
    pub(super) notices: Arc<Notices>,
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut known = lock(&self.known);
        if let Some(session) = known.of.get_mut(&self.id) {
            session.busy = session.busy.saturating_sub(1);
            session.used = self.app.now();
        }
    }
}

impl Sessions {
    pub(super) fn new(app: Arc<App>) -> Self {
        let mut config = SessionConfig::default();
        // How long a session lasts is said here, by the host's clock.
        config.keep_alive = None;
        config.sse_retry = None;
        let mut awake = LocalSessionManager::default();
        awake.session_config = config;
        Self { app, awake, known: Arc::default() }
    }

    /// Looks after them until the host stops.
    pub(super) async fn look_after(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                () = stop(&mut stopped) => return,
                () = self.app.wait(LOOK) => self.look().await,
            }
        }
    }

    /// The session, when it is the caller's and has not ended.
    pub(super) async fn enter(&self, id: &str, caller: &Caller) -> Option<Busy> {
        let now = self.app.now();
        let ended = {
            let known = self.lock();
            let session = known.of.get(id)?;
            if session.owner.as_ref() != Some(&Owner::of(caller)) {
                return None;
            }
            session.has_ended(now)
        };
        if ended {
            self.end(id).await;
            return None;
        }
        self.busy(id)
    }

    /// A session has begun; one that its caller has too many of ends.
    pub(super) async fn began(&self, id: &str, caller: &Caller) {
        let owner = Owner::of(caller);
        let oldest = {
            let mut known = self.lock();
            let theirs = known.of.iter().filter(|(_, s)| s.owner.as_ref() == Some(&owner));
            let oldest = match theirs.clone().count() {
                n if n >= EACH => theirs.min_by_key(|(_, s)| s.number).map(|(id, _)| id.clone()),
                _ => None,
            };
            if let Some(session) = known.of.get_mut(id) {
                session.owner = Some(owner);
            }
            oldest
        };
        if let Some(oldest) = oldest {
            self.end(&oldest).await;
        }
    }

    /// Where too many are awake, the half that is longest at rest goes to sleep.
    pub(super) async fn make_room(&self) {
        if self.awake.sessions.read().await.len() < AWAKE {
            return;
        }
        let awake: Vec<_> = self.awake.sessions.read().await.keys().cloned().collect();
        let mut resting: Vec<_> = {
            let known = self.lock();
            let of = |id: &Arc<str>| known.of.get(id).filter(|s| s.busy == 0).map(|s| s.used);
            awake.into_iter().filter_map(|id| of(&id).map(|used| (used, id))).collect()
        };
        resting.sort();
        resting.truncate(resting.len().saturating_sub(AWAKE / 2));
        for (_, id) in resting {
            self.put_to_sleep(&id).await;
        }
    }

    /// Ends those whose time is over, and lets rest those in which nothing happens.
    async fn look(&self) {
        let now = self.app.now();
        let (mut ended, mut resting) = (Vec::new(), Vec::new());
        for (id, session) in &self.lock().of {
            if session.has_ended(now) {
                ended.push(id.clone());
            } else if session.busy == 0 && now.since(session.used) >= REST_MS {
                resting.push(id.clone());
            }
        }
        for id in ended {
            self.end(&id).await;
        }
        for id in resting {
            self.put_to_sleep(&id).await;
        }
    }

    async fn end(&self, id: &str) {
        let session = self.lock().of.remove(id);
        let handle = self.awake.sessions.write().await.remove(id);
        if let Some(handle) = handle {
            // One whose tasks are gone has ended already.
            let _ = handle.close().await;
        }
        drop(session);
    }

    /// Not when something has come for it meanwhile. That is looked at and the session taken from those awake in one
    /// step, so that a request finds it awake or asleep and nothing between.
    async fn put_to_sleep(&self, id: &Arc<str>) {
        let handle = {
            let mut known = self.lock();
            let Some(session) = known.of.get_mut(id).filter(|s| s.busy == 0) else { return };
            // Somebody else looks at them right now: it is tried again.
            let Ok(mut awake) = self.awake.sessions.try_write() else { return };
            let Some(handle) = awake.remove(id) else { return };
            session.ending += 1;
            session.notices.sleep();
            handle
        };
        let _ = handle.close().await;
    }

    fn busy(&self, id: &str) -> Option<Busy> {
        let mut known = self.lock();
        let id = known.of.get_key_value(id)?.0.clone();
        let session = known.of.get_mut(&id)?;
        session.busy += 1;
        session.used = self.app.now();
        let notices = session.notices.clone();
        Some(Busy { app: self.app.clone(), known: self.known.clone(), id, notices })
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        lock(&self.known)
    }
}

impl Session {
    fn has_ended(&self, now: Timestamp) -> bool {
        self.busy == 0 && now.since(self.used) >= IDLE_MS
    }
}

async fn stop(stopped: &mut watch::Receiver<bool>) {
    // The sender going away means the same.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

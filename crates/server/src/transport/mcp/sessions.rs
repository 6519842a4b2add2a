//! Sessions of the MCP transport: whose each is, how long it lasts, and what it costs.
//!
//! A session belongs to one member with one token; to everybody else it does not exist. The SDK keeps two tasks and
//! their channels for each, tens of KiB, so one in which nothing happens is put to sleep: what stays of it is here, about
//! a KiB, and the SDK makes the rest again from it when the next request comes. One in which nothing was asked for
//! [`IDLE_MS`] has ended. Time is the host's clock.

mod transport;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chorus_core::model::caller::TurnRef;
use chorus_core::model::ids::{MemberKey, Timestamp};
use chorus_wire::jsonrpc::Id;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use tokio::sync::{Notify, watch};

use super::notices::Notices;
use crate::auth::Caller;
use crate::services::App;

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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Owner {
    member: MemberKey,
    jti: Option<Arc<str>>,
    turn: Option<TurnRef>,
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
    /// Whether the SDK has its tasks.
    awake: bool,
    /// Whether they are not ready yet, because it is being woken.
    waking: bool,
    /// Requests under way, and streams that are open.
    busy: u32,
    /// The ids of the requests under way: an answer finds its request by it.
    asked: Vec<Id>,
    /// What `initialize` said, as JSON.
    state: Box<str>,
    notices: Arc<Notices>,
    /// Tasks of this session that were put to sleep, and have not said yet that they ended.
    ending: u32,
}

#[derive(Default)]
struct Known {
    of: HashMap<Arc<str>, Session>,
    /// Each owner's, the oldest first.
    owned: HashMap<Owner, BTreeMap<u64, Arc<str>>>,
    /// Those that are awake while nothing happens in them, longest at rest first.
    resting: BTreeMap<(Timestamp, u64), Arc<str>>,
    /// How many are awake.
    awake: usize,
    begun: u64,
}

impl Known {
    /// A session that has just begun, awake.
    fn begin(&mut self, id: Arc<str>, state: Box<str>, used: Timestamp) {
        self.begun += 1;
        let session = Session {
            owner: None,
            number: self.begun,
            used,
            awake: false,
            waking: false,
            busy: 0,
            asked: Vec::new(),
            state,
            notices: Arc::new(Notices::default()),
            ending: 0,
        };
        self.of.insert(id.clone(), session);
        self.change(&id, |session| session.awake = true);
    }

    /// Changes a session: whatever follows from what it is like is right afterwards.
    fn change<T>(&mut self, id: &str, change: impl FnOnce(&mut Session) -> T) -> Option<T> {
        let name = self.of.get_key_value(id)?.0.clone();
        let session = self.of.get_mut(id)?;
        self.resting.remove(&session.at_rest());
        self.awake -= usize::from(session.awake);
        let changed = change(session);
        self.awake += usize::from(session.awake);
        if session.awake && session.busy == 0 {
            self.resting.insert(session.at_rest(), name);
        }
        Some(changed)
    }

    /// Says whose it is; gives the oldest of its owner's, when those are too many with it.
    fn give(&mut self, id: &str, owner: Owner) -> Option<Arc<str>> {
        let name = self.of.get_key_value(id)?.0.clone();
        let session = self.of.get_mut(id)?;
        session.owner = Some(owner.clone());
        let theirs = self.owned.entry(owner).or_default();
        theirs.insert(session.number, name);
        let oldest = theirs.values().next().filter(|_| theirs.len() > EACH);
        oldest.cloned()
    }

    fn remove(&mut self, id: &str) -> Option<Session> {
        self.change(id, |session| session.awake = false)?;
        let session = self.of.remove(id)?;
        if let Some(owner) = &session.owner
            && let Some(theirs) = self.owned.get_mut(owner)
        {
            theirs.remove(&session.number);
            if theirs.is_empty() {
                self.owned.remove(owner);
            }
        }
        Some(session)
    }
}

pub(super) struct Sessions {
    app: Arc<App>,
    /// Those that are awake.
    awake: LocalSessionManager,
    known: Arc<Mutex<Known>>,
    /// One that was being woken is ready, or could not be woken.
    woken: Notify,
}

/// A session is at work for as long as this is held.
pub(super) struct Busy {
    app: Arc<App>,
    known: Arc<Mutex<Known>>,
    id: Arc<str>,
    pub(super) notices: Arc<Notices>,
    /// Whether the session was asleep when this began.
    pub(super) wakes: bool,
}

/// A request is under way in its session until this is dropped.
pub(super) struct UnderWay {
    known: Arc<Mutex<Known>>,
    session: Arc<str>,
    id: Id,
}

impl Busy {
    /// A request begins. None while another of that id is under way in the session.
    pub(super) fn begin(&self, id: Id) -> Option<UnderWay> {
        // In a session that has ended meanwhile there is no other.
        if let Some(session) = lock(&self.known).of.get_mut(&self.id) {
            if session.asked.contains(&id) {
                return None;
            }
            session.asked.push(id.clone());
        }
        Some(UnderWay { known: self.known.clone(), session: self.id.clone(), id })
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(session) = lock(&self.known).of.get_mut(&self.session) {
            session.asked.retain(|id| *id != self.id);
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let now = self.app.now();
        lock(&self.known).change(&self.id, |session| {
            session.busy = session.busy.saturating_sub(1);
            session.used = now;
        });
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
        Self { app, awake, known: Arc::default(), woken: Notify::new() }
    }

    /// Looks after them until the host stops.
    pub(super) async fn look_after(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                () = stop(&mut stopped) => return,
                () = self.app.shared.clock.wait(LOOK) => self.look().await,
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
        let oldest = self.lock().give(id, Owner::of(caller));
        if let Some(oldest) = oldest {
            self.end(&oldest).await;
        }
    }

    /// Where too many are awake, those longest at rest go to sleep, down to half as many. Each was woken by a request, which
    /// pays for it; those that are at work are not looked at.
    pub(super) async fn make_room(&self) {
        let tired: Vec<_> = {
            let known = self.lock();
            let most = if known.awake < AWAKE { AWAKE } else { AWAKE / 2 };
            let over = known.resting.len().saturating_sub(most);
            known.resting.values().take(over).cloned().collect()
        };
        for id in tired {
            self.put_to_sleep(&id).await;
        }
    }

    /// Ends those whose time is over, and lets rest those in which nothing happens.
    async fn look(&self) {
        let now = self.app.now();
        let (ended, resting): (Vec<_>, Vec<_>) = {
            let known = self.lock();
            let ended = known.of.iter().filter(|(_, session)| session.has_ended(now));
            let longest = known.resting.range(..=(now.plus(-REST_MS), u64::MAX));
            (ended.map(|(id, _)| id.clone()).collect(), longest.map(|(_, id)| id.clone()).collect())
        };
        for id in ended {
            self.end(&id).await;
        }
        for id in resting {
            self.put_to_sleep(&id).await;
        }
    }

    async fn end(&self, id: &str) {
        let session = self.lock().remove(id);
        self.woken.notify_waiters();
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
            if known.of.get(id).is_none_or(|session| session.busy > 0) {
                return;
            }
            // Somebody else looks at them right now: it is tried again.
            let Ok(mut awake) = self.awake.sessions.try_write() else { return };
            let handle = awake.remove(id);
            known.change(id, |session| {
                session.awake = false;
                session.ending += u32::from(handle.is_some());
                session.notices.sleep();
            });
            handle
        };
        if let Some(handle) = handle {
            let _ = handle.close().await;
        }
    }

    fn busy(&self, id: &str) -> Option<Busy> {
        let mut known = self.lock();
        let id = known.of.get_key_value(id)?.0.clone();
        let now = self.app.now();
        let (notices, wakes) = known.change(&id, |session| {
            session.busy += 1;
            session.used = now;
            (session.notices.clone(), !session.awake)
        })?;
        Some(Busy { app: self.app.clone(), known: self.known.clone(), id, notices, wakes })
    }

    /// Waits while another request wakes the session.
    async fn ready(&self, id: &str) {
        loop {
            let woken = self.woken.notified();
            if !self.lock().of.get(id).is_some_and(|session| session.waking) {
                return;
            }
            woken.await;
        }
    }

    /// It is awake, or could not be woken.
    fn woke(&self, id: &str, awake: bool) {
        self.lock().change(id, |session| {
            session.awake = awake;
            session.waking = false;
        });
        self.woken.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        lock(&self.known)
    }
}

impl Session {
    /// Its place among those at rest, when it is.
    fn at_rest(&self) -> (Timestamp, u64) {
        (self.used, self.number)
    }

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

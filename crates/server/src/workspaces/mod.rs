//! The workspaces beside the host's own, below `/w/NAME`: each is opened when somebody comes to it or something is due in
//! it, and closed when nobody uses it.
//!
//! Beside a file each is a data folder of its own. Hosts of one database share them: a workspace that is open is owned by
//! the host that has it open, and [`Workspaces::way`] leads there from any host.
//!
//! Invariants: a workspace is opened once at a time, and nobody is let in while it is opened or closed. What fails in one
//! concerns that one alone. One that is closed has its next time in the catalog, so that it fires then.

mod bounds;
mod manage;
mod moving;
mod refusals;
mod slot;
mod sweep;
mod way;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use bounds::Bounds;
pub(crate) use bounds::{Allowance, Timed};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::workspace_name::WorkspaceName;
use chorus_store::Clock;
use chorus_store::catalog::{Catalog, Entry, State};
use chorus_store::db::Error;
use chorus_store::membership::Owned;
use futures_util::future::{BoxFuture, join_all};
pub(crate) use moving::PIECE;
use refusals::{gone, no_such, not_now, taken, unavailable, unreadable};
pub(crate) use slot::Entered;
use slot::{Held, Inside, NotEntered, Now, Slot};
use tokio::sync::Semaphore;
use tokio::time::Instant;
pub(crate) use way::Way;

use crate::auth::SignInLinks;
use crate::cluster::{Access, Cluster};
use crate::objects::Objects;
use crate::telemetry::Metrics;

/// What comes before a workspace's name in a path.
pub(crate) const PREFIX: &str = crate::cluster::BELOW;
/// How long one that could not be opened is let be.
const REST: Duration = Duration::from_secs(5);
/// When one that is due and could not be opened is tried again.
const TRIED_AGAIN_MS: i64 = 60_000;
/// How many are opened at once: each reads and writes its own file.
const OPENING: usize = 4;
/// One that nobody uses is opened this often all the same, for what has no time of its own: retention, tokens, verifying.
const LOOKED_AT_MS: i64 = 24 * 3_600_000;

/// How workspaces are kept, as the settings say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keeping {
    /// Open at one time.
    pub(crate) open: usize,
    /// How long one stays open that nobody uses.
    pub(crate) idle: Duration,
    /// How long one is kept that was deleted.
    pub(crate) grace: Duration,
    /// What each may take of which nothing else is said.
    pub(crate) allowance: Allowance,
}

/// A workspace that is open.
pub(crate) trait Served: Send + Sync {
    fn router(&self) -> Router;
    /// Why it can do no more, if it has ended by itself.
    fn ended(&self) -> Option<String>;
    /// Why it can do nothing now, if that is so.
    fn trouble(&self) -> Option<String>;
    /// Whether nobody is connected, and nothing is under way.
    fn is_idle(&self) -> bool;
    /// How many sessions are connected. Streams are requests under way.
    fn connections(&self) -> usize;
    /// How long its writer has worked since it was opened.
    fn written(&self) -> Duration;
    /// When it has something to do by itself.
    fn next_due(&self) -> Option<Timestamp>;
    /// How its operator gets in; none where that member was removed.
    fn access(&self) -> BoxFuture<'static, Result<Option<Access>, Refusal>>;
    fn close(&self, within: Duration) -> BoxFuture<'_, ()>;
}

/// Opens a workspace, which it makes if there was none; or says why it cannot.
pub(crate) type Open =
    Box<dyn Fn(Opening) -> BoxFuture<'static, Result<Arc<dyn Served>, String>> + Send + Sync>;

/// The workspace that is to be opened.
pub(crate) struct Opening {
    pub(crate) entry: Entry,
    /// What it may store; 0 is no limit.
    pub(crate) storage_mib: u64,
    pub(crate) folder: PathBuf,
    pub(crate) links: Arc<SignInLinks>,
    /// As what this host owns it, where hosts share it.
    pub(crate) owned: Option<Owned>,
}

pub(crate) struct Workspaces {
    catalog: Arc<Catalog>,
    cluster: Arc<Cluster>,
    clock: Arc<dyn Clock>,
    keeping: Keeping,
    metrics: Arc<Metrics>,
    /// The store for the bytes of larger files, if there is one.
    objects: Option<Arc<Objects>>,
    opener: Open,
    /// Those that are open, or were wanted a moment ago.
    slots: Mutex<HashMap<WorkspaceName, Arc<Slot>>>,
    /// Links into workspaces that were not used yet, whether these are open or not.
    links: Mutex<HashMap<WorkspaceName, Arc<SignInLinks>>>,
    /// Why those cannot be used that could not be opened when it was tried last.
    failing: Mutex<HashMap<WorkspaceName, String>>,
    /// The keys of those that were asked for, where hosts share them.
    keys: Mutex<HashMap<WorkspaceName, i64>>,
    opening: Semaphore,
    /// Held while a copy of one is made or taken in: each reads and writes all of it.
    moving: tokio::sync::Mutex<()>,
    /// Held while one is resumed, or let go to another host: never both.
    changing: tokio::sync::Mutex<()>,
    /// Suspended ones of which a copy was given out, and that were not resumed since.
    copied: Mutex<HashSet<WorkspaceName>>,
    stopping: AtomicBool,
}

/// What is told of a workspace.
pub(crate) struct Told {
    pub(crate) entry: Entry,
    pub(crate) is_open: bool,
    /// Why it cannot be used, if it cannot.
    pub(crate) trouble: Option<String>,
    /// The host that owns it, and why, where hosts share workspaces.
    pub(crate) host: Option<(String, String)>,
}

impl Workspaces {
    /// Those of a catalog.
    pub(crate) fn new(
        catalog: Catalog,
        cluster: Arc<Cluster>,
        clock: Arc<dyn Clock>,
        keeping: Keeping,
        metrics: Arc<Metrics>,
        objects: Option<Arc<Objects>>,
        open: Open,
    ) -> Self {
        Self {
            catalog: Arc::new(catalog),
            cluster,
            clock,
            keeping,
            metrics,
            objects,
            opener: open,
            slots: Mutex::default(),
            links: Mutex::default(),
            failing: Mutex::default(),
            keys: Mutex::default(),
            opening: Semaphore::new(OPENING),
            moving: tokio::sync::Mutex::default(),
            changing: tokio::sync::Mutex::default(),
            copied: Mutex::default(),
            stopping: AtomicBool::new(false),
        }
    }

    /// Asks the catalog, for which nobody else is to wait.
    async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Catalog) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.ask_why(ask).await.map_err(unreadable)
    }

    /// As [`Self::ask`], with the database's or the disk's own words.
    async fn ask_why<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Catalog) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let catalog = self.catalog.clone();
        let asked = tokio::task::spawn_blocking(move || ask(&catalog)).await;
        asked.unwrap_or_else(|_| Err(Error::Engine("asking broke off".to_owned())))
    }

    /// Works to the end, whether whoever waits for it is still there or not: a workspace is never left half open.
    async fn to_the_end<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(Arc<Self>) -> F,
    ) -> Result<T, NotEntered> {
        tokio::spawn(work(self.clone())).await.map_err(|_| not_now("it broke off; try again"))
    }

    /// Lets somebody into a workspace of this host, which is opened for it if it has to be.
    pub(crate) async fn enter(self: &Arc<Self>, name: &str) -> Result<Entered, Refusal> {
        self.let_in(name).await.map_err(Refusal::from)
    }

    async fn let_in(self: &Arc<Self>, name: &str) -> Result<Entered, NotEntered> {
        if let Some(entered) = self.open_now(name) {
            return Ok(entered);
        }
        let name = name.to_owned();
        self.to_the_end(|this| async move { this.open(&name).await }).await?
    }

    /// A workspace that is open, for which nobody has to wait.
    fn open_now(&self, name: &str) -> Option<Entered> {
        let slot = self.slots().get(&WorkspaceName::parse(name).ok()?).map(Slot::count)?;
        let inside = slot.now.try_lock().ok().and_then(|now| match &*now {
            Now::Open(held) if !self.is_lost(held) && held.is_fit() => Some(held.inside()),
            _ => None,
        });
        match inside {
            Some((served, bounds)) => Some(Entered { served, bounds, slot }),
            None => {
                slot.leave();
                None
            }
        }
    }

    async fn open(&self, name: &str) -> Result<Entered, NotEntered> {
        let slot = self.slot(name).await.map_err(NotEntered::Refused)?;
        let entered = self.enter_slot(&slot).await;
        match entered {
            // The slot goes on to count whoever is in it.
            Ok((served, bounds)) => Ok(Entered { served, bounds, slot }),
            Err(why) => {
                slot.leave();
                self.forget(&slot);
                Err(why)
            }
        }
    }

    /// The slot of a workspace that may be used, with its caller counted.
    async fn slot(&self, name: &str) -> Result<Arc<Slot>, Refusal> {
        if self.stopping.load(Ordering::SeqCst) {
            return Err(Refusal::new(Code::Unavailable, "the host is stopping; try again"));
        }
        let Ok(name) = WorkspaceName::parse(name) else { return Err(no_such(name)) };
        if let Some(slot) = self.slots().get(&name) {
            return Ok(slot.count());
        }
        self.must_be_active(&name).await?;
        Ok(self.slots().entry(name.clone()).or_insert_with(|| Slot::of(name)).count())
    }

    async fn enter_slot(&self, slot: &Slot) -> Result<Inside, NotEntered> {
        let mut now = slot.now.lock().await;
        if slot.is_given_up.load(Ordering::SeqCst) {
            return Err(not_now("it goes to another host"));
        }
        let unavailable = || NotEntered::Refused(unavailable(&slot.name));
        match &*now {
            Now::Open(held) if self.is_lost(held) => self.let_go(slot, &mut now).await,
            Now::Open(held) => match held.served.ended() {
                None if held.owned.as_ref().is_none_or(|owned| owned.lease.holds()) => {
                    return Ok(held.inside());
                }
                None => return Err(not_now("this host could not renew its lease")),
                Some(why) => {
                    tracing::error!(workspace = %slot.name, why, "a workspace has ended by itself");
                    self.close_now(slot, &mut now, Duration::ZERO).await;
                    if self.cluster.view().is_some() {
                        // Another host may have it: then that one is known in a moment.
                        self.cluster.look();
                        return Err(not_now("its host has changed"));
                    }
                    self.failed(slot, &mut now, why).await;
                    return Err(unavailable());
                }
            },
            Now::Failed(until) if Instant::now() < *until => return Err(unavailable()),
            Now::Closed | Now::Failed(..) => {}
        }
        // It may have been suspended or deleted while this one waited.
        let entry = self.must_be_active(&slot.name).await.map_err(NotEntered::Refused)?;
        self.make_room(&slot.name).await?;
        let Ok(_place) = self.opening.acquire().await else {
            return Err(unavailable());
        };
        let owned = self.take(entry.key).await?;
        let allowed = self.keeping.allowance.with(&entry.quota);
        match self.opened(entry, allowed, owned.clone()).await {
            Ok(served) => {
                self.failing().remove(&slot.name);
                let bounds = Bounds::of(allowed, self.clock.clone());
                let held = Held { served, bounds, owned };
                let inside = held.inside();
                *now = Now::Open(held);
                Ok(inside)
            }
            Err(why) => {
                tracing::error!(workspace = %slot.name, why, "a workspace cannot be opened");
                self.failed(slot, &mut now, why).await;
                self.release(owned).await;
                Err(unavailable())
            }
        }
    }

    /// It is let be for a moment, and tried again later.
    async fn failed(&self, slot: &Slot, now: &mut Now, why: String) {
        self.set_due(&slot.name, self.clock.now().plus(TRIED_AGAIN_MS)).await;
        self.failing().insert(slot.name.clone(), why);
        *now = Now::Failed(Instant::now() + REST);
    }

    /// Opens it. From before that until it is closed the catalog says so, so that it is looked at after a crash.
    async fn opened(
        &self,
        entry: Entry,
        allowed: Allowance,
        owned: Option<Owned>,
    ) -> Result<Arc<dyn Served>, String> {
        let (name, is_made) = (entry.name.clone(), entry.is_made);
        let of = name.clone();
        let set = self.ask(move |catalog| catalog.set_open(&of)).await;
        set.map_err(|why| why.message)?;
        let links = self.links().entry(name.clone()).or_default().clone();
        let folder = self.catalog.folder(&entry);
        let storage_mib = allowed.storage_mib;
        let opening = Opening { entry, storage_mib, folder, links, owned };
        let served = (self.opener)(opening).await?;
        if !is_made {
            let set = self.ask(move |catalog| catalog.set_made(&name)).await;
            set.map_err(|why| why.message)?;
        }
        Ok(served)
    }

    async fn must_be_active(&self, name: &WorkspaceName) -> Result<Entry, Refusal> {
        let entry = self.entry(name).await?;
        match entry.state {
            State::Active => Ok(entry),
            State::Suspended => {
                let why = format!(
                    "the workspace {name} is suspended; whoever runs the host resumes it with: chorus workspace resume {name}"
                );
                Err(Refusal::new(Code::Unavailable, why))
            }
            State::Deleted => Err(gone(&entry)),
        }
    }

    async fn entry(&self, name: &str) -> Result<Entry, Refusal> {
        let of = name.to_owned();
        self.ask(move |catalog| catalog.find(&of)).await?.ok_or_else(|| no_such(name))
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<WorkspaceName, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the slot of a workspace that is closed and that nobody waits for.
    fn forget(&self, slot: &Arc<Slot>) {
        let mut slots = self.slots();
        let is_closed = slot.now.try_lock().is_ok_and(|now| match &*now {
            Now::Closed => true,
            Now::Open(_) => false,
            Now::Failed(until) => *until <= Instant::now(),
        });
        if is_closed && slot.in_use.load(Ordering::SeqCst) == 0 {
            remove(&mut slots, slot);
        }
    }

    fn links(&self) -> MutexGuard<'_, HashMap<WorkspaceName, Arc<SignInLinks>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<WorkspaceName, i64>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failing(&self) -> MutexGuard<'_, HashMap<WorkspaceName, String>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn set_due(&self, name: &WorkspaceName, at: Timestamp) {
        let of = name.clone();
        if let Err(why) = self.ask(move |catalog| catalog.set_due(&of, at)).await {
            tracing::error!(workspace = %name, why = why.message, "it could not be kept when a workspace is due");
        }
    }

    /// Closes a workspace, whoever uses it.
    async fn close(&self, slot: &Arc<Slot>, within: Duration) {
        let mut now = slot.now.lock().await;
        self.close_now(slot, &mut now, within).await;
        drop(now);
        self.forget(slot);
    }

    async fn close_now(&self, slot: &Slot, now: &mut Now, within: Duration) {
        let Now::Open(held) = std::mem::replace(now, Now::Closed) else { return };
        let Held { served, owned, .. } = held;
        let soon = self.clock.now().plus(LOOKED_AT_MS);
        let due = served.next_due().map_or(soon, |due| due.min(soon));
        served.close(within).await;
        // Before another host can have it.
        self.set_due(&slot.name, due).await;
        self.release(owned).await;
    }

    /// The host stops: closes all of them.
    pub(crate) async fn stop(&self, within: Duration) {
        self.stopping.store(true, Ordering::SeqCst);
        let slots: Vec<_> = self.slots().values().cloned().collect();
        join_all(slots.iter().map(|slot| self.close(slot, within))).await;
        if !slots.is_empty() {
            self.cluster.tell_others().await;
        }
    }

    /// Whether a workspace takes work, for `/readyz`; one that is closed is opened when somebody comes.
    pub(crate) async fn ready(&self, name: &str) -> Result<(), Refusal> {
        let name = WorkspaceName::parse(name).map_err(|_| no_such(name))?;
        match self.told(self.must_be_active(&name).await?).trouble {
            Some(_) => Err(unavailable(&name)),
            None => Ok(()),
        }
    }
}

/// Removes a slot, unless there is another one for its workspace by now.
fn remove(slots: &mut HashMap<WorkspaceName, Arc<Slot>>, slot: &Arc<Slot>) {
    if slots.get(&slot.name).is_some_and(|known| Arc::ptr_eq(known, slot)) {
        slots.remove(&slot.name);
    }
}

//! The workspaces beside the host's own: each a data folder of its own below `/w/NAME`, opened when somebody comes to it
//! or something is due in it, and closed when nobody uses it.
//!
//! Invariants: a workspace is opened once at a time, and nobody is let in while it is opened or closed. What fails in one
//! concerns that one alone. One that is closed has its next time in the catalog, so that it fires then.

mod manage;
mod sweep;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::workspace_name::WorkspaceName;
use chorus_store::Clock;
use chorus_store::catalog::{Catalog, Entry, State};
use chorus_store::db::Error;
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::auth::SignInLinks;
use crate::cluster::Access;
use crate::telemetry::Metrics;

/// What comes before a workspace's name in a path.
pub(crate) const PREFIX: &str = "/w/";
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
    /// When it has something to do by itself.
    fn next_due(&self) -> Option<Timestamp>;
    /// How its operator gets in.
    fn access(&self) -> BoxFuture<'static, Option<Access>>;
    fn close(&self, within: Duration) -> BoxFuture<'_, ()>;
}

/// Opens a workspace's folder, which it makes if there was none; or says why it cannot.
pub(crate) type Open = Box<
    dyn Fn(Entry, Arc<SignInLinks>) -> BoxFuture<'static, Result<Arc<dyn Served>, String>>
        + Send
        + Sync,
>;

pub(crate) struct Workspaces {
    catalog: Arc<Catalog>,
    clock: Arc<dyn Clock>,
    keeping: Keeping,
    metrics: Arc<Metrics>,
    open: Open,
    /// Those that are open, or were wanted a moment ago.
    slots: Mutex<HashMap<WorkspaceName, Arc<Slot>>>,
    /// Links into workspaces that were not used yet, whether these are open or not.
    links: Mutex<HashMap<WorkspaceName, Arc<SignInLinks>>>,
    /// Why those cannot be used that could not be opened when it was tried last.
    failing: Mutex<HashMap<WorkspaceName, String>>,
    opening: Semaphore,
    stopping: AtomicBool,
}

/// One workspace, as far as this process has it.
struct Slot {
    name: WorkspaceName,
    /// Requests and streams under way.
    in_use: AtomicUsize,
    used_at: Mutex<Instant>,
    /// Held while it is opened or closed.
    now: tokio::sync::Mutex<Now>,
}

enum Now {
    Closed,
    Open(Arc<dyn Served>),
    /// It could not be opened, and is let be until then.
    Failed(Instant),
}

/// A workspace that is used; it is not closed before this is dropped.
pub(crate) struct Entered {
    pub(crate) served: Arc<dyn Served>,
    slot: Arc<Slot>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.slot.leave();
    }
}

impl Slot {
    fn leave(&self) {
        *self.used_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.in_use.fetch_sub(1, Ordering::SeqCst);
    }

    fn unused_for(&self) -> Duration {
        match self.in_use.load(Ordering::SeqCst) {
            0 => self.used_at.lock().unwrap_or_else(PoisonError::into_inner).elapsed(),
            _ => Duration::ZERO,
        }
    }
}

/// What is told of a workspace.
pub(crate) struct Told {
    pub(crate) entry: Entry,
    pub(crate) is_open: bool,
    /// Why it cannot be used, if it cannot.
    pub(crate) trouble: Option<String>,
}

impl Workspaces {
    /// Those of a catalog.
    pub(crate) fn new(
        catalog: Catalog,
        clock: Arc<dyn Clock>,
        keeping: Keeping,
        metrics: Arc<Metrics>,
        open: Open,
    ) -> Self {
        Self {
            catalog: Arc::new(catalog),
            clock,
            keeping,
            metrics,
            open,
            slots: Mutex::default(),
            links: Mutex::default(),
            failing: Mutex::default(),
            opening: Semaphore::new(OPENING),
            stopping: AtomicBool::new(false),
        }
    }

    /// Lets somebody into a workspace, which is opened for it if it has to be.
    pub(crate) async fn enter(&self, name: &str) -> Result<Entered, Refusal> {
        let slot = self.slot(name)?;
        let entered = self.enter_slot(&slot).await;
        match entered {
            // The slot goes on to count whoever is in it.
            Ok(served) => Ok(Entered { served, slot }),
            Err(refusal) => {
                slot.leave();
                self.forget(&slot);
                Err(refusal)
            }
        }
    }

    /// The slot of a workspace that may be used, with its caller counted.
    fn slot(&self, name: &str) -> Result<Arc<Slot>, Refusal> {
        if self.stopping.load(Ordering::SeqCst) {
            return Err(Refusal::new(Code::Unavailable, "the host is stopping; try again"));
        }
        let count = |slot: &Arc<Slot>| {
            slot.in_use.fetch_add(1, Ordering::SeqCst);
            slot.clone()
        };
        let Ok(name) = WorkspaceName::parse(name) else { return Err(no_such(name)) };
        if let Some(slot) = self.slots().get(&name) {
            return Ok(count(slot));
        }
        self.must_be_active(&name)?;
        let fresh = || {
            Arc::new(Slot {
                name: name.clone(),
                in_use: AtomicUsize::new(0),
                used_at: Mutex::new(Instant::now()),
                now: tokio::sync::Mutex::new(Now::Closed),
            })
        };
        Ok(count(self.slots().entry(name.clone()).or_insert_with(fresh)))
    }

    async fn enter_slot(&self, slot: &Slot) -> Result<Arc<dyn Served>, Refusal> {
        let mut now = slot.now.lock().await;
        let unavailable = || unavailable(&slot.name);
        match &*now {
            Now::Open(served) => match served.ended() {
                None => return Ok(served.clone()),
                Some(why) => {
                    tracing::error!(workspace = %slot.name, why, "a workspace has ended by itself");
                    let served = served.clone();
                    served.close(Duration::ZERO).await;
                    self.set_due(&slot.name, self.clock.now().plus(TRIED_AGAIN_MS));
                    self.fails(&slot.name, why);
                    *now = Now::Failed(Instant::now() + REST);
                    return Err(unavailable());
                }
            },
            Now::Failed(until) if Instant::now() < *until => return Err(unavailable()),
            Now::Closed | Now::Failed(..) => {}
        }
        // It may have been suspended or deleted while this one waited.
        let entry = self.must_be_active(&slot.name)?;
        self.make_room(&slot.name).await?;
        let Ok(_place) = self.opening.acquire().await else {
            return Err(unavailable());
        };
        match self.opened(entry).await {
            Ok(served) => {
                self.failing().remove(&slot.name);
                *now = Now::Open(served.clone());
                Ok(served)
            }
            Err(why) => {
                tracing::error!(workspace = %slot.name, why, "a workspace cannot be opened");
                self.set_due(&slot.name, self.clock.now().plus(TRIED_AGAIN_MS));
                self.fails(&slot.name, why);
                *now = Now::Failed(Instant::now() + REST);
                Err(unavailable())
            }
        }
    }

    /// Opens it. From before that until it is closed the catalog says so, so that it is looked at after a crash.
    async fn opened(&self, entry: Entry) -> Result<Arc<dyn Served>, String> {
        let (name, is_made) = (entry.name.clone(), entry.is_made);
        self.catalog.set_open(&name).map_err(|why| why.to_string())?;
        let links = self.links().entry(name.clone()).or_default().clone();
        let served = (self.open)(entry, links).await?;
        if !is_made {
            self.catalog.set_made(&name).map_err(|why| why.to_string())?;
        }
        Ok(served)
    }

    fn must_be_active(&self, name: &WorkspaceName) -> Result<Entry, Refusal> {
        let entry = self.entry(name)?;
        match entry.state {
            State::Active => Ok(entry),
            State::Suspended => {
                let why = format!(
                    "the workspace {name} is suspended; whoever runs the host resumes it with: chorus workspace resume {name}"
                );
                Err(Refusal::new(Code::Unavailable, why))
            }
            State::Deleted => Err(no_such(name)),
        }
    }

    fn entry(&self, name: &str) -> Result<Entry, Refusal> {
        self.catalog.find(name).map_err(unreadable)?.ok_or_else(|| no_such(name))
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
            slots.remove(&slot.name);
        }
    }

    fn links(&self) -> MutexGuard<'_, HashMap<WorkspaceName, Arc<SignInLinks>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failing(&self) -> MutexGuard<'_, HashMap<WorkspaceName, String>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fails(&self, name: &WorkspaceName, why: String) {
        self.failing().insert(name.clone(), why);
    }

    fn set_due(&self, name: &str, at: Timestamp) {
        if let Err(why) = self.catalog.set_due(name, at) {
            tracing::error!(workspace = name, %why, "it could not be kept when a workspace is due");
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
        let Now::Open(served) = std::mem::replace(now, Now::Closed) else { return };
        let soon = self.clock.now().plus(LOOKED_AT_MS);
        let due = served.next_due().map_or(soon, |due| due.min(soon));
        served.close(within).await;
        self.set_due(&slot.name, due);
    }

    /// The host stops: closes all of them.
    pub(crate) async fn stop(&self, within: Duration) {
        self.stopping.store(true, Ordering::SeqCst);
        let slots: Vec<_> = self.slots().values().cloned().collect();
        join_all(slots.iter().map(|slot| self.close(slot, within))).await;
    }

    /// Whether a workspace takes work, for `/readyz`; one that is closed is opened when somebody comes.
    pub(crate) fn ready(&self, name: &str) -> Result<(), Refusal> {
        let name = WorkspaceName::parse(name).map_err(|_| no_such(name))?;
        match self.told(self.must_be_active(&name)?).trouble {
            Some(_) => Err(unavailable(&name)),
            None => Ok(()),
        }
    }
}

fn no_such(name: &str) -> Refusal {
    let shown: String = name.chars().take(60).collect();
    Refusal::new(Code::NotFound, format!("this host has no workspace {shown:?}"))
}

/// What is wrong names files of the host, and is for whoever runs it.
fn unavailable(name: &WorkspaceName) -> Refusal {
    let why = format!(
        "the workspace {name} cannot be used now; `chorus workspace list` tells whoever runs the host why"
    );
    Refusal::new(Code::Unavailable, why)
}

fn unreadable(why: Error) -> Refusal {
    tracing::error!(%why, "the list of workspaces cannot be used");
    Refusal::new(
        Code::Unavailable,
        "the list of workspaces cannot be used now; the host's log says why",
    )
}

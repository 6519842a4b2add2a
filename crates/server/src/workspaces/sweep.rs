//! What is done about workspaces without anybody asking: opening those in which something is due, closing those that
//! nobody uses, and removing those whose grace is over.

use std::sync::Arc;
use std::time::Duration;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::workspace_name::WorkspaceName;
use chorus_store::catalog::State;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Now, Slot, Workspaces};

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(1);
/// How many are opened or removed in one look.
const AT_ONCE: usize = 64;

impl Workspaces {
    /// Goes on until the host stops.
    pub(crate) async fn sweep(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                _ = stopped.wait_for(|stopped| *stopped) => return,
                () = tokio::time::sleep(EVERY) => {}
            }
            self.look().await;
        }
    }

    async fn look(&self) {
        let now = self.clock.now();
        match self.catalog.due(now, AT_ONCE) {
            Ok(due) => self.open_due(due).await,
            Err(why) => tracing::error!(%why, "it could not be read which workspaces are due"),
        }
        self.close_unused().await;
        self.forget_links();
        self.count();
        match self.catalog.to_remove(now, AT_ONCE) {
            Ok(names) => self.remove_all(names).await,
            Err(why) => {
                tracing::error!(%why, "it could not be read which workspaces are to be removed")
            }
        }
    }

    fn count(&self) {
        let (mut open, mut failing) = (0, self.failing().len());
        for slot in self.slots().values() {
            if let Ok(Now::Open(served)) = slot.now.try_lock().as_deref() {
                match served.trouble() {
                    None => open += 1,
                    Some(_) => failing += 1,
                }
            }
        }
        self.metrics.open_workspaces.set(open);
        self.metrics.failing_workspaces.set(i64::try_from(failing).unwrap_or(i64::MAX));
    }

    /// Forgets links that are over. Those of a workspace that is open are its own too.
    fn forget_links(&self) {
        let now = self.clock.now();
        self.links().retain(|_, links| Arc::strong_count(links) > 1 || links.has_open(now));
    }

    /// One that somebody else opens meanwhile is left to them.
    async fn open_due(&self, due: Vec<WorkspaceName>) {
        for name in due {
            if !self.slots().contains_key(&name)
                && let Err(refusal) = self.enter(&name).await
            {
                tracing::warn!(workspace = %name, why = refusal.message, "a workspace is due and cannot be opened");
            }
        }
    }

    async fn close_unused(&self) {
        let idle = self.keeping.idle;
        let slots: Vec<_> = self.slots().values().cloned().collect();
        for slot in slots.iter().filter(|slot| slot.unused_for() >= idle) {
            // One that is due before it could be closed for as long again stays open.
            if !self.close_if_unused(slot, idle).await {
                self.forget(slot);
            }
        }
    }

    /// Closes a workspace unless somebody uses it, or something is due in it within a time.
    async fn close_if_unused(&self, slot: &Arc<Slot>, within: Duration) -> bool {
        let Ok(mut now) = slot.now.try_lock() else { return false };
        let Now::Open(served) = &*now else { return false };
        let soon = self.clock.now().plus(i64::try_from(within.as_millis()).unwrap_or(i64::MAX));
        let is_due = served.next_due().is_some_and(|due| due < soon);
        if slot.unused_for().is_zero() || is_due || !served.is_idle() {
            return false;
        }
        self.close_now(slot, &mut now, Duration::ZERO).await;
        drop(now);
        self.forget(slot);
        true
    }

    /// Closes the one that was unused for the longest, if as many are open as may be.
    pub(super) async fn make_room(&self, newcomer: &WorkspaceName) -> Result<(), Refusal> {
        let full = || self.slots().len() > self.keeping.open;
        if !full() {
            return Ok(());
        }
        let mut slots: Vec<_> = self.slots().values().cloned().collect();
        slots.retain(|slot| slot.name != *newcomer && !slot.unused_for().is_zero());
        let now = Instant::now();
        slots.sort_by_key(|slot| now.checked_sub(slot.unused_for()));
        for slot in slots {
            if self.close_if_unused(&slot, EVERY).await && !full() {
                return Ok(());
            }
        }
        let why = "as many workspaces are used as the host has open at once; try again in a moment";
        Err(Refusal::new(Code::Unavailable, why))
    }

    async fn remove_all(&self, names: Vec<WorkspaceName>) {
        for name in names {
            // It may have been brought back meanwhile.
            if !self.entry(&name).is_ok_and(|entry| entry.state == State::Deleted) {
                continue;
            }
            let slot = self.slots().get(&name).cloned();
            if let Some(slot) = slot {
                self.close(&slot, Duration::ZERO).await;
            }
            self.remove(&name).await;
        }
    }

    /// Removes a workspace that nobody is in.
    pub(super) async fn remove(&self, name: &WorkspaceName) {
        let (catalog, of) = (self.catalog.clone(), name.clone());
        match tokio::task::spawn_blocking(move || catalog.remove(&of)).await {
            Ok(Ok(())) => {
                self.links().remove(name);
                self.failing().remove(name);
                tracing::info!(workspace = %name, "a workspace was removed");
            }
            Ok(Err(why)) => {
                self.fails(name, format!("it cannot be removed: {why}"));
                tracing::error!(workspace = %name, %why, "a workspace could not be removed");
            }
            Err(_) => tracing::error!(workspace = %name, "removing a workspace broke off"),
        }
    }
}

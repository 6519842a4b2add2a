//! What is done about workspaces without anybody asking: opening those in which something is due, closing those that
//! nobody uses, and removing those whose grace is over.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chorus_core::model::workspace_name::WorkspaceName;
use chorus_store::catalog::State;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Held, NotEntered, Now, Slot, Workspaces, not_now};
use crate::placement::{self, Candidate};

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(1);
/// How long what is under way in a workspace that is given up may take to be answered.
const ANSWERING: Duration = Duration::from_secs(2);
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

    async fn look(self: &Arc<Self>) {
        if self.cluster.view().is_some_and(|view| view.trouble.is_some()) {
            // Who keeps the lease says so already.
            return;
        }
        let now = self.clock.now();
        match self.ask(move |catalog| catalog.due(now, AT_ONCE)).await {
            Ok(due) => self.open_due(due).await,
            Err(why) => {
                tracing::error!(why = why.message, "it could not be read which workspaces are due");
            }
        }
        self.look_at_hosts().await;
        self.close_unused().await;
        self.forget_links();
        self.count();
        match self.ask(move |catalog| catalog.to_remove(now, AT_ONCE)).await {
            Ok(names) => self.remove_all(names).await,
            Err(why) => {
                let why = why.message;
                tracing::error!(why, "it could not be read which workspaces are to be removed");
            }
        }
    }

    /// Where hosts share workspaces: lets go of what is another's, opens what a lost host had open, and gives up one
    /// workspace if this host has more than its share.
    async fn look_at_hosts(self: &Arc<Self>) {
        let Some(view) = self.cluster.view() else { return };
        let slots: Vec<_> = self.slots().values().cloned().collect();
        for slot in &slots {
            let Ok(mut now) = slot.now.try_lock() else { continue };
            if matches!(&*now, Now::Open(held) if self.is_lost(held)) {
                self.let_go(slot, &mut now).await;
                drop(now);
                self.forget(slot);
            }
        }
        let orphans: Vec<_> = view.orphans().take(AT_ONCE).collect();
        if !orphans.is_empty() {
            match self.ask(move |catalog| catalog.of_keys(&orphans)).await {
                Ok(entries) => {
                    let active = entries.into_iter().filter(|entry| entry.state == State::Active);
                    self.open_due(active.map(|entry| entry.name).collect()).await;
                }
                Err(why) => {
                    tracing::error!(why = why.message, "the workspaces of a lost host are unknown");
                }
            }
        }
        let hosts = view.hosts.iter().filter(|host| !host.peer.is_empty());
        let hosts: Vec<_> = hosts
            .map(|host| Candidate { host: &host.id, owned: view.owned_by(&host.id) })
            .collect();
        if view.owned_by(&view.me) > placement::bound(&hosts) {
            let free = slots.iter().filter(|slot| !self.has_links(slot));
            let longest = free.max_by_key(|slot| slot.unused_for());
            if let Some(slot) = longest {
                tracing::info!(workspace = %slot.name, "a workspace goes to a host that has fewer");
                self.give_up(slot).await;
            }
        }
    }

    /// Closes a workspace that another host is to have. Whoever waits for it meanwhile looks again where it is.
    async fn give_up(&self, slot: &Arc<Slot>) {
        slot.is_given_up.store(true, Ordering::SeqCst);
        self.close(slot, ANSWERING).await;
        super::remove(&mut self.slots(), slot);
    }

    fn count(&self) {
        let (mut open, mut failing) = (0, self.failing().len());
        for slot in self.slots().values() {
            if let Ok(Now::Open(held)) = slot.now.try_lock().as_deref() {
                match held.served.trouble() {
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
    async fn open_due(self: &Arc<Self>, due: Vec<WorkspaceName>) {
        for name in due {
            if !self.slots().contains_key(&name)
                && self.is_for_this_host(&name)
                // Another host may have been sooner.
                && let Err(NotEntered::Refused(refusal)) = self.let_in(&name).await
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
        let Now::Open(Held { served, .. }) = &*now else { return false };
        let soon = self.clock.now().plus(i64::try_from(within.as_millis()).unwrap_or(i64::MAX));
        let is_due = served.next_due().is_some_and(|due| due < soon);
        let is_kept = is_due || self.has_links(slot);
        if slot.unused_for().is_zero() || is_kept || !served.is_idle() {
            return false;
        }
        self.close_now(slot, &mut now, Duration::ZERO).await;
        drop(now);
        self.forget(slot);
        true
    }

    /// Whether a link into it was given out here, which another host would not know.
    fn has_links(&self, slot: &Slot) -> bool {
        self.cluster.view().is_some()
            && self.links().get(&slot.name).is_some_and(|links| links.has_open(self.clock.now()))
    }

    /// Closes the one that was unused for the longest, if as many are open as may be.
    pub(super) async fn make_room(&self, newcomer: &WorkspaceName) -> Result<(), NotEntered> {
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
        Err(not_now(
            "as many workspaces are used as the host has open at once; try again in a moment",
        ))
    }

    async fn remove_all(&self, names: Vec<WorkspaceName>) {
        for name in names.into_iter().filter(|name| self.is_for_this_host(name)) {
            // It may have been brought back meanwhile.
            if !self.entry(&name).await.is_ok_and(|entry| entry.state == State::Deleted) {
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
        let Ok(entry) = self.entry(name).await else { return };
        // Whoever owns it, or is removing it, goes on.
        let Ok(owned) = self.take(entry.key).await else { return };
        let epoch = owned.as_ref().map(|owned| owned.epoch);
        let of = entry.clone();
        // Those of one that cannot be read stay.
        let named = self.ask_why(move |catalog| catalog.objects(&of)).await.unwrap_or_default();
        if let Some(objects) = &self.objects
            && !objects.are_removed(&named).await
        {
            let why = "its files cannot be dropped from the object store now";
            self.failing().insert(name.clone(), why.to_owned());
            self.release(owned).await;
            return;
        }
        let removed = self.ask_why(move |catalog| catalog.remove(&entry, epoch)).await;
        match removed {
            Ok(()) => {
                self.links().remove(name);
                self.failing().remove(name);
                self.forget_key(name);
                tracing::info!(workspace = %name, "a workspace was removed");
            }
            Err(why) => {
                self.failing().insert(name.clone(), format!("it cannot be removed: {why}"));
                tracing::error!(workspace = %name, %why, "a workspace could not be removed");
            }
        }
        self.release(owned).await;
    }
}

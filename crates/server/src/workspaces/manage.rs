//! What whoever runs the host does with workspaces: listing, making, shutting and bringing them back.

use std::sync::Arc;
use std::time::Duration;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::workspace_name::WorkspaceName;
use chorus_store::catalog::{Added, Entry, Quota, State};
use futures_util::future::join_all;
use tokio::time::Instant;

use super::refusals::taken_by;
use super::{NotEntered, Now, Told, Workspaces};
use crate::cluster::{Access, Peer};

/// How long it is waited for a workspace that changes hosts, and how often it is looked.
const ACCESS: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

fn no_operator(name: &str) -> Refusal {
    let why = format!("the member 'operator' of {name} was removed, and nobody can run it");
    Refusal::new(Code::Conflict, why)
}

impl Workspaces {
    /// Which workspaces there are after a name.
    pub(crate) async fn list(&self, after: &str, limit: usize) -> Result<Vec<Told>, Refusal> {
        let after = after.to_owned();
        let entries = self.ask(move |catalog| catalog.list(&after, limit)).await?;
        Ok(entries.into_iter().map(|entry| self.told(entry)).collect())
    }

    pub(super) fn told(&self, entry: Entry) -> Told {
        let slot = self.slots().get(&entry.name).cloned();
        let (mut is_open, mut trouble) = (false, self.failing().get(&entry.name).cloned());
        // One that is being opened or closed is neither.
        if let Some(now) = slot.as_ref().and_then(|slot| slot.now.try_lock().ok()) {
            match &*now {
                Now::Open(held) => (is_open, trouble) = (true, held.served.trouble()),
                Now::Closed | Now::Failed(_) => {}
            }
        }
        let host = self.cluster.view().and_then(|view| {
            let owner = view.owner(entry.key)?;
            let why = self.why_there(&view, &entry.name, owner).unwrap_or_default();
            Some((owner.id.clone(), why))
        });
        Told { is_open: is_open || host.is_some(), entry, trouble, host }
    }

    /// Makes a workspace; with how its operator gets in.
    pub(crate) async fn create(self: &Arc<Self>, name: &str) -> Result<(Told, Access), Refusal> {
        let name = WorkspaceName::parse(name)?;
        self.to_the_end(|this| async move { this.make(name).await }).await?
    }

    async fn make(self: Arc<Self>, name: WorkspaceName) -> Result<(Told, Access), Refusal> {
        self.must_have_no_folder(&name).await?;
        self.add(&name, State::Active).await?;
        match self.access(&name).await {
            Ok(made) => Ok(made),
            Err(refusal) => {
                // Nobody has been in it.
                self.remove(&name).await;
                Err(refusal)
            }
        }
    }

    pub(super) async fn add(&self, name: &WorkspaceName, state: State) -> Result<(), Refusal> {
        let (of, now) = (name.clone(), self.clock.now());
        match self.ask(move |catalog| catalog.add(&of, state, now)).await? {
            Added::New => Ok(()),
            Added::Taken(other) => Err(taken_by(name, &other)),
        }
    }

    pub(super) async fn must_not_look_like_another(
        &self,
        name: &WorkspaceName,
    ) -> Result<(), Refusal> {
        let of = name.clone();
        let other = self.ask(move |catalog| catalog.taken(&of)).await?;
        other.map_or(Ok(()), |other| Err(taken_by(name, &other)))
    }

    /// Beside a file, a workspace is never made in a folder that is there already.
    pub(super) async fn must_have_no_folder(&self, name: &WorkspaceName) -> Result<(), Refusal> {
        let of = name.clone();
        let found = self.ask(move |catalog| catalog.unknown_folder(&of)).await?;
        let Some(folder) = found else { return Ok(()) };
        let why = format!(
            "there is a folder of this name where workspaces are kept already; the host takes it in when it starts, \
             or move it away: {}",
            folder.display()
        );
        Err(Refusal::new(Code::Conflict, why))
    }

    /// How the operator of a workspace gets in.
    pub(crate) async fn access(self: &Arc<Self>, name: &str) -> Result<(Told, Access), Refusal> {
        let until = Instant::now() + ACCESS;
        let access = loop {
            let entry = self.entry(name).await?;
            if let Some(peer) = self.elsewhere(entry.key)
                && let Some(access) = self.cluster.access(&peer, Some(name)).await
                // Who does not serve it after all gives none.
                && !access.token.is_empty()
            {
                break access;
            }
            match self.let_in(name).await {
                Ok(entered) => match entered.served.access().await {
                    Ok(access) => break access.ok_or_else(|| no_operator(name))?,
                    // It went to another host, or was shut, while it was asked.
                    Err(_) if Instant::now() < until => {
                        drop(entered);
                        self.look_again().await;
                    }
                    Err(refusal) => return Err(refusal),
                },
                Err(NotEntered::NotNow(_)) if Instant::now() < until => self.look_again().await,
                Err(NotEntered::NotNow(refusal) | NotEntered::Refused(refusal)) => {
                    return Err(refusal);
                }
            }
        };
        Ok((self.told_of(name).await?, access))
    }

    /// The same at this host alone.
    pub(crate) async fn access_here(self: &Arc<Self>, name: &str) -> Option<Access> {
        self.enter(name).await.ok()?.served.access().await.ok()?
    }

    /// The host that owns a workspace, if it is another than this one.
    fn elsewhere(&self, key: i64) -> Option<Peer> {
        let view = self.cluster.view()?;
        Peer::of(view.other_owner(key)?)
    }

    /// Somebody else owns what this host believed free, or is about to let it go.
    async fn look_again(&self) {
        self.cluster.look();
        tokio::time::sleep(LOOK_AGAIN).await;
    }

    /// Keeps everybody out of a workspace, which stays as it is.
    pub(crate) async fn suspend(self: &Arc<Self>, name: &str) -> Result<Told, Refusal> {
        let name = name.to_owned();
        let shut = |this: Arc<Self>| async move { this.shut(&name, State::Suspended, None).await };
        self.to_the_end(shut).await?
    }

    /// Keeps everybody out, and removes the workspace when its grace is over.
    pub(crate) async fn delete(self: &Arc<Self>, name: &str) -> Result<Told, Refusal> {
        let grace = i64::try_from(self.keeping.grace.as_millis()).unwrap_or(i64::MAX);
        let (name, at) = (name.to_owned(), self.clock.now().plus(grace));
        let shut =
            |this: Arc<Self>| async move { this.shut(&name, State::Deleted, Some(at)).await };
        self.to_the_end(shut).await?
    }

    async fn shut(
        &self,
        name: &str,
        state: State,
        removal_at: Option<Timestamp>,
    ) -> Result<Told, Refusal> {
        let mut entry = self.entry(name).await?;
        if entry.state != state {
            (entry.state, entry.removal_at, entry.moved_to) = (state, removal_at, None);
            self.set_state(&entry).await?;
            tracing::info!(workspace = name, state = state.name(), "a workspace was shut");
        }
        self.close_everywhere(&entry).await;
        self.told_of(name).await
    }

    /// Whoever has it open closes it, and writes nothing more if it does not.
    async fn close_everywhere(&self, entry: &Entry) {
        self.close_here(&entry.name).await;
        self.cluster.close(&entry.name).await;
        self.revoke(entry.key).await;
    }

    /// Says what a workspace may take. Whoever is connected connects anew.
    pub(crate) async fn set_quota(
        self: &Arc<Self>,
        name: &str,
        quota: Quota,
    ) -> Result<Told, Refusal> {
        let name = name.to_owned();
        let set = |this: Arc<Self>| async move {
            let entry = this.entry(&name).await?;
            if entry.quota != quota {
                let of = entry.clone();
                this.ask(move |catalog| catalog.set_quota(&of, &quota)).await?;
                this.close_everywhere(&entry).await;
            }
            this.told_of(&name).await
        };
        self.to_the_end(set).await?
    }

    pub(super) async fn told_of(&self, name: &str) -> Result<Told, Refusal> {
        Ok(self.told(self.entry(name).await?))
    }

    /// Closes a workspace that this host has open, for another host.
    pub(crate) async fn close_for_other(self: &Arc<Self>, name: WorkspaceName) {
        // Who asked may have gone.
        let _ = self.to_the_end(|this| async move { this.close_here(&name).await }).await;
    }

    async fn close_here(&self, name: &WorkspaceName) {
        let slot = self.slots().get(name).cloned();
        if let Some(slot) = slot {
            self.close(&slot, Duration::ZERO).await;
        }
    }

    /// Closes all that this host has open.
    pub(crate) async fn close_all(&self) {
        let slots: Vec<_> = self.slots().values().cloned().collect();
        join_all(slots.iter().map(|slot| self.close(slot, Duration::ZERO))).await;
    }

    async fn revoke(&self, key: i64) {
        let Some(membership) = self.cluster.membership() else { return };
        if let Ok(Err(why)) = membership.revoke(key).await {
            tracing::warn!(%why, "a workspace could not be taken from its host");
        }
    }

    pub(super) async fn set_state(&self, entry: &Entry) -> Result<(), Refusal> {
        let (entry, now) = (entry.clone(), self.clock.now());
        self.ask(move |catalog| catalog.set_state(&entry, now)).await
    }

    /// Lets everybody in again who was in before.
    pub(crate) async fn resume(&self, name: &str) -> Result<Told, Refusal> {
        let _alone = self.changing.lock().await;
        let mut entry = self.entry(name).await?;
        self.must_be_there(&entry)?;
        if entry.state != State::Active {
            (entry.state, entry.removal_at, entry.moved_to) = (State::Active, None, None);
            // What is written from here on is in no copy.
            self.copied().remove(&entry.name);
            self.set_state(&entry).await?;
            tracing::info!(workspace = name, "a workspace was resumed");
        }
        self.told_of(name).await
    }
}

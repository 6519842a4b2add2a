//! What whoever runs the host does with workspaces: listing, making, shutting and bringing them back.

use std::time::Duration;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::workspace_name::WorkspaceName;
use chorus_store::catalog::{Added, Entry, State};

use super::{Now, Told, Workspaces, unreadable};
use crate::cluster::Access;

impl Workspaces {
    /// Which workspaces there are after a name.
    pub(crate) fn list(&self, after: &str, limit: usize) -> Result<Vec<Told>, Refusal> {
        let entries = self.catalog.list(after, limit).map_err(unreadable)?;
        Ok(entries.into_iter().map(|entry| self.told(entry)).collect())
    }

    pub(super) fn told(&self, entry: Entry) -> Told {
        let slot = self.slots().get(&entry.name).cloned();
        let (mut is_open, mut trouble) = (false, self.failing().get(&entry.name).cloned());
        // One that is being opened or closed is neither.
        if let Some(now) = slot.as_ref().and_then(|slot| slot.now.try_lock().ok()) {
            match &*now {
                Now::Open(served) => (is_open, trouble) = (true, served.trouble()),
                Now::Closed | Now::Failed(_) => {}
            }
        }
        Told { entry, is_open, trouble }
    }

    /// Makes a workspace; with how its operator gets in.
    pub(crate) async fn create(&self, name: &str) -> Result<(Told, Access), Refusal> {
        let name = WorkspaceName::parse(name)?;
        let folder = self.catalog.folder(&name);
        if self.catalog.find(&name).map_err(unreadable)?.is_none()
            && folder.symlink_metadata().is_ok()
        {
            let why = format!(
                "there is a folder of this name where workspaces are kept already; the host takes it in when it starts, \
                 or move it away: {}",
                folder.display()
            );
            return Err(Refusal::new(Code::Conflict, why));
        }
        match self.catalog.add(&name, self.clock.now()).map_err(unreadable)? {
            Added::New => {}
            Added::Taken(other) if *other == *name => {
                return Err(Refusal::new(
                    Code::Conflict,
                    format!(
                        "there is a workspace {name} already; `chorus workspace list` shows it"
                    ),
                ));
            }
            Added::Taken(other) => {
                let why = format!(
                    "{name} can be taken for the workspace {other}, which there is already; choose another name"
                );
                return Err(Refusal::new(Code::Conflict, why));
            }
        }
        match self.access(&name).await {
            Ok(made) => Ok(made),
            Err(refusal) => {
                // Nobody has been in it.
                self.remove(&name).await;
                Err(refusal)
            }
        }
    }

    /// How the operator of a workspace gets in.
    pub(crate) async fn access(&self, name: &str) -> Result<(Told, Access), Refusal> {
        let entered = self.enter(name).await?;
        let Some(access) = entered.served.access().await else {
            let why = format!("the member 'operator' of {name} was removed, and nobody can run it");
            return Err(Refusal::new(Code::Conflict, why));
        };
        Ok((self.told(self.entry(name)?), access))
    }

    /// Keeps everybody out of a workspace, which stays as it is.
    pub(crate) async fn suspend(&self, name: &str) -> Result<Told, Refusal> {
        self.shut(name, State::Suspended, None).await
    }

    /// Keeps everybody out, and removes the workspace when its grace is over.
    pub(crate) async fn delete(&self, name: &str) -> Result<Told, Refusal> {
        let grace = i64::try_from(self.keeping.grace.as_millis()).unwrap_or(i64::MAX);
        self.shut(name, State::Deleted, Some(self.clock.now().plus(grace))).await
    }

    async fn shut(
        &self,
        name: &str,
        state: State,
        removal_at: Option<Timestamp>,
    ) -> Result<Told, Refusal> {
        let entry = self.entry(name)?;
        if entry.state != state {
            let now = self.clock.now();
            self.catalog.set_state(name, state, removal_at, now).map_err(unreadable)?;
            tracing::info!(workspace = name, state = state.name(), "a workspace was shut");
        }
        let slot = self.slots().get(&entry.name).cloned();
        if let Some(slot) = slot {
            self.close(&slot, Duration::ZERO).await;
        }
        Ok(self.told(self.entry(name)?))
    }

    /// Lets everybody in again who was in before.
    pub(crate) fn resume(&self, name: &str) -> Result<Told, Refusal> {
        let entry = self.entry(name)?;
        if entry.state != State::Active {
            let now = self.clock.now();
            self.catalog.set_state(name, State::Active, None, now).map_err(unreadable)?;
            tracing::info!(workspace = name, "a workspace was resumed");
        }
        Ok(self.told(self.entry(name)?))
    }
}

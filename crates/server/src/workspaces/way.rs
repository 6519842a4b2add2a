//! Where a workspace is served, among hosts that share a database: by the one that owns it, or by the one that is chosen
//! to take it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::workspace_name::WorkspaceName;
use chorus_store::membership::{LiveHost, Owned, View};

use super::{Entered, Held, NotEntered, Now, Slot, Workspaces, no_such, not_now};
use crate::cluster::Peer;
use crate::placement::{self, Candidate, Why};

/// Keys that are remembered.
const KEYS: usize = 10_000;

/// The way to a workspace.
pub(crate) enum Way {
    Here(Entered),
    Elsewhere(Arc<Peer>, i64),
    /// It can be served by nobody now, and perhaps soon.
    Nowhere(Refusal),
}

impl Workspaces {
    /// Where a request goes that is for a workspace. One that another host has passed on is served here or by nobody.
    pub(crate) async fn way(
        self: &Arc<Self>,
        name: &str,
        was_passed_on: bool,
    ) -> Result<Way, Refusal> {
        let enter = || async {
            match self.let_in(name).await {
                Ok(entered) => Ok(Way::Here(entered)),
                Err(NotEntered::NotNow(refusal)) => Ok(Way::Nowhere(refusal)),
                Err(NotEntered::Refused(refusal)) => Err(refusal),
            }
        };
        let Some(view) = self.cluster.view() else { return enter().await };
        let parsed = WorkspaceName::parse(name).map_err(|_| no_such(name))?;
        let stops = self.stopping.load(Ordering::SeqCst);
        if self.slots().contains_key(&parsed) && !stops {
            return enter().await;
        }
        if was_passed_on && stops {
            return Ok(Way::Nowhere(Refusal::new(Code::Unavailable, "the host is stopping")));
        }
        let key = self.key(&parsed).await?;
        let to = match view.other_owner(key) {
            Some(owner) => Some(owner.id.as_str()),
            None => self.chosen(&view, name).filter(|host| *host != view.me),
        };
        match to.and_then(|id| view.host(id)).and_then(Peer::of) {
            None => enter().await,
            Some(_) if was_passed_on && view.other_owner(key).is_none() => enter().await,
            Some(peer) => Ok(Way::Elsewhere(Arc::new(peer), key)),
        }
    }

    /// The host that is to take a workspace that nobody owns.
    pub(super) fn chosen<'a>(&self, view: &'a View, name: &str) -> Option<&'a str> {
        placement::choose(name, &self.candidates(view))
    }

    /// The hosts that may take one.
    fn candidates<'a>(&self, view: &'a View) -> Vec<Candidate<'a>> {
        let stops = self.stopping.load(Ordering::SeqCst);
        let may = view
            .hosts
            .iter()
            .filter(|host| !host.peer.is_empty() && (!stops || host.id != view.me));
        may.map(|host| Candidate { host: &host.id, owned: view.owned_by(&host.id) }).collect()
    }

    /// Why a host owns a workspace.
    pub(super) fn why_there(&self, view: &View, name: &str, owner: &LiveHost) -> Option<String> {
        let at = |id: &str| view.host(id).map_or_else(|| id.to_owned(), |host| host.url.clone());
        Some(match placement::why(name, &owner.id, &self.candidates(view))? {
            Why::First => "its name ranks this host first".to_owned(),
            Why::FirstIsFull { first, owned, bound } => {
                format!("{}, which its name ranks first, has {owned} of at most {bound}", at(first))
            }
            Why::TakenBefore { first } => format!(
                "taken while {}, which its name ranks first, was away or full; it moves when this host has more than \
                 its share",
                at(first)
            ),
        })
    }

    /// Whether this host is the one to open it for what is due in it.
    pub(super) fn is_for_this_host(&self, name: &str) -> bool {
        self.cluster.view().is_none_or(|view| self.chosen(&view, name) == Some(&view.me))
    }

    /// The key of a workspace.
    async fn key(&self, name: &WorkspaceName) -> Result<i64, Refusal> {
        if let Some(key) = self.keys().get(name) {
            return Ok(*key);
        }
        let key = self.entry(name).await?.key;
        let mut keys = self.keys();
        if keys.len() >= KEYS {
            keys.clear();
        }
        keys.insert(name.clone(), key);
        Ok(key)
    }

    /// The key that was remembered may be that of one that was deleted since.
    pub(crate) fn forget_key(&self, name: &str) {
        self.keys().retain(|known, _| **known != *name);
    }

    /// Takes a workspace, where hosts share it.
    pub(super) async fn take(&self, key: i64) -> Result<Option<Owned>, NotEntered> {
        let Some(membership) = self.cluster.membership() else { return Ok(None) };
        match membership.take(key).await {
            Ok(Ok(Some(owned))) => Ok(Some(owned)),
            Ok(Ok(None)) => Err(not_now("another host serves the workspace")),
            Ok(Err(why)) => {
                tracing::warn!(%why, "it could not be asked who owns a workspace");
                Err(not_now("the database cannot be reached"))
            }
            Err(_) => Err(not_now("the host is stopping")),
        }
    }

    pub(super) async fn release(&self, owned: Option<Owned>) {
        if let (Some(membership), Some(owned)) = (self.cluster.membership(), owned) {
            // It ends with the lease at the latest.
            let _ = membership.release(owned.epoch).await;
        }
    }

    /// Whether a workspace is another's by now, or nobody's.
    pub(super) fn is_lost(&self, held: &Held) -> bool {
        let (Some(view), Some(owned)) = (self.cluster.view(), &held.owned) else { return false };
        !view.is_mine(owned.epoch)
    }

    /// Lets a workspace go that is another's: what was under way in it can write nothing more.
    pub(super) async fn let_go(&self, slot: &Slot, now: &mut Now) {
        let Now::Open(held) = std::mem::replace(now, Now::Closed) else { return };
        tracing::warn!(workspace = %slot.name, "a workspace is another host's; this one lets it go");
        held.served.close(Duration::ZERO).await;
    }
}

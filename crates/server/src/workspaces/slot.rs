//! One workspace in this process: who is in it, and whether it is open.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::workspace_name::WorkspaceName;
use chorus_store::Clock;
use chorus_store::membership::Owned;
use tokio::time::Instant;

use super::{Keeping, Served};
use crate::limits::Bucket;

/// One workspace, as far as this process has it.
pub(super) struct Slot {
    pub(super) name: WorkspaceName,
    /// Requests and streams under way.
    pub(super) in_use: AtomicUsize,
    used_at: Mutex<Instant>,
    /// Requests under way and connections at one time.
    connections: usize,
    requests: Mutex<Bucket>,
    clock: Arc<dyn Clock>,
    /// It is not opened again: another host is to have the workspace.
    pub(super) is_given_up: AtomicBool,
    /// Held while it is opened or closed.
    pub(super) now: tokio::sync::Mutex<Now>,
}

pub(super) enum Now {
    Closed,
    Open(Held),
    /// It could not be opened, and is let be until then.
    Failed(Instant),
}

/// A workspace that this host has open.
pub(super) struct Held {
    pub(super) served: Arc<dyn Served>,
    pub(super) owned: Option<Owned>,
}

/// Why nobody is let in here.
pub(super) enum NotEntered {
    Refused(Refusal),
    /// Another host owns it, or as many are in use as may be: somebody may be let in soon.
    NotNow(Refusal),
}

/// A workspace that is used; it is not closed before this is dropped.
pub(crate) struct Entered {
    pub(crate) served: Arc<dyn Served>,
    pub(super) slot: Arc<Slot>,
}

impl Entered {
    /// Whether the workspace takes another request now, which is counted.
    pub(crate) fn admit(&self) -> Result<(), Refusal> {
        let most = self.slot.connections;
        if self.slot.in_use.load(Ordering::SeqCst) + self.served.connections() > most {
            let why = format!(
                "the workspace has {most} requests and connections, as many as it may have at one time \
                 ([workspaces] connections); try again in a moment"
            );
            return Err(Refusal::new(Code::RateLimited, why));
        }
        let mut requests = self.slot.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.take(self.slot.clock.now()).map_err(|wait| {
            let why = format!(
                "the workspace had more requests than it may have ([workspaces] requests_per_second); come again \
                 in {} s",
                wait.seconds()
            );
            Refusal::new(Code::RateLimited, why)
        })
    }
}

impl Entered {
    /// The request that was counted was nobody's of the workspace: whoever has no token takes nothing from its members.
    pub(crate) fn give_back(&self) {
        self.slot.requests.lock().unwrap_or_else(PoisonError::into_inner).give_back();
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.slot.leave();
    }
}

impl Held {
    /// Whether it can be used now.
    pub(super) fn is_fit(&self) -> bool {
        self.served.ended().is_none() && self.owned.as_ref().is_none_or(|owned| owned.lease.holds())
    }
}

impl From<NotEntered> for Refusal {
    fn from(why: NotEntered) -> Self {
        let (NotEntered::Refused(refusal) | NotEntered::NotNow(refusal)) = why;
        refusal
    }
}

impl Slot {
    pub(super) fn of(name: WorkspaceName, keeping: &Keeping, clock: Arc<dyn Clock>) -> Arc<Self> {
        let requests = Bucket::new(keeping.requests_per_second, keeping.requests_burst);
        Arc::new(Self {
            name,
            in_use: AtomicUsize::new(0),
            used_at: Mutex::new(Instant::now()),
            clock,
            connections: keeping.connections,
            requests: Mutex::new(requests),
            is_given_up: AtomicBool::new(false),
            now: tokio::sync::Mutex::new(Now::Closed),
        })
    }

    /// With whoever asks for it counted.
    pub(super) fn count(self: &Arc<Self>) -> Arc<Self> {
        self.in_use.fetch_add(1, Ordering::SeqCst);
        self.clone()
    }

    pub(super) fn leave(&self) {
        *self.used_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.in_use.fetch_sub(1, Ordering::SeqCst);
    }

    pub(super) fn unused_for(&self) -> Duration {
        match self.in_use.load(Ordering::SeqCst) {
            0 => self.used_at.lock().unwrap_or_else(PoisonError::into_inner).elapsed(),
            _ => Duration::ZERO,
        }
    }
}

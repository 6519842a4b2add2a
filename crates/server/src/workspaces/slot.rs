//! One workspace in this process: who is in it, and whether it is open.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chorus_core::model::error::Refusal;
use chorus_core::model::workspace_name::WorkspaceName;
use chorus_store::membership::Owned;
use tokio::time::Instant;

use super::Served;
use super::bounds::Bounds;

/// One workspace, as far as this process has it.
pub(super) struct Slot {
    pub(super) name: WorkspaceName,
    /// Requests and streams under way.
    pub(super) in_use: AtomicUsize,
    used_at: Mutex<Instant>,
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
    pub(super) bounds: Arc<Bounds>,
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
    pub(crate) bounds: Arc<Bounds>,
    pub(super) slot: Arc<Slot>,
}

impl Entered {
    /// Whether the workspace takes another request now, which is counted.
    pub(crate) fn admit(&self) -> Result<(), Refusal> {
        let connected = self.slot.in_use.load(Ordering::SeqCst) + self.served.connections();
        self.bounds.admit(connected, self.served.written())
    }

    /// The request that was counted was nobody's of the workspace: whoever has no token takes nothing from its members.
    pub(crate) fn give_back(&self) {
        self.bounds.give_back();
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.slot.leave();
    }
}

/// What somebody who is let in has of a workspace.
pub(super) type Inside = (Arc<dyn Served>, Arc<Bounds>);

impl Held {
    pub(super) fn inside(&self) -> Inside {
        (self.served.clone(), self.bounds.clone())
    }

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
    pub(super) fn of(name: WorkspaceName) -> Arc<Self> {
        Arc::new(Self {
            name,
            in_use: AtomicUsize::new(0),
            used_at: Mutex::new(Instant::now()),
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

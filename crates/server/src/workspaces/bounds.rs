//! What one workspace may take of its host: requests and connections at one time, requests in a second, and a share of a
//! core. What it stores is bounded where it is stored ([`crate::services`]).

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use chorus_core::model::error::{Code, Refusal};
use chorus_store::catalog::Quota;
use chorus_store::{Clock, cpu_time};

use crate::limits::{Bucket, Share};

/// What a workspace may take, with nothing left open. 0 is no limit, but of connections and the burst.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    pub(crate) connections: u32,
    pub(crate) requests_per_second: u32,
    pub(crate) requests_burst: u32,
    pub(crate) cpu_percent: u32,
    pub(crate) storage_mib: u64,
}

impl Allowance {
    /// With what is said of one workspace.
    pub(crate) fn with(self, quota: &Quota) -> Self {
        Self {
            connections: quota.connections.unwrap_or(self.connections),
            requests_per_second: quota.requests_per_second.unwrap_or(self.requests_per_second),
            requests_burst: quota.requests_burst.unwrap_or(self.requests_burst),
            cpu_percent: quota.cpu_percent.unwrap_or(self.cpu_percent),
            storage_mib: quota.storage_mib.unwrap_or(self.storage_mib),
        }
    }
}

/// What a workspace that is open may take, and what it has taken lately.
pub(crate) struct Bounds {
    connections: usize,
    /// Whether it has a share of a core.
    is_timed: bool,
    taken: Mutex<Taken>,
    clock: Arc<dyn Clock>,
}

struct Taken {
    requests: Bucket,
    share: Share,
    /// How long its writer had worked when that was counted last.
    written: Duration,
}

impl Bounds {
    pub(super) fn of(allowed: Allowance, clock: Arc<dyn Clock>) -> Arc<Self> {
        let taken = Taken {
            requests: Bucket::new(allowed.requests_per_second, allowed.requests_burst),
            share: Share::of_a_core(allowed.cpu_percent),
            written: Duration::ZERO,
        };
        let connections = usize::try_from(allowed.connections).unwrap_or(usize::MAX);
        let is_timed = allowed.cpu_percent > 0;
        Arc::new(Self { connections, is_timed, taken: Mutex::new(taken), clock })
    }

    /// Counts a request of a workspace that has so many requests and connections with it, and whose writer has worked for
    /// so long.
    pub(super) fn admit(&self, connected: usize, written: Duration) -> Result<(), Refusal> {
        let most = self.connections;
        if connected > most {
            let why = format!(
                "the workspace has {most} requests and connections, as many as it may have at one time \
                 ([workspaces] connections); try again in a moment"
            );
            return Err(Refusal::new(Code::RateLimited, why));
        }
        let now = self.clock.now();
        let mut taken = self.taken();
        let more = written.saturating_sub(std::mem::replace(&mut taken.written, written));
        taken.share.spend(more, now);
        taken.share.has_some(now).map_err(|wait| {
            let why = format!(
                "the workspace has used up its share of the host's time ([workspaces] cpu_percent); come again in {} s",
                wait.seconds()
            );
            Refusal::new(Code::RateLimited, why)
        })?;
        taken.requests.take(now).map_err(|wait| {
            let why = format!(
                "the workspace had more requests than it may have ([workspaces] requests_per_second); come again \
                 in {} s",
                wait.seconds()
            );
            Refusal::new(Code::RateLimited, why)
        })
    }

    /// The request that was counted was nobody's of the workspace: whoever has no token takes nothing from its members.
    pub(super) fn give_back(&self) {
        self.taken().requests.give_back();
    }

    /// Counts the time that this takes of a core.
    pub(crate) fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        if !self.is_timed {
            return work();
        }
        let began = cpu_time::of_this_thread();
        let done = work();
        let took = cpu_time::of_this_thread().saturating_sub(began);
        self.taken().share.spend(took, self.clock.now());
        done
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work for a workspace, whose time is counted.
pub(crate) struct Timed<F> {
    pub(crate) work: Pin<Box<F>>,
    pub(crate) bounds: Arc<Bounds>,
}

impl<F: Future> Future for Timed<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let bounds = self.bounds.clone();
        bounds.timed(|| self.work.as_mut().poll(cx))
    }
}

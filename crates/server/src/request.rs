//! A name for each request: the log's lines carry it, and so does the envelope of a refusal.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use chorus_core::model::ids::{Prefix, Uid};
use tokio::task::futures::TaskLocalFuture;

tokio::task_local! {
    static CURRENT: Uid;
}

/// Runs the work of one request under a name of its own. No `async fn`: that would hold the work twice, once as what it was
/// given.
pub(crate) fn scoped<F: Future>(work: F) -> TaskLocalFuture<Uid, F> {
    CURRENT.scope(next(), work)
}

/// The name of this request; outside of any, a new one.
pub(crate) fn request_id() -> String {
    current().unwrap_or_else(|| next().show(Prefix::Request))
}

/// The name of the request that is at work here.
pub(crate) fn current() -> Option<String> {
    CURRENT.try_with(|id| id.show(Prefix::Request)).ok()
}

/// Unique in this run of the host, and unlikely to be another's.
fn next() -> Uid {
    static RUN: OnceLock<u64> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let run = *RUN.get_or_init(|| {
        let mut bytes = [0; 8];
        // Without random bytes the ids still differ within the run.
        let _ = getrandom::fill(&mut bytes);
        u64::from_be_bytes(bytes)
    });
    Uid(u128::from(run) << 64 | u128::from(NEXT.fetch_add(1, Ordering::Relaxed)))
}

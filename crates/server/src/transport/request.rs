//! A name for each request: the log's lines carry it, and so does the envelope of a refusal.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use chorus_core::model::ids::{Prefix, Uid};
use tracing::Instrument;

tokio::task_local! {
    static CURRENT: Uid;
}

/// Runs the work of one request under a name of its own.
pub(super) async fn scoped<F: Future>(work: F) -> F::Output {
    let id = next();
    // Of the highest level, so that it is there whatever is logged.
    let span = tracing::error_span!("request", request_id = %Shown(id));
    CURRENT.scope(id, work.instrument(span)).await
}

/// The name of this request; outside of any, a new one.
pub(super) fn request_id() -> String {
    Shown(CURRENT.try_with(|id| *id).unwrap_or_else(|_| next())).to_string()
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

struct Shown(Uid);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.show(Prefix::Request))
    }
}

//! Calls under way: each waits for the response with its number.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chorus_wire::jsonrpc::ErrorObject;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

/// Calls that wait for their answer.
#[derive(Debug)]
pub(super) struct Calls {
    next: AtomicI64,
    /// None once the connection has ended.
    open: Mutex<Option<HashMap<i64, oneshot::Sender<Answer>>>>,
}

pub(super) type Answer = Result<Box<RawValue>, ErrorObject>;

impl Calls {
    pub(super) fn new() -> Self {
        Self { next: AtomicI64::new(1), open: Mutex::new(Some(HashMap::new())) }
    }

    pub(super) fn is_open(&self) -> bool {
        self.lock().is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Option<HashMap<i64, oneshot::Sender<Answer>>>> {
        // A map of senders is whole whatever panicked beside it.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new call; none when the connection has ended.
    pub(super) fn begin(&self) -> Option<(i64, oneshot::Receiver<Answer>)> {
        let (sender, receiver) = oneshot::channel();
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().as_mut()?.insert(id, sender);
        Some((id, receiver))
    }

    pub(super) fn take(&self, id: i64) -> Option<oneshot::Sender<Answer>> {
        self.lock().as_mut()?.remove(&id)
    }

    /// Fails all calls that wait, and those to come.
    pub(super) fn end(&self) {
        self.lock().take();
    }
}

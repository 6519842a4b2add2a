//! The calls of one connection that are not answered yet, so that its harness can cancel one by its id.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chorus_wire::jsonrpc::Id;
use tokio::sync::oneshot;

#[derive(Default)]
pub(super) struct UnderWay(Mutex<HashMap<Id, oneshot::Sender<()>>>);

impl UnderWay {
    /// A call begins. What is returned is sent something when it is cancelled, and nothing else.
    pub(super) fn begin(&self, id: &Id) -> oneshot::Receiver<()> {
        let (stop, stopped) = oneshot::channel();
        self.lock().insert(id.clone(), stop);
        stopped
    }

    /// It is answered.
    pub(super) fn end(&self, id: &Id) {
        self.lock().remove(id);
    }

    /// Cancels a call; whether it was under way.
    pub(super) fn stop(&self, id: &Id) -> bool {
        self.lock().remove(id).is_some_and(|stop| stop.send(()).is_ok())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Id, oneshot::Sender<()>>> {
        // Each change of the map is whole, whatever panicked beside it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

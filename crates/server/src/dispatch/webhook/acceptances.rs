//! What agents have taken, on its way to the writer.
//!
//! That a delivery was accepted forces no commit, and nobody waits for it. Handed on one by one, each woke the writer,
//! which cost more than noting it; so the first waits a moment for others.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const MOMENT: Duration = Duration::from_millis(1);

/// Gives one command to the writer.
type Submit = Box<dyn FnOnce() + Send>;

/// What is to be handed on, in that order.
#[derive(Clone, Default)]
pub(super) struct Acceptances(Arc<Mutex<Vec<Submit>>>);

impl Acceptances {
    /// Hands it on, after those before it.
    pub(super) fn put(&self, submit: impl FnOnce() + Send + 'static) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(Box::new(submit));
        if waiting.len() == 1 {
            let all = self.clone();
            tokio::spawn(async move {
                tokio::time::sleep(MOMENT).await;
                all.flush();
            });
        }
    }

    /// Hands on what waits: what follows is to come after it.
    pub(super) fn flush(&self) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that two that flush do not mix.
        for submit in std::mem::take(&mut *waiting) {
            submit();
        }
    }
}

//! What agents have taken, on its way to the writer.
//!
//! That a delivery was accepted forces no commit, and nobody waits for it. Handed on one by one it woke the writer for each, which cost more
//! than noting it; so the first waits a moment for others.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chorus_core::commands::Command;
use chorus_core::model::caller::By;

use crate::services::App;

const MOMENT: Duration = Duration::from_millis(1);

/// Commands in the order in which they are to be handed on.
#[derive(Default)]
pub(crate) struct Acceptances(Mutex<Vec<Box<dyn FnOnce(&App) + Send>>>);

/// Hands the command on, after those before it.
pub(super) fn put<C: Command>(app: &Arc<App>, by: By, command: C) {
    let mut waiting = app.webhooks.taken.0.lock().unwrap_or_else(PoisonError::into_inner);
    waiting.push(Box::new(move |app| app.hand(by, command)));
    if waiting.len() == 1 {
        let app = app.clone();
        tokio::spawn(async move {
            tokio::time::sleep(MOMENT).await;
            flush(&app);
        });
    }
}

/// Hands on what waits: what follows is to come after it.
pub(super) fn flush(app: &App) {
    let mut waiting = app.webhooks.taken.0.lock().unwrap_or_else(PoisonError::into_inner);
    // Under the lock, so that two that flush do not mix.
    for hand in std::mem::take(&mut *waiting) {
        hand(app);
    }
}

//! When it is looked what is old: at the start, and then at intervals, by the host's clock.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::Running;
use crate::services::App;

/// How often the host's clock is asked whether it is time.
const LOOK: Duration = Duration::from_secs(10);

/// Drops what is old every `every` milliseconds until the host stops.
pub(super) async fn keep(app: Arc<App>, every: i64, mut stopped: watch::Receiver<bool>) {
    loop {
        let looked = app.now();
        keep_house(&app).await;
        while app.now().since(looked) < every {
            let stops = stopped.wait_for(|stopped| *stopped);
            if tokio::time::timeout(LOOK, stops).await.is_ok() {
                return;
            }
        }
        if *stopped.borrow() {
            return;
        }
    }
}

impl Running {
    /// Drops what is old by now, without waiting for its time; for clocks that are set by hand.
    pub async fn drop_old(&self) {
        if let Some(serving) = self.serving() {
            keep_house(&serving.app).await;
        }
    }
}

async fn keep_house(app: &App) {
    app.retention.drop_old().await;
    app.assets.sweep_assets().await;
    app.inboxes.sweep_callbacks().await;
    app.tokens.sweep_expired().await;
}

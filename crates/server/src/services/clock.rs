//! Waiting by the host's clock, which goes by itself or is set by hand.

use std::time::Duration;

use chorus_core::model::ids::Timestamp;
use tokio::sync::watch;

use super::App;

/// The longest that a clock is not looked at: a system's may be set, too.
const LONG: Duration = Duration::from_secs(3600);

/// Says that a clock that is set by hand has moved.
#[derive(Default)]
pub(crate) struct ClockMoved(watch::Sender<()>);

impl ClockMoved {
    pub(crate) fn notify(&self) {
        self.0.send_replace(());
    }
}

impl App {
    /// Waits until then, or for ever where there is no such time.
    pub(crate) async fn until(&self, at: Option<Timestamp>) {
        let mut moved = self.clock_moved.0.subscribe();
        loop {
            let left = at.map_or(i64::MAX, |at| at.since(self.now()));
            let Ok(left @ 1..) = u64::try_from(left) else { return };
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(left).min(LONG)) => {}
                _ = moved.changed() => {}
            }
        }
    }

    /// Waits for so long.
    pub(crate) async fn wait(&self, time: Duration) {
        self.until(Some(self.now().plus(time.as_millis() as i64))).await;
    }
}

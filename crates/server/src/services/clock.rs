//! Waiting by the host's clock, which goes by itself or is set by hand.

use std::sync::Arc;
use std::time::Duration;

use chorus_core::model::ids::Timestamp;
use chorus_store::Clock;
use tokio::sync::watch;

/// The longest that a clock is not looked at: a system's may be set, too.
const LONG: Duration = Duration::from_secs(3600);

/// The host's clock, and how to wait by it.
pub(crate) struct HostClock {
    clock: Arc<dyn Clock>,
    /// A clock that is set by hand has moved.
    moved: watch::Sender<()>,
}

impl HostClock {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, moved: watch::Sender::default() }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Wakes whoever waits, after the clock was set by hand.
    pub(crate) fn notify(&self) {
        self.moved.send_replace(());
    }

    /// Waits until then, or for ever where there is no such time.
    pub(crate) async fn until(&self, at: Option<Timestamp>) {
        let mut moved = self.moved.subscribe();
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

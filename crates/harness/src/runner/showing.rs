//! The screen on its way to those who look at it through the host: only while they do, only what has changed, and no
//! more often than an eye needs.

use std::future::pending;
use std::time::Duration;

use chorus_wire::attention::screen::{Screen, Watch};
use tokio::time::{Instant, sleep_until};

/// A changed screen is sent at most so often.
const EVERY: Duration = Duration::from_millis(250);
/// However long the host asks for it.
const LONGEST: Duration = Duration::from_secs(300);

/// What is sent where the program's user shows it to nobody.
pub(super) const PRIVATE: Screen =
    Screen { columns: 0, rows: 0, lines: None, cursor: None, private: true };

#[derive(Default)]
pub(super) struct Showing {
    /// Until when somebody looks.
    until: Option<Instant>,
    next: Option<Instant>,
    /// What was sent last.
    last: Option<Screen>,
}

impl Showing {
    /// Somebody looks, who may have seen nothing yet.
    pub(super) fn begin(&mut self, watch: Watch) {
        let now = Instant::now();
        let asked = Duration::from_millis(u64::from(watch.for_ms)).min(LONGEST);
        self.until = Some(now + asked);
        if self.next.is_none() {
            (self.next, self.last) = (Some(now), None);
        }
    }

    /// Waits until the screen is to be looked at.
    pub(super) async fn due(&self) {
        match self.next {
            Some(next) => sleep_until(next).await,
            None => pending().await,
        }
    }

    /// The screen, if it is to be sent.
    pub(super) fn changed(&mut self, screen: Screen) -> Option<&Screen> {
        let now = Instant::now();
        if self.until.is_none_or(|until| until <= now) {
            *self = Self::default();
            return None;
        }
        self.next = Some(now + EVERY);
        if self.last.as_ref() == Some(&screen) {
            return None;
        }
        Some(self.last.insert(screen))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_screen_is_sent_when_it_changes_and_only_while_somebody_looks() {
        let screen = |rows| Screen { rows, ..Screen::default() };
        let mut showing = Showing::default();
        assert!(tokio::time::timeout(LONGEST, showing.due()).await.is_err(), "nobody looks");
        showing.begin(Watch { for_ms: 1_000 });
        showing.due().await;
        assert!(showing.changed(screen(1)).is_some());
        showing.due().await;
        assert!(showing.changed(screen(1)).is_none(), "the same");
        showing.due().await;
        assert!(showing.changed(screen(2)).is_some());
        // Who looks on asks again.
        showing.begin(Watch { for_ms: 1_000 });
        showing.due().await;
        assert!(showing.changed(screen(2)).is_none());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(showing.changed(screen(3)).is_none(), "nobody looks any more");
        showing.begin(Watch { for_ms: 1_000 });
        showing.due().await;
        assert!(showing.changed(screen(2)).is_some(), "who comes later has seen nothing");
    }
}

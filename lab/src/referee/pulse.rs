//! How late this machine is: a thread that wants to wake up again and again, and notes when it could not.
//!
//! A rule that names a time is judged with what the machine itself was late added to it, so that a busy machine is no
//! finding.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two wakes.
const BEAT: Duration = Duration::from_millis(20);
/// What is not worth a note.
const SMALL: Duration = Duration::from_millis(10);

#[derive(Clone, Default)]
pub(super) struct Pulse(Arc<Mutex<Vec<(Instant, Duration)>>>);

impl Pulse {
    /// Beats for as long as somebody else has it.
    pub(super) fn start() -> Self {
        let pulse = Self::default();
        let late = Arc::downgrade(&pulse.0);
        std::thread::spawn(move || {
            loop {
                let before = Instant::now();
                std::thread::sleep(BEAT);
                let over = before.elapsed().saturating_sub(BEAT);
                let Some(notes) = late.upgrade() else { return };
                if over > SMALL {
                    notes.lock().unwrap_or_else(PoisonError::into_inner).push((before, over));
                }
            }
        });
        pulse
    }

    /// How late the machine was since then, all together.
    pub(super) fn late_since(&self, then: Instant) -> Duration {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.iter().rev().take_while(|(at, _)| *at >= then).map(|(_, over)| *over).sum()
    }

    /// How late it was at worst.
    pub(super) fn worst_since(&self, then: Instant) -> Duration {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = notes.iter().rev().take_while(|(at, _)| *at >= then);
        since.map(|(_, over)| *over).max().unwrap_or_default()
    }
}

//! How many channels there are, for whoever asks without a token: a number that goes on with what is logged, so that
//! asking costs the same however many there are.
//!
//! It is counted in the store when the host starts, and again, at most every ten seconds, after some may have been
//! missed.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::event::Change;
use chorus_core::model::ids::Timestamp;
use chorus_core::state::effect::Effect;

/// How soon after one count the next is made.
const AGAIN_MS: i64 = 10_000;

#[derive(Default)]
pub(crate) struct ChannelCount {
    count: AtomicU64,
    /// Some may have been missed.
    stale: AtomicBool,
    /// When they were counted, in milliseconds.
    counted: AtomicI64,
}

impl ChannelCount {
    /// Takes in what a batch of commands has caused.
    pub(super) fn look(&self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Logged(entry)
                    if matches!(entry.event.change, Change::Created { .. })
                        && entry.conversation.kind == ConversationKind::Channel =>
                {
                    self.count.fetch_add(1, Ordering::Relaxed);
                }
                Effect::Anything => self.stale.store(true, Ordering::Relaxed),
                _ => {}
            }
        }
    }

    pub(crate) fn get(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether they are to be counted in the store now. Only one is told so.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        let since = now.0.saturating_sub(self.counted.load(Ordering::Relaxed));
        !(0..AGAIN_MS).contains(&since) && self.stale.swap(false, Ordering::Relaxed)
    }

    /// They were counted in the store.
    pub(crate) fn set(&self, count: u64, now: Timestamp) {
        self.counted.store(now.0, Ordering::Relaxed);
        self.count.store(count, Ordering::Relaxed);
    }
}

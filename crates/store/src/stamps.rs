//! Whether anything was committed to a room since somebody looked.
//!
//! The writer stamps the rooms of a batch after its commit and before its answers, so that whoever was
//! answered finds the stamp moved. Rooms share a few thousand counters: one that moves for another room's
//! sake costs a look at the database, and nothing else.

use std::sync::atomic::{AtomicU64, Ordering};

use chorus_core::model::ids::ConversationKey;

const COUNTERS: usize = 4_096;

#[derive(Debug)]
pub(crate) struct Stamps(Box<[AtomicU64]>);

impl Default for Stamps {
    fn default() -> Self {
        Self((0..COUNTERS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Stamps {
    pub(crate) fn of(&self, room: ConversationKey) -> u64 {
        self.counter(room).load(Ordering::Acquire)
    }

    /// Something of the room was committed.
    pub(crate) fn moved(&self, room: ConversationKey) {
        self.counter(room).fetch_add(1, Ordering::Release);
    }

    /// Something of any room may have been committed.
    pub(crate) fn all_moved(&self) {
        for counter in &self.0 {
            counter.fetch_add(1, Ordering::Release);
        }
    }

    fn counter(&self, room: ConversationKey) -> &AtomicU64 {
        &self.0[room.0 as usize % COUNTERS]
    }
}

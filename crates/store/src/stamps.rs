//! Stamps: whether anything was committed to a room since a reader last looked.
//!
//! The writer changes the stamps of a batch's rooms after its commit and before its answers, so
//! that whoever got an answer finds the stamp changed. Rooms share a few thousand counters. A stamp
//! that changes because of another room costs a query and nothing else.

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

    /// Something in the room was committed.
    pub(crate) fn moved(&self, room: ConversationKey) {
        self.counter(room).fetch_add(1, Ordering::Release);
    }

    /// Something in any room may have been committed.
    pub(crate) fn all_moved(&self) {
        for counter in &self.0 {
            counter.fetch_add(1, Ordering::Release);
        }
    }

    fn counter(&self, room: ConversationKey) -> &AtomicU64 {
        &self.0[room.0 as usize % COUNTERS]
    }
}

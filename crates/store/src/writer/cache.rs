//! The room cache: rooms with open events stay in memory, and so do recently used ones.

use std::collections::HashMap;

use chorus_core::model::ids::ConversationKey;
use chorus_core::state::workspace::Workspace;

/// Rooms kept in memory. Each has its newest 64 events, about 40 KiB.
const ROOMS: usize = 1_024;
/// How far the cache may exceed its limit before the oldest rooms are evicted together.
const SLACK: usize = 128;

/// When each room was last written, counted in batches.
#[derive(Default)]
pub(crate) struct Ages {
    batch: u64,
    used: HashMap<ConversationKey, u64>,
    /// Rooms added since the last count.
    grown: usize,
}

impl Ages {
    pub(crate) fn used(&mut self, key: ConversationKey) {
        self.used.insert(key, self.batch);
    }

    pub(crate) fn grew(&mut self, rooms: usize) {
        self.grown += rooms;
    }

    /// Evicts the least recently used rooms, between batches. Returns the number of rooms if it
    /// counted them.
    pub(crate) fn trim(&mut self, workspace: &mut Workspace) -> Option<usize> {
        self.batch += 1;
        if self.grown == 0 {
            return None;
        }
        let count = workspace.rooms().count();
        self.grown = 0;
        if count <= ROOMS + SLACK {
            return Some(count);
        }
        let idle = workspace.rooms().filter(|r| {
            r.open().is_empty() && !r.is_dirty() && !r.tally().waits() && !r.has_stimuli()
        });
        let mut idle: Vec<_> =
            idle.map(|r| (self.used.get(&r.key()).copied().unwrap_or(0), r.key())).collect();
        idle.sort_unstable();
        idle.truncate(count - ROOMS);
        for (_, key) in &idle {
            self.used.remove(key);
        }
        let gone = idle.len();
        workspace.forget(idle.into_iter().map(|(_, key)| key));
        Some(count - gone)
    }
}

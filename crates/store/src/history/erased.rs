//! Events of a stretch that say that others were erased.

use std::collections::BTreeSet;

use chorus_core::model::event::{Change, Event};
use chorus_core::model::ids::Seq;

/// Events that say nothing any more, until their erasure is found in the log.
#[derive(Debug, Default)]
pub struct Erased(BTreeSet<Seq>);

impl Erased {
    pub fn see(&mut self, event: &Event) {
        if event.is_erased() {
            self.0.insert(event.seq);
        }
        if let Change::Erased { events, .. } = &event.change {
            self.0.retain(|seq| !events.contains(seq));
        }
    }

    /// One whose erasure was not found.
    pub fn unsaid(&self) -> Option<Seq> {
        self.0.first().copied()
    }
}

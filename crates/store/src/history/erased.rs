//! Erased events of a range, and the events that record their erasure.

use std::collections::BTreeSet;

use chorus_core::model::event::{Change, Event};
use chorus_core::model::ids::Seq;

/// Events without content, until their erasure is found in the log.
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

    /// An erased event whose erasure was not found.
    pub fn unsaid(&self) -> Option<Seq> {
        self.0.first().copied()
    }
}

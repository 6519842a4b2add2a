//! What a room forgets when a message is erased.

use std::sync::Arc;

use crate::language::features::Features;
use crate::model::event::Event;
use crate::model::ids::Seq;
use crate::state::room::Room;

impl Room {
    /// Events in memory that carry words of `message`, including those that are not in the log yet.
    pub fn versions(&self, message: Seq) -> impl Iterator<Item = Seq> {
        let said = move |e: &&Arc<Event>| !e.is_erased() && e.change.is_version_of(e.seq, message);
        self.tail.iter().chain(&self.dirty.events).filter(said).map(|e| e.seq)
    }

    /// Whether the log still has it only until this batch is written.
    pub fn is_going(&self, seq: Seq) -> bool {
        self.dirty.erased.contains(&seq)
    }

    /// Removes the content of these events, here and in the log.
    pub fn erase(&mut self, message: Seq, events: &[Seq]) {
        for event in self.tail.iter_mut().chain(&mut self.dirty.events) {
            if events.contains(&event.seq) {
                *event = Arc::new(event.erased());
            }
        }
        for said in self.talk.iter_mut().filter(|said| events.contains(&said.seq)) {
            said.heard = Features::default();
        }
        for line in self.lines.values_mut().filter(|l| l.seq == message) {
            line.text = "".into();
        }
        self.dirty.erased.extend(events);
    }
}

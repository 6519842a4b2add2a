//! The log snapshot: where a log begins once its beginning was dropped (design section 3,
//! "Archiving keeps the hash at its base").
//!
//! Invariant: replaying a room from its snapshot and the events after it gives the same room as
//! replaying from the first event, except for the state of dropped messages.

use std::sync::Arc;

use crate::model::conversation::Conversation;
use crate::model::event::Event;
use crate::model::log_snapshot::LogSnapshot;
use crate::model::thread::Thread;
use crate::state::room::{Head, Room, listeners};

impl LogSnapshot {
    /// The snapshot after `events`, which follow this snapshot or the beginning of a log.
    pub fn moved(
        before: Option<&Self>,
        conversation: &Conversation,
        events: &[Arc<Event>],
    ) -> Self {
        let mut room = match before {
            Some(base) => Room::at_base(conversation.clone(), base),
            None => Room::new(conversation.clone()),
        };
        // Nobody is told about the past, so no tally is needed.
        room.listeners.clear();
        events.iter().for_each(|event| room.apply(event));
        room.base()
    }
}

impl Room {
    /// The room as of its snapshot, with everything marked as to be written. The later events come
    /// next.
    pub fn at_base(conversation: Conversation, base: &LogSnapshot) -> Self {
        let settings = base.settings.clone();
        let mut room = Self::new(Conversation { settings, ..conversation });
        room.head = Head {
            seq: base.seq,
            hash: base.hash,
            last_at: base.at,
            unattended: base.unattended,
            settled: base.seq,
            base: base.seq,
            version: 0,
        };
        room.listeners = listeners(&base.roster);
        room.roster = base.roster.iter().copied().collect();
        room.threads = base.threads.iter().map(|t| (t.key, Arc::new(t.clone()))).collect();
        room.gone = base.gone.iter().copied().collect();
        room.dirty.roster = base.roster.iter().map(|(m, p)| (*m, Some(*p))).collect();
        room.dirty.threads = room.threads.keys().copied().collect();
        room.dirty.gone = room.gone.clone();
        room
    }

    /// The state that the events so far have produced.
    fn base(&self) -> LogSnapshot {
        let mut roster: Vec<_> = self.roster.iter().map(|(m, p)| (*m, *p)).collect();
        roster.sort_by_key(|(member, _)| *member);
        let mut threads: Vec<_> = self.threads.values().map(|t| Thread::clone(t)).collect();
        threads.sort_by_key(|thread| thread.key);
        LogSnapshot {
            seq: self.head.seq,
            hash: self.head.hash,
            at: self.head.last_at,
            unattended: self.head.unattended,
            settings: self.conversation.settings.clone(),
            roster,
            threads,
            gone: self.gone.iter().copied().collect(),
        }
    }

    /// A snapshot that is not in the log yet.
    pub fn new_base(&self) -> Option<&Arc<LogSnapshot>> {
        self.dirty.base.as_ref()
    }

    /// Drops everything at or before the snapshot, here and in the log.
    pub fn trim(&mut self, base: LogSnapshot) {
        let through = base.seq;
        self.head.base = through;
        self.tail.retain(|event| event.seq > through);
        self.talk.retain(|said| said.seq > through);
        self.lines.retain(|_, line| line.seq > through);
        self.closed.retain(|open| open.seq > through);
        self.messages.retain(|seq, _| *seq > through);
        self.dirty.messages.retain(|seq| *seq > through);
        self.sent.forget(through);
        self.dirty.base = Some(Arc::new(base));
    }
}

//! When time will next change something: one timer an event, the earliest first.

use std::collections::{BTreeSet, HashMap};

use crate::event::EventRef;
use crate::ids::{ConversationKey, Timestamp};

/// At most one due time an event. Firing removes it; what is still due is set anew by whoever fires.
#[derive(Debug, Default)]
pub(super) struct Timers {
    due: BTreeSet<(Timestamp, EventRef)>,
    set: HashMap<EventRef, Timestamp>,
}

impl Timers {
    pub(super) fn set(&mut self, at: EventRef, due: Option<Timestamp>) {
        let old = match due {
            Some(due) => self.set.insert(at, due),
            None => self.set.remove(&at),
        };
        if old == due {
            return;
        }
        if let Some(old) = old {
            self.due.remove(&(old, at));
        }
        if let Some(due) = due {
            self.due.insert((due, at));
        }
    }

    pub(super) fn cancel(&mut self, at: EventRef) {
        self.set(at, None);
    }

    pub(super) fn next(&self) -> Option<Timestamp> {
        self.due.first().map(|(due, _)| *due)
    }

    pub(super) fn next_in(&self) -> Option<ConversationKey> {
        self.due.first().map(|(_, at)| at.conversation)
    }

    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<EventRef> {
        let (due, at) = *self.due.first().filter(|(due, _)| *due <= now)?;
        self.due.remove(&(due, at));
        self.set.remove(&at);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Seq;

    #[test]
    fn an_event_has_one_timer_and_fires_once() {
        let at = EventRef { conversation: ConversationKey(1), seq: Seq(1) };
        let mut timers = Timers::default();
        timers.set(at, Some(Timestamp(5)));
        timers.set(at, Some(Timestamp(3)));
        assert_eq!(timers.next(), Some(Timestamp(3)));
        assert_eq!(timers.pop_due(Timestamp(2)), None);
        assert_eq!(timers.pop_due(Timestamp(9)), Some(at));
        assert_eq!(timers.pop_due(Timestamp(9)), None);
    }
}

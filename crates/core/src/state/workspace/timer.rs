//! Timers, the earliest first.

use std::collections::BTreeSet;

use crate::model::ids::{ConversationKey, EventRef, Seq, Timestamp, Uid};
use crate::model::maps::KeyMap;

/// What a timer is for. Timers of conversations that are due at the same time fire by conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TimerKey {
    Room {
        conversation: ConversationKey,
        of: TimerOf,
    },
    /// A wake, which may be about several conversations.
    Wake(Uid),
    /// All jobs for hire: the store knows which are due.
    Jobs,
}

/// What a due timer concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    Room(ConversationKey),
    Wake(Uid),
    Jobs,
}

/// What a timer of a conversation is for. Timers that are due at the same time fire in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TimerOf {
    /// Its digest.
    Digest,
    /// The deliveries and the claim of an event.
    Event(Seq),
    /// The turns about a subject.
    Turn(Seq),
    /// Its queue of stimuli, its schedules, and its silent threads.
    Queue,
}

impl TimerKey {
    pub(crate) fn digest(conversation: ConversationKey) -> Self {
        Self::Room { conversation, of: TimerOf::Digest }
    }

    pub(crate) fn event(at: EventRef) -> Self {
        Self::Room { conversation: at.conversation, of: TimerOf::Event(at.seq) }
    }

    pub(crate) fn turn(conversation: ConversationKey, subject: Seq) -> Self {
        Self::Room { conversation, of: TimerOf::Turn(subject) }
    }

    pub(crate) fn queue(conversation: ConversationKey) -> Self {
        Self::Room { conversation, of: TimerOf::Queue }
    }
}

/// At most one due time per key. Firing removes it; the code that handles the timer sets the next
/// one.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    due: BTreeSet<(Timestamp, TimerKey)>,
    set: KeyMap<TimerKey, Timestamp>,
}

impl Timers {
    pub(crate) fn set(&mut self, key: TimerKey, due: Option<Timestamp>) {
        let old = match due {
            Some(due) => self.set.insert(key, due),
            None => self.set.remove(&key),
        };
        if old == due {
            return;
        }
        if let Some(old) = old {
            self.due.remove(&(old, key));
        }
        if let Some(due) = due {
            self.due.insert((due, key));
        }
    }

    /// When a timer is due.
    pub(crate) fn due_at(&self, key: TimerKey) -> Option<Timestamp> {
        self.set.get(&key).copied()
    }

    pub(crate) fn cancel(&mut self, key: TimerKey) {
        self.set(key, None);
    }

    pub(crate) fn cancel_wakes(&mut self) {
        let wakes = self.set.keys().filter(|key| matches!(key, TimerKey::Wake(_)));
        for key in wakes.copied().collect::<Vec<_>>() {
            self.cancel(key);
        }
    }

    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.due.first().map(|(due, _)| *due)
    }

    /// What the next timer concerns.
    pub(crate) fn next_concern(&self) -> Option<Concern> {
        self.due.first().map(|(_, key)| match key {
            TimerKey::Room { conversation, .. } => Concern::Room(*conversation),
            TimerKey::Wake(uid) => Concern::Wake(*uid),
            TimerKey::Jobs => Concern::Jobs,
        })
    }

    pub(crate) fn pop_due(&mut self, now: Timestamp) -> Option<TimerKey> {
        let (due, key) = *self.due.first().filter(|(due, _)| *due <= now)?;
        self.due.remove(&(due, key));
        self.set.remove(&key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONVERSATION: ConversationKey = ConversationKey(1);

    #[test]
    fn a_key_has_one_timer_and_fires_once() {
        let key = TimerKey::event(EventRef { conversation: CONVERSATION, seq: Seq(1) });
        let mut timers = Timers::default();
        timers.set(key, Some(Timestamp(5)));
        timers.set(key, Some(Timestamp(3)));
        assert_eq!(timers.next(), Some(Timestamp(3)));
        assert_eq!(timers.pop_due(Timestamp(2)), None);
        assert_eq!(timers.pop_due(Timestamp(9)), Some(key));
        assert_eq!(timers.pop_due(Timestamp(9)), None);
    }

    #[test]
    fn a_conversations_digest_is_due_before_its_events_and_its_queue_after_them() {
        let event = TimerKey::event(EventRef { conversation: CONVERSATION, seq: Seq(9) });
        let turn = TimerKey::turn(CONVERSATION, Seq(1));
        let mut keys = [TimerKey::queue(CONVERSATION), turn, event, TimerKey::digest(CONVERSATION)];
        keys.sort_unstable();
        let digest = TimerKey::digest(CONVERSATION);
        assert_eq!(keys, [digest, event, turn, TimerKey::queue(CONVERSATION)]);
    }
}

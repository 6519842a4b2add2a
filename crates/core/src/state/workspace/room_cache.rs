//! Loads rooms into memory and evicts them, together with the indexes over them.

use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq};
use crate::state::room::Room;
use crate::state::workspace::{TimerKey, Workspace};

impl Workspace {
    /// Adds a loaded room with its open deliveries and timers.
    pub fn admit(&mut self, room: Room) {
        let key = room.key();
        self.by_uid.insert(room.conversation().uid, key);
        if room.is_dirty() {
            self.touched.insert(key);
        }
        if !self.misjudged(&room).is_empty() {
            self.to_review.insert(key);
        }
        let open: Vec<Seq> = room.open().keys().copied().collect();
        let due = self.digests.0.and_then(|every| room.tally().due(every));
        self.timers.set(TimerKey::digest(key), due);
        self.timers.set(TimerKey::queue(key), room.queue_due());
        for member in running_in(&room) {
            self.count_running(member, false, true);
        }
        self.last_conversation = self.last_conversation.max(key.0);
        self.rooms.insert(key, room);
        for seq in open {
            self.track(EventRef { conversation: key, seq });
        }
    }

    /// Evicts rooms whose memory cannot be trusted or is not worth its space. They are loaded again
    /// when next needed.
    pub fn forget(&mut self, keys: impl IntoIterator<Item = ConversationKey>) {
        for key in keys {
            self.take_out(key);
        }
    }

    /// Writes the row of every open event and of every private read before the host stops, so that
    /// a restart continues from there.
    pub fn store_open(&mut self) {
        self.private_reads.closing = true;
        for (key, room) in self.rooms.iter_mut() {
            if room.store_all_open() {
                self.touched.insert(*key);
            }
        }
    }

    fn take_out(&mut self, key: ConversationKey) {
        let Some(room) = self.rooms.remove(&key) else { return };
        self.by_uid.remove(&room.conversation().uid);
        self.timers.cancel(TimerKey::digest(key));
        self.timers.cancel(TimerKey::queue(key));
        for member in running_in(&room) {
            self.count_running(member, true, false);
        }
        for open in room.open().values() {
            let at = EventRef { conversation: key, seq: open.seq };
            self.timers.cancel(TimerKey::event(at));
            self.overdue.remove(&at);
            self.open_by_uid.remove(&open.uid);
            for delivery in &open.deliveries {
                self.owe(delivery.member, at, false);
            }
        }
        for (subject, _) in room.turns().subjects() {
            self.timers.cancel(TimerKey::turn(key, subject));
        }
        self.touched.remove(&key);
        self.to_review.remove(&key);
    }

    /// Updates the indexes after an event's deliveries changed.
    pub(crate) fn track(&mut self, at: EventRef) {
        let Some(room) = self.rooms.get(&at.conversation) else { return };
        let Some(open) = room.open().get(&at.seq) else {
            self.timers.set(TimerKey::event(at), None);
            self.overdue.remove(&at);
            return;
        };
        let due = open.due(at.conversation);
        if open.is_overdue() {
            self.overdue.insert(at);
        } else {
            self.overdue.remove(&at);
        }
        self.open_by_uid.insert(open.uid, at);
        let members: Vec<_> = open.deliveries.iter().map(|d| (d.member, d.is_open())).collect();
        self.timers.set(TimerKey::event(at), due);
        for (member, is_open) in members {
            self.owe(member, at, is_open);
        }
    }

    pub(crate) fn owe(&mut self, member: MemberKey, at: EventRef, on: bool) {
        if on {
            self.owed.entry(member).or_default().insert(at);
        } else if let Some(events) = self.owed.get_mut(&member) {
            events.remove(&at);
            if events.is_empty() {
                self.owed.remove(&member);
            }
        }
    }

    pub(crate) fn count_running(&mut self, member: MemberKey, was: bool, is: bool) {
        let count = self.running.entry(member).or_default();
        match (was, is) {
            (false, true) => *count += 1,
            (true, false) => *count = count.saturating_sub(1),
            _ => {}
        }
    }
}

/// The members who run a turn in the room, each once.
fn running_in(room: &Room) -> Vec<MemberKey> {
    let deliveries = room.open().values().flat_map(|open| &open.deliveries);
    deliveries.filter(|d| d.state.is_running()).map(|d| d.member).collect()
}

//! The rooms in memory, and which of them were handed out to be changed.
//!
//! Invariant: every room that may have changed since turns were last arbitrated is recorded here,
//! and the room records the subjects ([`crate::state::room::Turns`]). No command has to remember to
//! do either.

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut, Index};

use super::Workspace;
use crate::model::ids::{ConversationKey, Seq};
use crate::model::maps::KeyMap;
use crate::state::room::Room;

#[derive(Debug, Default)]
pub(crate) struct Rooms {
    by_key: KeyMap<ConversationKey, Room>,
    handed_out: BTreeSet<ConversationKey>,
}

impl Rooms {
    pub(crate) fn get(&self, key: &ConversationKey) -> Option<&Room> {
        self.by_key.get(key)
    }

    /// The room, to be changed.
    pub(crate) fn get_mut(&mut self, key: &ConversationKey) -> Option<&mut Room> {
        let room = self.by_key.get_mut(key)?;
        self.handed_out.insert(*key);
        Some(room)
    }

    /// The room, to take its pending writes. That does not change who waits for a turn.
    pub(crate) fn get_to_write(&mut self, key: &ConversationKey) -> Option<&mut Room> {
        self.by_key.get_mut(key)
    }

    pub(crate) fn contains_key(&self, key: &ConversationKey) -> bool {
        self.by_key.contains_key(key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &ConversationKey> {
        self.by_key.keys()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Room> {
        self.by_key.values()
    }

    /// All rooms, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&ConversationKey, &mut Room)> {
        self.handed_out.extend(self.by_key.keys().copied());
        self.by_key.iter_mut()
    }

    pub(crate) fn insert(&mut self, key: ConversationKey, room: Room) {
        self.handed_out.insert(key);
        self.by_key.insert(key, room);
    }

    pub(crate) fn remove(&mut self, key: &ConversationKey) -> Option<Room> {
        self.handed_out.remove(key);
        self.by_key.remove(key)
    }

    /// Whether any subject may have changed.
    pub(crate) fn has_changed(&self) -> bool {
        let mut rooms = self.handed_out.iter().filter_map(|key| self.by_key.get(key));
        rooms.any(|room| room.turns().has_changed())
    }

    /// Removes and returns a subject that may have changed.
    pub(crate) fn take_changed(&mut self) -> Option<(ConversationKey, Seq)> {
        while let Some(key) = self.handed_out.first().copied() {
            let room = self.by_key.get_mut(&key);
            if let Some(subject) = room.and_then(|room| room.take_changed_subject()) {
                return Some((key, subject));
            }
            self.handed_out.remove(&key);
        }
        None
    }
}

impl Index<&ConversationKey> for Rooms {
    type Output = Room;

    fn index(&self, key: &ConversationKey) -> &Room {
        &self.by_key[key]
    }
}

/// The workspace as a command sees it. It records whether the command may have changed anything.
pub(crate) struct Tracked<'a> {
    workspace: &'a mut Workspace,
    changed: bool,
}

impl<'a> Tracked<'a> {
    pub(crate) fn new(workspace: &'a mut Workspace) -> Self {
        Self { workspace, changed: false }
    }

    /// Whether it was handed out to be changed.
    pub(crate) fn may_have_changed(&self) -> bool {
        self.changed
    }

    /// For caching facts that were read, which does not count as a change.
    pub(crate) fn loading(&mut self) -> &mut Workspace {
        self.workspace
    }
}

impl Deref for Tracked<'_> {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        self.workspace
    }
}

impl DerefMut for Tracked<'_> {
    fn deref_mut(&mut self) -> &mut Workspace {
        self.changed = true;
        self.workspace
    }
}

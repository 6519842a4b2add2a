//! Starts again from what is stored, when what is in memory cannot be trusted any more.

use std::sync::Arc;

use crate::model::ids::{ConversationKey, Timestamp};
use crate::state::directory::Directory;
use crate::state::effect::Effect;
use crate::state::room::Room;
use crate::state::workspace::Workspace;

impl Workspace {
    /// Replaces the directory with the stored one and drops all rooms; `last_conversation` is the
    /// key of the newest one. As after a restart, no session is connected: whoever is must connect
    /// again.
    pub fn reload(&mut self, directory: Directory, last_conversation: u64, now: Timestamp) {
        let rooms: Vec<ConversationKey> = self.rooms.values().map(Room::key).collect();
        self.forget(rooms);
        self.last_conversation = self.last_conversation.max(last_conversation);
        let last = directory.sessions.last().map_or(0, |(key, _)| key.0);
        self.last_session = self.last_session.max(last);
        let before = std::mem::replace(&mut self.directory, Arc::new(directory));
        self.restore_directory(self.directory.clone());
        self.directory_changed = true;
        for session in before.sessions.values().filter(|session| session.connected) {
            self.private_reads.left(session.member, session.key);
            self.changes.effects.push(Effect::Ended(session.key));
        }
        self.wakes_after_start(now);
    }

    /// Returns the effects of what is stored already, which need no commit.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        let mut effects = std::mem::take(&mut self.changes.effects);
        if std::mem::take(&mut self.directory_changed) {
            effects.insert(0, Effect::Directory(self.directory.clone()));
        }
        effects
    }
}

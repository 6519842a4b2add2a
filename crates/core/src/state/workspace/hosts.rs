//! Takes in what other hosts on the same database have done.
//!
//! Invariant: where hosts share a database, everything that decisions depend on is in rows when a
//! batch ends. A host that reads the rows knows everything that the writing host knew. That
//! includes which host holds a session. Offers that other hosts decided for sessions of this host
//! are forwarded from here.

use std::sync::Arc;

use crate::model::ids::ConversationKey;
use crate::model::member::Session;
use crate::state::directory::Directory;
use crate::state::effect::Effect;
use crate::state::room::{Missed, Room};
use crate::state::workspace::Workspace;

impl Workspace {
    /// Sets this host's number among the hosts of the database, counted in order of arrival.
    pub fn set_host(&mut self, host: u32) {
        self.host = host;
    }

    /// Sets whether other hosts write to the same database. If so, every change of an open event or
    /// of a session's holder is written at once, and the current ones are written with the next
    /// batch.
    pub fn set_shared(&mut self, shared: bool) {
        if shared && !self.shared {
            self.rooms.iter_mut().for_each(|(_, room)| room.forget_written());
            let open = self.rooms.values().filter(|room| !room.open().is_empty());
            self.touched.extend(open.map(Room::key));
            let sessions = self.directory.sessions.values();
            self.changes.sessions.extend(sessions.filter(|s| s.connected).cloned());
        }
        self.shared = shared;
    }

    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// Removes and returns a room that another host has changed.
    pub fn take_stale(&mut self, key: ConversationKey) -> Option<Room> {
        self.take_out(key)
    }

    /// Replaces the directory with the one that other hosts have left.
    pub fn adopt(&mut self, directory: Directory) {
        let last = directory.sessions.last().map_or(0, |(key, _)| key.0);
        self.last_session = self.last_session.max(last);
        let before = std::mem::replace(&mut self.directory, Arc::new(directory));
        self.directory_changed = true;
        let now = &self.directory;
        let revoked = now.revoked.keys().any(|jti| !before.revoked.contains_key(jti))
            || now.cut_offs.iter().any(|(of, at)| before.cut_offs.get(of) != Some(at));
        let was_there = |key| before.member(key).is_some_and(|member| !member.removed);
        if revoked || now.members.iter().any(|member| member.removed && was_there(member.key)) {
            self.changes.effects.push(Effect::ShutOut);
        }
        for session in before.sessions.values().filter(|s| s.connected) {
            self.see_ended(session);
        }
        self.adopted_wakes(&before);
    }

    /// Replaces a session with the state that other hosts have left.
    pub fn adopt_session(&mut self, session: Session) {
        self.last_session = self.last_session.max(session.key.0);
        let before = self.directory.sessions.get(&session.key).cloned();
        self.directory_changed = true;
        Arc::make_mut(&mut self.directory).restore_session(session);
        if let Some(before) = before.filter(|s| s.connected) {
            self.see_ended(&before);
            self.track_wake_of(before.key);
        }
    }

    /// Ends a connection of this host if its session now belongs to another host or to none.
    fn see_ended(&mut self, before: &Session) {
        let now = self.directory.sessions.get(&before.key);
        let (host, session) = (self.host, before.key);
        let holder = now.filter(|s| s.connected).map(|s| s.host);
        if holder.is_none() {
            self.private_reads.left(before.member, session);
        }
        if before.connected && before.host == host && holder != Some(host) {
            let taken_over = holder.is_some();
            self.changes.effects.push(Effect::Ended { session, taken_over });
        }
    }

    /// Records that a conversation with this key exists, although nothing of it is in memory.
    pub fn note_conversation(&mut self, key: ConversationKey) {
        self.last_conversation = self.last_conversation.max(key.0);
    }

    /// Whether any session is connected to a host that is not in this list.
    pub fn has_sessions_but(&self, hosts: &[u32]) -> bool {
        self.directory.sessions.values().any(|s| s.connected && !hosts.contains(&s.host))
    }

    /// Whether a room in memory can be brought up to date with this.
    pub fn can_catch_up(&self, key: ConversationKey, missed: &Missed) -> bool {
        let loaded = self.rooms.get(&key).filter(|_| !self.touched.contains(&key));
        loaded.is_some_and(|room| room.follows(missed))
    }

    /// Returns the effects of what other hosts did. They need no commit, because their cause is
    /// committed already.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        let mut effects = std::mem::take(&mut self.changes.effects);
        if std::mem::take(&mut self.directory_changed) {
            effects.insert(0, Effect::Directory(self.directory.clone()));
        }
        effects
    }
}

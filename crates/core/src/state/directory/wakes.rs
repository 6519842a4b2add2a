//! The runners' sessions and the wakes of the directory.

use std::sync::Arc;

use crate::model::ids::{MemberKey, SessionKey, Uid};
use crate::model::member::Session;
use crate::model::wake::Wake;
use crate::state::directory::Directory;

impl Directory {
    /// The runners' sessions of a member, connected or not; the newest comes last.
    pub fn runners(&self, member: MemberKey) -> &[SessionKey] {
        self.runners.get(&member).map_or(&[], |runners| &**runners)
    }

    pub(super) fn list_runner(&mut self, session: &Session, on: bool) {
        let listed = self.runners(session.member);
        if listed.contains(&session.key) == on {
            return;
        }
        let others = listed.iter().copied().filter(|key| *key != session.key);
        let all: Arc<[SessionKey]> = others.chain(on.then_some(session.key)).collect();
        if all.is_empty() {
            self.runners.remove_mut(&session.member);
        } else {
            self.runners.insert_mut(session.member, all);
        }
    }

    /// The open wake of a session.
    pub fn open_wake(&self, session: SessionKey) -> Option<&Arc<Wake>> {
        self.open_wakes.get(&session).and_then(|uid| self.wakes.get(uid))
    }

    /// Adds a wake, or replaces it by its present state.
    pub fn put_wake(&mut self, wake: Arc<Wake>) {
        match wake.is_open() {
            true => self.open_wakes.insert_mut(wake.session, wake.uid),
            false => self.close_wake(wake.session, wake.uid),
        }
        self.wakes.insert_mut(wake.uid, wake);
    }

    /// Forgets a wake.
    pub fn remove_wake(&mut self, uid: Uid) {
        if let Some(wake) = self.wakes.get(&uid).cloned() {
            self.close_wake(wake.session, uid);
            self.wakes.remove_mut(&uid);
        }
    }

    fn close_wake(&mut self, session: SessionKey, uid: Uid) {
        if self.open_wakes.get(&session) == Some(&uid) {
            self.open_wakes.remove_mut(&session);
        }
    }
}

//! The wakes of the workspace: their changes and their timers.
//!
//! Invariant: every open wake has a timer, which is set again with each change of the wake and
//! whenever its runner connects or disconnects.

use std::sync::Arc;

use crate::model::ids::{SessionKey, Timestamp, Uid};
use crate::model::limits;
use crate::model::wake::Wake;
use crate::state::workspace::{TimerKey, Workspace};

impl Workspace {
    /// Records the present state of a wake.
    pub(crate) fn put_wake(&mut self, wake: Wake) {
        let (uid, session) = (wake.uid, wake.session);
        let was_open = self.directory.wakes.get(&uid).is_none_or(|before| before.is_open());
        let has_ended = was_open && !wake.is_open();
        let wake = Arc::new(wake);
        self.changes.ended_wakes.extend(has_ended.then(|| wake.clone()));
        self.changes.wakes.insert(uid, (session, Some(wake.clone())));
        self.directory_changed = true;
        Arc::make_mut(&mut self.directory).put_wake(wake);
        self.track_wake(uid);
        if has_ended {
            self.forget_old_wakes();
        }
    }

    /// Of the wakes that have ended, the newest are kept.
    fn forget_old_wakes(&mut self) {
        let ended = self.directory.wakes.values().filter(|wake| !wake.is_open());
        let mut ended: Vec<_> = ended.map(|w| (w.changed_at, w.uid, w.session)).collect();
        ended.sort_unstable();
        let excess = ended.len().saturating_sub(limits::WAKES_ENDED);
        for (_, uid, session) in ended.drain(..excess) {
            self.changes.wakes.insert(uid, (session, None));
            Arc::make_mut(&mut self.directory).remove_wake(uid);
        }
    }

    /// Sets the timer of a wake.
    pub(crate) fn track_wake(&mut self, uid: Uid) {
        let due = self.directory.wakes.get(&uid).and_then(|wake| {
            let runner = self.directory.sessions.get(&wake.session);
            wake.due(runner.is_some_and(|runner| runner.connected))
        });
        self.timers.set(TimerKey::Wake(uid), due);
    }

    /// The runner of a session has connected or disconnected.
    pub(crate) fn track_wake_of(&mut self, session: SessionKey) {
        if let Some(wake) = self.directory.open_wake(session).map(|wake| wake.uid) {
            self.track_wake(wake);
        }
    }

    /// Sets the timers of all wakes.
    pub(crate) fn track_wakes(&mut self) {
        self.timers.cancel_wakes();
        let open = self.directory.open_wakes.values();
        for uid in open.copied().collect::<Vec<_>>() {
            self.track_wake(uid);
        }
    }

    /// Leaves a wake alone until `until`, because it keeps failing.
    pub fn put_off_wake(&mut self, uid: Uid, until: Timestamp) {
        self.timers.set(TimerKey::Wake(uid), Some(until));
    }

    /// The host was down: runners have time to come back before their wakes are taken back.
    pub fn wakes_after_start(&mut self, now: Timestamp) {
        self.change_open_wakes(|wake| wake.after_start(now));
    }

    pub(super) fn set_wakes_back(&mut self, now: Timestamp) {
        self.change_open_wakes(|wake| wake.set_back(now));
    }

    fn change_open_wakes(&mut self, change: impl Fn(&mut Wake)) {
        let open = self.directory.open_wakes.values();
        let open: Vec<_> = open.filter_map(|uid| self.directory.wakes.get(uid).cloned()).collect();
        for before in open {
            let mut wake = Wake::clone(&before);
            change(&mut wake);
            if wake != *before {
                self.put_wake(wake);
            }
        }
    }
}

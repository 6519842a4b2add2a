//! The wakes of the workspace: their changes, their timers, and what other hosts do to them.
//!
//! Invariant: every open wake has a timer, which is set again with each change of the wake and
//! whenever its runner connects or disconnects.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::ids::{SessionKey, Timestamp, Uid};
use crate::model::limits;
use crate::model::wake::Wake;
use crate::state::directory::Directory;
use crate::state::workspace::{TimerKey, Workspace};

/// A wake that another host has sent to a runner of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HandedOn {
    pub(crate) wake: Uid,
    pub(crate) again: bool,
}

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

    /// Replaces the wakes of a session with those that other hosts have left.
    pub fn adopt_wakes(&mut self, session: SessionKey, wakes: Vec<Arc<Wake>>) {
        let known = self.directory.wakes.values().filter(|wake| wake.session == session);
        let known: BTreeMap<Uid, Arc<Wake>> = known.map(|wake| (wake.uid, wake.clone())).collect();
        if known.is_empty() && wakes.is_empty() {
            return;
        }
        self.directory_changed = true;
        let directory = Arc::make_mut(&mut self.directory);
        known.keys().for_each(|uid| directory.remove_wake(*uid));
        wakes.iter().for_each(|wake| directory.put_wake(wake.clone()));
        for wake in &wakes {
            self.note_sent(known.get(&wake.uid), wake);
        }
        for uid in known.keys().copied().chain(wakes.iter().map(|wake| wake.uid)) {
            self.track_wake(uid);
        }
    }

    /// The directory was replaced with the one that other hosts have left.
    pub(super) fn adopted_wakes(&mut self, before: &Directory) {
        let now = self.directory.clone();
        for wake in now.wakes.values() {
            self.note_sent(before.wakes.get(&wake.uid), wake);
        }
        self.track_wakes();
    }

    /// If another host has sent the wake to a runner that is connected here, this host does it.
    fn note_sent(&mut self, before: Option<&Arc<Wake>>, wake: &Arc<Wake>) {
        let runner = self.directory.sessions.get(&wake.session);
        let is_here = runner.is_some_and(|r| r.connected && r.host == self.host);
        let is_new = before.is_none_or(|b| (b.fence, b.sent_at) != (wake.fence, wake.sent_at));
        if is_here && is_new && wake.is_out() {
            let again = before.is_some_and(|b| b.fence == wake.fence && b.is_out());
            self.handed_on.push(HandedOn { wake: wake.uid, again });
        }
    }

    /// Whether runners of this host are to be sent what other hosts have decided.
    pub fn has_wakes_to_hand_on(&self) -> bool {
        !self.handed_on.is_empty()
    }
}

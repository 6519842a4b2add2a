//! The wakes of the workspace's directory, and their timers.

use std::sync::Arc;

use crate::model::ids::{SessionKey, Uid};
use crate::model::wake::Wake;
use crate::state::workspace::Workspace;

impl Workspace {
    /// Replaces the wakes of a session with those that other hosts have left.
    pub fn adopt_wakes(&mut self, session: SessionKey, wakes: Vec<Arc<Wake>>) {
        let known = self.directory.wakes.values().filter(|wake| wake.session == session);
        let known: Vec<Uid> = known.map(|wake| wake.uid).collect();
        if known.is_empty() && wakes.is_empty() {
            return;
        }
        self.directory_changed = true;
        let directory = Arc::make_mut(&mut self.directory);
        for uid in known {
            directory.wakes.remove_mut(&uid);
        }
        for wake in wakes {
            directory.wakes.insert_mut(wake.uid, wake);
        }
    }
}

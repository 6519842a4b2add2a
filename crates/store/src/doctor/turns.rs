//! Checks turns: a member that holds one has an open event to answer.

use std::sync::Arc;

use chorus_core::model::ids::Timestamp;

use super::Look;
use crate::db::Result;
use crate::facts::Stored;
use crate::turn;

impl Look<'_> {
    pub(super) fn check_turns(&mut self) -> Result<()> {
        if !self.has(&turn::FAMILY) {
            return Ok(());
        }
        let (db, workspace, key) = (self.db, self.workspace, self.key);
        let subjects = turn::subjects(db, workspace, key)?;
        if subjects.is_empty() {
            return Ok(());
        }
        let mut readable = true;
        for (subject, reads) in subjects {
            if !reads {
                self.found(Some(subject), "the turns about it cannot be read");
                readable = false;
            }
        }
        if !readable {
            return Ok(());
        }
        let (directory, now) = (Arc::new(self.directory.clone()), Timestamp(0));
        let stored = Stored::new(db, workspace, directory, now);
        let Some(room) = stored.load(key)? else { return Ok(()) };
        for (subject, _) in room.stale_turns() {
            self.found(Some(subject), "a member has the turn about it but has nothing to answer");
        }
        Ok(())
    }
}

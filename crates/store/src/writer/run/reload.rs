//! Loads everything again when what is in memory cannot be trusted any more.

use chorus_core::model::ids::Timestamp;
use chorus_core::state::effect::Effect;

use super::Run;
use crate::db::Error;
use crate::{audit, conversation, directory, families};

impl Run {
    /// If the connection is lost once more, it is tried again when the database is back.
    pub(super) fn reload_if_stale(&mut self, now: Timestamp) -> Result<(), Error> {
        if !self.stale || self.pause.is_some() {
            return Ok(());
        }
        match self.reload(now) {
            Err(error) if self.db.is_lost() => {
                self.mark_away(&error.to_string());
                Ok(())
            }
            reloaded => reloaded,
        }
    }

    /// Replaces the directory and drops all rooms. Those with open events are loaded next.
    fn reload(&mut self, now: Timestamp) -> Result<(), Error> {
        let db = &*self.db;
        let tenant = directory::tenant(db, self.tenant)?;
        let tenant = tenant.ok_or_else(|| Error::corrupt("the workspace is gone"))?;
        let everybody = families::load(db, &tenant, now)?;
        let last = conversation::last_key(db, self.tenant)?;
        let open = conversation::with_open_events(db, self.tenant)?;
        self.ledger.head = audit::head(db, self.tenant)?;
        self.workspace.reload(everybody, last, now);
        self.missing.extend(open);
        self.stamps.all_moved();
        self.stale = false;
        let mut effects = self.workspace.take_effects();
        effects.push(Effect::Anything);
        self.publishing.hand_out(effects)
    }
}

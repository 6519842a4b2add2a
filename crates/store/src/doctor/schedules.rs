//! Checks schedules: their number is within the limit, and each has a next time unless it is
//! paused.

use chorus_core::model::limits;

use super::Look;
use crate::db::{Error, Result};
use crate::schedule;

impl Look<'_> {
    pub(super) fn check_schedules(&mut self) -> Result<()> {
        if !self.has(&schedule::FAMILY) {
            return Ok(());
        }
        let all = match schedule::all(self.db, self.workspace, self.key) {
            Err(Error::Corrupt(why)) => {
                self.found(None, format!("a schedule cannot be read: {why}"));
                return Ok(());
            }
            all => all?,
        };
        if all.len() > limits::SCHEDULES {
            self.found(None, "there are more schedules than are allowed");
        }
        if all.iter().any(|s| s.firings.len() > limits::SCHEDULE_FIRINGS) {
            self.found(None, "a schedule has more firings than are allowed");
        }
        if all.iter().any(|s| s.paused && s.next_at.is_some()) {
            self.found(None, "a schedule is paused but has a next time");
        }
        Ok(())
    }
}

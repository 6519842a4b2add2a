//! Checks the queue of stimuli: it is within its cap, at most one is claimed, and dispatched ones
//! are in the log.

use chorus_core::model::limits;
use chorus_core::model::stimulus::{StimulusState, queue};

use super::Look;
use crate::db::{Error, Result};
use crate::{event, stimulus};

impl Look<'_> {
    pub(super) fn check_stimuli(&mut self) -> Result<()> {
        if !self.has(&stimulus::FAMILY) {
            return Ok(());
        }
        let all = match stimulus::all(self.db, self.workspace, self.key) {
            Err(Error::Corrupt(why)) => {
                self.found(None, format!("a stimulus cannot be read: {why}"));
                return Ok(());
            }
            all => all?,
        };
        let all: queue::Queue = all.into_iter().map(|s| (s.uid, s.into())).collect();
        if queue::waiting(&all) > limits::STIMULI_PENDING {
            self.found(None, "more stimuli wait than are allowed");
        }
        if queue::held(&all).count() > limits::STIMULI_HELD {
            self.found(None, "more stimuli wait for room in the queue than are allowed");
        }
        if all.values().filter(|s| s.state == StimulusState::Claimed).count() > 1 {
            self.found(None, "more than one stimulus is claimed");
        }
        for open in all.values().filter(|s| s.state.is_open()) {
            let at = event::find(self.db, self.workspace, open.becomes())?;
            if at.is_some_and(|at| at.conversation == self.key) {
                self.found(
                    at.map(|at| at.seq),
                    "a stimulus has become this event, but still waits",
                );
            }
        }
        for said in all.values().filter(|s| s.state == StimulusState::Dispatched) {
            let Some(uid) = said.said else {
                self.found(None, "a stimulus was dispatched, but its event is unknown");
                continue;
            };
            // Dropped events cannot be checked any more.
            let at = event::find(self.db, self.workspace, uid)?;
            if at.is_some_and(|at| at.conversation != self.key) {
                self.found(None, "a stimulus was dispatched in another conversation");
            }
        }
        Ok(())
    }
}

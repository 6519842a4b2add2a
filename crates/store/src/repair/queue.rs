//! Repairs the queue of stimuli: those about to be dispatched wait again, and posted ones count as
//! dispatched.

use chorus_core::model::event::Event;
use chorus_core::model::ids::Uid;
use chorus_core::model::stimulus::{Found, Recovered, Stimulus, StimulusState};
use chorus_core::state::room::Head;

use super::{Mend, Part};
use crate::db::{Error, Result};
use crate::{event, stimulus};

impl Mend<'_> {
    pub(super) fn stimuli(&mut self, head: &Head) -> Result<()> {
        let db = self.of.db;
        // An ended stimulus keeps none of its content.
        db.thoroughly(&mut || self.each_stimulus(head))
    }

    fn each_stimulus(&mut self, head: &Head) -> Result<()> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        for (uid, state, read) in stimulus::rows(db, workspace, key)? {
            let Some(read) = read.filter(|s| s.uid == uid) else {
                stimulus::remove(db, workspace, key, uid)?;
                self.mended(Part::Stimulus, None, "it could not be read and was dropped");
                continue;
            };
            match read.recover(self.said(&read)?, head.base.0 > 0) {
                Some(Recovered::Queued(queued)) => {
                    stimulus::put(db, workspace, key, &queued)?;
                    self.mended(
                        Part::Stimulus,
                        None,
                        "it was claimed but not dispatched, and waits again",
                    );
                }
                Some(Recovered::Said(said)) => {
                    stimulus::put(db, workspace, key, &said)?;
                    let what = "it was posted already but not marked as dispatched; it is not posted again";
                    self.mended(Part::Stimulus, None, what);
                }
                Some(Recovered::Lost) => {
                    stimulus::remove(db, workspace, key, uid)?;
                    self.mended(
                        Part::Stimulus,
                        None,
                        "it was marked as dispatched but was never posted, and was dropped",
                    );
                }
                None if state != Some(read.state) => {
                    stimulus::put(db, workspace, key, &read)?;
                    self.mended(Part::Stimulus, None, "its row was stored under another state");
                }
                None => {}
            }
        }
        Ok(())
    }

    /// What its conversation's log has of it.
    fn said(&self, stimulus: &Stimulus) -> Result<Option<Found>> {
        let open = stimulus.state.is_open();
        if !open && stimulus.state != StimulusState::Dispatched {
            return Ok(None);
        }
        let found =
            |event: Event| Found { event: event.uid, at: event.at, opened: event.thread.is_none() };
        Ok(self.event_by_uid(stimulus.becomes())?.map(found))
    }

    fn event_by_uid(&self, uid: Uid) -> Result<Option<Event>> {
        let (db, workspace) = (self.of.db, self.of.workspace);
        let at = event::find(db, workspace, uid)?.filter(|at| at.conversation == self.key);
        let Some(at) = at else { return Ok(None) };
        match event::get(db, workspace, at) {
            // It exists, whatever it contains.
            Err(Error::Corrupt(_)) => Ok(None),
            event => event,
        }
    }
}

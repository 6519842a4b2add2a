//! A disk without space: nothing is written, everybody is told so, and work goes on when there is space again.
//!
//! Invariant: what was refused for want of space has written nothing. SQLite says `FULL` when a page could not
//! be written to the write-ahead log; the record that would make the transaction one is the last thing
//! written, so that the log ends before it and a rollback is whole. A failed *sync* is another error, after which
//! nobody knows what is on the disk, and ends the writer (design section 3, "The store").

use chorus_core::error::{Code, Refusal};
use chorus_core::ids::Timestamp;

use super::{Job, Run, answer};
use crate::db::Error;

/// How often it is looked whether there is space again, in milliseconds.
const LOOK_MS: i64 = 500;

impl Run {
    /// Takes back what the batch did, and refuses its commands and all that come until there is space.
    pub(super) fn out_of_space(&mut self, jobs: Vec<Job>, why: &str) -> Result<(), Error> {
        let undone = self.undo();
        self.mark_full(why);
        self.refuse_for_space(jobs);
        undone
    }

    pub(super) fn mark_full(&mut self, why: &str) {
        if self.full.replace(self.clock.now()).is_none() {
            tracing::error!(why, "there is no space left; commands are refused until there is");
        }
        self.shared.trouble(Some(format!("{why}; make space, and work goes on by itself")));
    }

    pub(super) fn refuse_for_space(&self, jobs: Vec<Job>) {
        let why = "the disk is full and nothing of this was written; try again when there is space";
        let refused = jobs.iter().map(|_| Err(Refusal::new(Code::Unavailable, why))).collect();
        answer(jobs, refused);
    }

    /// Whether work can be done. While the disk is full it is tried, by a file that goes
    /// again and then by a row that stays as it is.
    pub(super) fn has_space(&mut self, now: Timestamp) -> Result<bool, Error> {
        let Some(tried) = self.full else { return Ok(true) };
        if self.next_look(tried, now) > 0 {
            return Ok(false);
        }
        if !self.folder.has_space() {
            self.full = Some(now);
            return Ok(false);
        }
        self.db.begin()?;
        let same = "UPDATE workspace SET epoch = epoch WHERE workspace = $1";
        let written = self.db.execute(same, &[self.tenant.into()]);
        match written.and_then(|_| self.db.commit()) {
            Ok(()) => {
                tracing::info!("there is space again");
                self.full = None;
                self.shared.trouble(None);
                Ok(true)
            }
            Err(Error::Full(_)) => {
                self.full = Some(now);
                self.db.rollback()?;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Milliseconds until it is tried again. A clock that was set back does not put it off.
    pub(super) fn next_look(&self, tried: Timestamp, now: Timestamp) -> i64 {
        if now < tried { 0 } else { (LOOK_MS - now.since(tried)).max(0) }
    }
}

//! Handles a full disk: commands are refused, and work continues when there is space again.
//!
//! Invariant: a command refused for lack of space has written nothing. SQLite reports `FULL` when a
//! page could not be written to the write-ahead log. The record that completes the transaction is
//! written last, so the log ends before it and a rollback is complete. A failed *sync* is another
//! error: after it the state of the disk is unknown, and the writer ends (design section 3, "The
//! store").

use chorus_core::model::error::Code;
use chorus_core::model::ids::Timestamp;

use super::{Hindrance, Job, Pause, Run, away, refuse};
use crate::db::Error;

/// How often the space is checked, in milliseconds.
const LOOK_MS: i64 = 500;

/// Why no work is done, and what to do about it.
pub(in crate::writer) fn no_space(why: &str) -> String {
    let why = why.strip_prefix("the disk is full: ").unwrap_or(why);
    format!("the disk is full: {why}; free some space, and work resumes by itself")
}

impl Pause {
    /// Milliseconds until the next attempt. A clock that was set back does not delay it.
    pub(super) fn left(self, now: Timestamp) -> i64 {
        let (tried, rest) = match self {
            Self::Full { tried } => (tried, LOOK_MS),
            Self::Away { tried, rest } => (tried, rest),
        };
        if now < tried { 0 } else { (rest - now.since(tried)).max(0) }
    }
}

impl Run {
    /// Rolls back the batch, and refuses its commands and all others until the next attempt.
    pub(super) fn stand_still(
        &mut self,
        by: Hindrance,
        jobs: Vec<Job>,
        why: &str,
    ) -> Result<(), Error> {
        let undone = self.undo();
        match by {
            Hindrance::Full => self.mark_full(why),
            Hindrance::Away => self.mark_away(why),
        }
        self.refuse_for_now(jobs);
        undone
    }

    pub(super) fn mark_full(&mut self, why: &str) {
        if self.pause.replace(Pause::Full { tried: self.clock.now() }).is_none() {
            tracing::error!(why, "there is no space left; commands are refused until there is");
        }
        self.shared.trouble(Some(no_space(why)));
    }

    pub(super) fn refuse_for_now(&self, jobs: Vec<Job>) {
        if matches!(self.pause, Some(Pause::Away { .. })) {
            return away::refuse(jobs);
        }
        let why = "the disk is full and nothing of this was written; try again when there is space";
        refuse(jobs, Code::Unavailable, why);
    }

    /// Whether work can be done. While it cannot, it is retried from time to time.
    pub(super) fn goes_on(&mut self, now: Timestamp) -> Result<bool, Error> {
        match self.pause {
            None => Ok(true),
            Some(pause) if pause.left(now) > 0 => Ok(false),
            Some(Pause::Full { .. }) => self.has_space(now),
            Some(Pause::Away { rest, .. }) => self.come_back(rest, now),
        }
    }

    /// Tested with a temporary file, and then with a row that stays unchanged.
    fn has_space(&mut self, now: Timestamp) -> Result<bool, Error> {
        if !self.folder.has_space() {
            self.pause = Some(Pause::Full { tried: now });
            return Ok(false);
        }
        self.db.begin()?;
        let same = "UPDATE workspace SET epoch = epoch WHERE workspace = $1";
        let written = self.db.execute(same, &[self.tenant.into()]);
        match written.and_then(|_| self.db.commit()) {
            Ok(()) => {
                tracing::info!("there is space again");
                self.pause = None;
                self.shared.trouble(None);
                Ok(true)
            }
            Err(Error::Full(_)) => {
                self.pause = Some(Pause::Full { tried: now });
                self.db.rollback()?;
                Ok(false)
            }
            Err(Error::Lost(why)) => {
                self.mark_away(&why);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

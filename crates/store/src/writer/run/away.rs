//! Handles an unreachable database: commands are refused, and work continues when it is reachable
//! again.
//!
//! Invariant: a refused command has written nothing. A batch whose commit was in progress is
//! answered only when the database has reported its outcome; until then its rooms and effects wait.
//! Rooms in memory stay valid, unless the connection was lost in the middle of other work: then they
//! are loaded again (`reload`).

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Timestamp;

use super::{Job, Pause, Run};
use crate::db::{Error, Fate};

/// Delay before reconnecting, in milliseconds: at first, and after a while of failures.
const SOON_MS: i64 = 100;
const LATER_MS: i64 = 3_000;

impl Run {
    /// The commit was not acknowledged: nobody is answered yet.
    pub(super) fn park(&mut self, jobs: Vec<Job>, why: &str) {
        self.unknown = Some(jobs);
        self.mark_away(why);
    }

    pub(super) fn mark_away(&mut self, why: &str) {
        tracing::error!(why, "the database is away; commands are refused until it is back");
        self.pause = Some(Pause::Away { tried: self.clock.now(), rest: SOON_MS });
        self.tell_away(why);
    }

    /// Losing the connection during other work does not end the writer either. Data read up to then
    /// is not trusted.
    pub(super) fn outlive(&mut self, done: Result<(), Error>) -> Result<(), Error> {
        match done {
            Err(error @ Error::Lost(_)) => {
                self.stale = true;
                self.mark_away(&error.to_string());
                Ok(())
            }
            other => other,
        }
    }

    fn tell_away(&self, why: &str) {
        let why = format!("the database is away: {why}; work resumes by itself when it is back");
        self.shared.trouble(Some(why));
    }

    /// Replaces a connection that was lost while idle, before any command is refused.
    pub(super) fn see_whether_lost(&mut self, now: Timestamp) {
        if self.pause.is_none() && self.db.is_lost() {
            self.mark_away("the connection was closed");
            self.pause = Some(Pause::Away { tried: now, rest: 0 });
        }
    }

    /// Reconnects, and completes the batch in progress. False while that is impossible.
    pub(super) fn come_back(&mut self, rest: i64, now: Timestamp) -> Result<bool, Error> {
        match self.db.recover() {
            Err(Error::Lost(why)) => {
                let rest = (rest * 2).clamp(SOON_MS, LATER_MS);
                self.pause = Some(Pause::Away { tried: now, rest });
                self.tell_away(&why);
                return Ok(false);
            }
            Err(error) => return Err(error),
            Ok(fate) => {
                tracing::info!("the database is back");
                self.pause = None;
                self.shared.trouble(None);
                self.resolve(fate)?;
            }
        }
        Ok(true)
    }

    fn resolve(&mut self, fate: Fate) -> Result<(), Error> {
        let Some(jobs) = self.unknown.take() else { return Ok(()) };
        match fate {
            Fate::Committed => self.publish(jobs),
            Fate::Undone => {
                let undone = self.undo();
                refuse(jobs);
                undone
            }
        }
    }

    /// The writer ends with the outcome still unknown.
    pub(super) fn give_up(&mut self) {
        let Some(jobs) = self.unknown.take() else { return };
        for job in jobs {
            let why = "it is unknown whether this was written, since the database went away; repeat it \
                with the same idempotency key";
            job.refuse(Refusal::new(Code::OutcomeUnknown, why));
        }
    }
}

/// Refuses these commands; nothing of them was written.
pub(super) fn refuse(jobs: Vec<Job>) {
    let why = "the database cannot be reached and nothing of this was written; try again";
    super::refuse(jobs, Code::Unavailable, why);
}

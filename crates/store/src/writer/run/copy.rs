//! A copy of the database, made by the writer itself between its batches (design section 3,
//! "Engines").
//!
//! Invariant: a complete copy contains everything that was committed before its end, because all
//! commits went through this connection. Commands run between its steps, so a post waits for one
//! step at most. A failed copy leaves no file.

use std::time::Duration;

use super::Run;
use crate::db::Error;
use crate::sqlite;
use crate::writer::orders::CopyOrder;
use crate::writer::queue::Next;

impl Run {
    /// Makes the copy. An error ends the writer: it comes from the work in between, not from the
    /// copy.
    pub(super) fn copy(&mut self, order: CopyOrder) -> Result<(), Error> {
        let CopyOrder { to, reply } = order;
        let db = self.db.clone();
        let mut worked = Ok(());
        let copied = db.copy_to(&to, &mut || match self.between() {
            Ok(go_on) => go_on,
            Err(error) => {
                worked = Err(error);
                false
            }
        });
        let copied = match copied {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::Engine("the host is stopping".to_owned())),
            Err(error) => Err(error),
        };
        if copied.is_err() {
            sqlite::remove_database(&to);
        }
        self.shared.queue.copied();
        reply(copied);
        worked
    }

    /// Runs waiting commands; returns whether the copy should continue.
    fn between(&mut self) -> Result<bool, Error> {
        match self.shared.queue.take(Some(Duration::ZERO), self.batching) {
            Next::Work(jobs) => {
                // Timers keep their interval; a step with nothing to do costs nothing.
                if !jobs.is_empty() || self.until_due() == Some(Duration::ZERO) {
                    self.round(jobs)?;
                }
                Ok(true)
            }
            Next::Stop => Ok(false),
        }
    }
}

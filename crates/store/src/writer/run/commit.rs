//! The end of a batch: it is committed, recorded, and given to be answered.

use std::time::Instant;

use super::super::job::Job;
use super::super::publish::{Batch, Written};
use super::Run;
use crate::db::Error;

impl Run {
    /// Removes erased content from the files. If a reader is in the way, it is retried soon, and
    /// after the next batch.
    pub(super) fn scrub(&mut self) -> Result<(), Error> {
        if self.unscrubbed && self.db.scrub()? {
            self.unscrubbed = false;
            self.publishing.sync_newest();
        }
        Ok(())
    }

    /// Commits. Readers may see it from now on, and wait until it is durable.
    pub(super) fn commit(&mut self) -> Result<(), Error> {
        if !self.trace.began {
            return Ok(());
        }
        let number = if self.publishing.defers() { self.durable.begin() } else { 0 };
        self.trace.commit = Some((number, Instant::now()));
        self.db.commit()
    }

    /// The batch is committed: has it answered when it is durable.
    pub(super) fn publish(&mut self, jobs: Vec<Job>) -> Result<(), Error> {
        let written = self.trace.commit.take().map(|(number, began)| {
            self.unscrubbed |= self.trace.scrubs;
            self.trace.rooms.iter().for_each(|room| self.stamps.moved(*room));
            let block = self.trace.audited.map(|head| head.block);
            Written { number, began, entries: self.trace.entries, block }
        });
        self.trace.began = false;
        self.ledger.committed(&mut self.trace);
        self.ages.grew(self.trace.loaded);
        for key in &self.trace.rooms {
            self.ages.used(*key);
        }
        let effects = std::mem::take(&mut self.trace.effects);
        self.publishing.publish(Batch { jobs, effects, written })
    }

    /// The commit came to nothing. The ones before it may not be durable yet.
    pub(super) fn uncommitted(&mut self) -> Result<(), Error> {
        if let Some((number, _)) = self.trace.commit.take() {
            self.publishing.settle()?;
            self.durable.reached(number);
        }
        Ok(())
    }
}

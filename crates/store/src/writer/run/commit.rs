//! The end of a batch: it is made durable, recorded, and its effects are handed out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::super::Commit;
use super::super::queue::lock;
use super::Run;
use crate::db::Error;
use crate::newest::Newest;

impl Run {
    /// Removes erased content from the files. If a reader is in the way, it is retried soon, and
    /// after the next batch.
    pub(super) fn scrub(&mut self) -> Result<(), Error> {
        if self.unscrubbed && self.db.scrub()? {
            self.unscrubbed = false;
            self.newest.iter().for_each(Newest::sync);
        }
        Ok(())
    }

    /// Records the commit and hands out its effects.
    pub(super) fn hand_out(&mut self) {
        self.ledger.committed(&mut self.trace);
        self.ages.grew(self.trace.loaded);
        for key in &self.trace.rooms {
            self.ages.used(*key);
        }
        let effects = std::mem::take(&mut self.trace.effects);
        if !effects.is_empty() && catch_unwind(AssertUnwindSafe(|| (self.sink)(effects))).is_err() {
            tracing::error!("handing out the effects of a batch panicked");
        }
    }

    pub(super) fn commit(&mut self, commands: usize) -> Result<(), Error> {
        *lock(&self.shared.commit) = None;
        if !self.trace.began {
            return Ok(());
        }
        let before = Instant::now();
        self.db.commit()?;
        if !self.slower_sync.is_zero() {
            std::thread::sleep(self.slower_sync);
        }
        self.committed();
        let (began, ended) = (before, Instant::now());
        *lock(&self.shared.commit) = Some(Commit { began, ended, commands });
        let took = u64::try_from((ended - began).as_micros()).unwrap_or(u64::MAX);
        self.shared.counters.commits.fetch_add(1, Ordering::Relaxed);
        self.shared.counters.commit_us.fetch_add(took, Ordering::Relaxed);
        Ok(())
    }

    /// The batch is on disk.
    pub(super) fn committed(&mut self) {
        self.trace.began = false;
        self.unscrubbed |= self.trace.scrubs;
        if let Some(newest) = &mut self.newest {
            newest.committed(self.trace.entries, self.trace.audited.map(|head| head.block));
        }
        self.trace.rooms.iter().for_each(|room| self.stamps.moved(*room));
    }
}

//! The one timer of all jobs for hire. Which jobs are due is the store's to know, because there may
//! be more than are kept in memory.

use std::sync::Arc;

use crate::model::ids::Timestamp;
use crate::model::job::Job;
use crate::state::workspace::{TimerKey, Workspace};

impl Workspace {
    /// Records the present state of a job.
    pub(crate) fn put_job(&mut self, job: Job) {
        if let Some(due) = job.due() {
            self.expect_job_by(due);
        }
        self.changes.jobs.insert(job.uid, Arc::new(job));
    }

    /// Looks which jobs are due, soon after a start or after changes were lost.
    pub fn track_jobs(&mut self) {
        self.timers.set(TimerKey::Jobs, Some(Timestamp::default()));
    }

    /// Looks again at this time, if no earlier one is set.
    pub(crate) fn expect_job_by(&mut self, due: Timestamp) {
        let set = self.timers.due_at(TimerKey::Jobs);
        if set.is_none_or(|set| due < set) {
            self.timers.set(TimerKey::Jobs, Some(due));
        }
    }

    /// Leaves due jobs alone until `until`, because handling them fails.
    pub fn put_off_jobs(&mut self, until: Timestamp) {
        self.timers.set(TimerKey::Jobs, Some(until));
    }
}

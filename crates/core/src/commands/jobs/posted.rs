//! How posts about jobs ended.

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::audit::Audit;
use crate::model::ids::Uid;
use crate::model::job::{Job, JobState, Outcome, Posted};

/// The host has posted a job to its agent, or its end to its hirer.
#[derive(Clone)]
pub struct JobPosted {
    pub job: Uid,
    /// The end was posted, and not the job itself.
    pub end: bool,
    pub attempt: u16,
    pub posted: Posted,
}

impl Command for JobPosted {
    type Output = Option<Arc<Job>>;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // It is the host's progress with the job, which shows it.
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Option<Arc<Job>>> {
        let Some(job) = run.maybe_job(self.job)? else { return Ok(None) };
        let mut job = Job::clone(&job);
        let now = run.now;
        if self.end {
            job.notice.note(self.attempt, &self.posted, now);
            return Ok(Some(run.put_job(job)));
        }
        job.sending.note(self.attempt, &self.posted, now);
        // What was refused after it was taken up, or after its end, changes nothing more.
        let is_declined = matches!(self.posted, Posted::Refused(_));
        if is_declined && job.state == JobState::Funded && job.progress.is_none() {
            return run.end_job(job, Outcome::Declined).map(Some);
        }
        Ok(Some(run.put_job(job)))
    }
}

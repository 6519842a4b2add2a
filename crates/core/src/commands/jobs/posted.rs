//! How posts about jobs ended.

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::audit::Audit;
use crate::model::ids::{EventRef, Uid};
use crate::model::job::{Job, JobState, Outcome, Posted};

/// The host has posted a job to its agent, or its end to its hirer.
#[derive(Clone)]
pub struct JobPosted {
    pub job: Uid,
    /// The end was posted, and not the job itself.
    pub end: bool,
    pub attempt: u16,
    pub posted: Posted,
    /// The event that asks a member for it.
    pub asked_in: Option<(EventRef, Uid)>,
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
        if let Some((at, event)) = self.asked_in {
            (job.asked_in, job.asked_by_event) = (Some(at), Some(event));
        }
        job.sending.note(self.attempt, &self.posted, now);
        if self.asked_in.is_some() && (job.result.is_some() || job.state.has_ended()) {
            // It has ended meanwhile: nobody is asked any more.
            run.settle_request(&job, job.result.is_some())?;
        }
        // What was refused after it was taken up, or after its end, changes nothing more.
        let is_declined = matches!(self.posted, Posted::Refused(_));
        let waits = matches!(job.state, JobState::Open | JobState::Funded);
        if is_declined && waits && job.progress.is_none() {
            return run.end_job(job, Outcome::Declined).map(Some);
        }
        Ok(Some(run.put_job(job)))
    }
}

//! What time does to jobs.

use std::collections::BTreeSet;

use crate::commands::context::{Context, Result};
use crate::model::ids::Uid;
use crate::model::job::{Job, JobState, Outcome, Payment};
use crate::model::limits;
use crate::state::effect::Effect;

/// How often hosts that share a database look for what others have left.
const LOOK_MS: i64 = 30_000;

impl Context<'_> {
    /// Handles the jobs that are due, and sets the timer again.
    pub(crate) fn fire_jobs(&mut self) -> Result<()> {
        let now = self.now;
        let stored = self.facts.due_jobs(now, limits::JOBS_DUE)?;
        let has_more = stored.len() >= limits::JOBS_DUE;
        let mut due: BTreeSet<Uid> = stored.into_iter().collect();
        let recent = self.ws.changes.jobs.values();
        due.extend(recent.filter(|job| job.due().is_some_and(|due| due <= now)).map(|j| j.uid));
        for uid in due {
            let job = self.maybe_job(uid)?;
            // An earlier command of the batch may have put it off.
            if let Some(job) = job.filter(|job| job.due().is_some_and(|due| due <= now)) {
                self.fire_job((*job).clone())?;
            }
        }
        let recent = self.ws.changes.jobs.values().filter_map(|job| job.due());
        let mut next = recent.min();
        next = next.into_iter().chain(self.facts.next_due_job(now)?).min();
        if self.ws.shared {
            next = next.into_iter().chain([now.plus(LOOK_MS)]).min();
        }
        if has_more {
            next = Some(now);
        }
        if let Some(next) = next {
            self.ws.expect_job_by(next);
        }
        Ok(())
    }

    fn fire_job(&mut self, mut job: Job) -> Result<()> {
        let now = self.now;
        match job.state {
            JobState::Open | JobState::Funded if now >= job.deadline_at => {
                let outcome = match job.sending.taken_at {
                    Some(_) => Outcome::TimedOut,
                    None => Outcome::Undelivered,
                };
                self.end_job(job, outcome)?;
            }
            JobState::Open | JobState::Funded => {
                job.sending.begin_again(now);
                self.effect(Effect::Job(job.uid));
                self.put_job(job);
            }
            // The agent has done its part.
            JobState::Submitted if job.decide_by.is_some_and(|by| now >= by) => {
                let outcome = match job.payment {
                    Payment::Escrow => Outcome::Paid,
                    Payment::Direct => Outcome::Unpaid,
                };
                self.end_job(job, outcome)?;
            }
            _ => {
                if job.notice.attempts >= limits::JOB_NOTICES {
                    job.notice.given_up = true;
                } else {
                    job.notice.begin_again(now);
                    self.effect(Effect::Job(job.uid));
                }
                self.put_job(job);
            }
        }
        Ok(())
    }
}

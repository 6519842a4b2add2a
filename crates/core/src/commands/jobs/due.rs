//! What time does to jobs.

use std::collections::BTreeSet;

use crate::commands::context::{Context, Result};
use crate::model::ids::Uid;
use crate::model::job::{Job, JobState, Outcome, Payment};
use crate::model::limits;
use crate::state::effect::Effect;

impl Context<'_> {
    /// Handles the jobs that are due, and sets the timer again.
    pub(crate) fn fire_jobs(&mut self) -> Result<()> {
        let now = self.now;
        let stored = self.facts.due_jobs(now, limits::JOBS_DUE)?;
        let has_more = stored.len() >= limits::JOBS_DUE;
        let mut due: BTreeSet<Uid> = stored.into_iter().collect();
        let recent = self.ws.changes.jobs.values();
        due.extend(recent.filter(|job| job.due().is_some_and(|due| due <= now)).map(|j| j.uid));
        let mut put_off = None;
        for uid in due {
            let job = self.maybe_job(uid)?;
            // An earlier command of the batch may have put it off.
            let Some(job) = job.filter(|job| job.due().is_some_and(|due| due <= now)) else {
                continue;
            };
            if self.was_answered_in_time(&job)? {
                put_off = Some(now.plus(limits::JOB_ANSWER_MS));
            } else {
                self.fire_job((*job).clone())?;
            }
        }
        let recent = self.ws.changes.jobs.values().filter_map(|job| job.due());
        let mut next = recent.min();
        next = next.into_iter().chain(put_off).chain(self.facts.next_due_job(now)?).min();
        if has_more {
            next = Some(now);
        }
        if let Some(next) = next {
            self.ws.expect_job_by(next);
        }
        Ok(())
    }

    /// Whether the agent has the job: its endpoint has taken it, or, where a member was asked by a
    /// message, that was accepted.
    fn has_reached_its_agent(&mut self, job: &Job) -> Result<bool> {
        let Some(at) = job.asked_in else {
            return Ok(job.sending.taken_at.is_some() || job.progress.is_some());
        };
        let member = self.maybe_listing(job.agent)?.and_then(|listing| listing.member);
        let Some(member) = member.filter(|_| job.progress.is_none()) else { return Ok(true) };
        if !self.is_there(at.conversation)? {
            return Ok(true);
        }
        let open = self.room(at.conversation).open().get(&at.seq);
        let mine = open.and_then(|open| open.delivery(member));
        Ok(mine.is_none_or(|mine| !mine.is_open() || mine.state.is_running()))
    }

    /// Whether its time is over and its agent has answered in time: then the host is about to take
    /// the answer for the result.
    fn was_answered_in_time(&mut self, job: &Job) -> Result<bool> {
        let waits = matches!(job.state, JobState::Open | JobState::Funded);
        let is_over = waits && self.now >= job.deadline_at;
        Ok(is_over && self.answered_at(job)?.is_some_and(|at| at <= job.deadline_at))
    }

    fn fire_job(&mut self, mut job: Job) -> Result<()> {
        let now = self.now;
        match job.state {
            JobState::Open | JobState::Funded if now >= job.deadline_at => {
                let outcome = match self.has_reached_its_agent(&job)? {
                    true => Outcome::TimedOut,
                    false => Outcome::Undelivered,
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

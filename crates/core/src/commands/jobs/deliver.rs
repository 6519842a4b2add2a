//! Progress and results (registry spec section 3.4).

use std::sync::Arc;

use super::lookup::has_ended;
use crate::commands::command::{Command, Done, InTurn};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::{Readers, Shown, plain};
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::error::{Code, Refusal};
use crate::model::ids::{MemberKey, Prefix, Uid};
use crate::model::job::{Job, JobResult, JobState, Next, Outcome, Payment, Progress, Sending};
use crate::model::limits;
use crate::state::effect::Effect;

/// An agent delivers the result of its job. Repeated with the same content it changes nothing.
#[derive(Clone)]
pub struct Deliver {
    pub job: Uid,
    /// The agent that the result states.
    pub agent: Uid,
    /// Its output fits the job's schema: the edge has checked that.
    pub result: JobResult,
    /// What it makes of the pipeline that the job is a step of.
    pub next: Option<Next>,
}

/// The job after its result, and whether the result had come before.
pub struct Delivered {
    pub job: Arc<Job>,
    pub duplicate: bool,
}

impl Command for Deliver {
    type Output = Delivered;

    const IN_TURN: InTurn = InTurn::AfterEnd;
    const WHILE_PAUSED: bool = false;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        match done {
            Ok(Delivered { duplicate: true, .. }) => Audit::none(),
            _ => {
                let how = if self.result.success { "success" } else { "failure" };
                Audit::firm(Action::DeliverJob).subject(self.job).name(how)
            }
        }
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        let mut count = redact.maybe(&mut self.result.error);
        let output = self.result.output.as_deref();
        if let Some((clean, found)) = output.and_then(|output| redact.clean_json(output)) {
            self.result.output = Some(clean.into());
            count += found;
        }
        count
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let output = self.result.output.as_deref().unwrap_or("");
        let error = self.result.error.as_deref().unwrap_or("");
        let fields = vec![
            ("error_message", error.to_owned()),
            ("job_id", self.job.show(Prefix::Uuid)),
            ("output_data", output.to_owned()),
        ];
        run.shown_to_hirer(self.job, "deliver_job", fields)
    }

    fn bytes(&self) -> usize {
        self.result.output.as_ref().map_or(0, |output| output.len())
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Delivered> {
        let job = run.job_of_agent(self.job, self.agent)?;
        check(&self.result)?;
        if let Some(known) = &job.result {
            if known.is_same(&self.result) {
                return Ok(Delivered { job, duplicate: true });
            }
            let why = "the job has another result already; a result is never replaced";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        if job.state.has_ended() {
            return Err(has_ended(&job).into());
        }
        let mut job = Job::clone(&job);
        let success = self.result.success;
        if let (Some(pipeline), Some(next), true) = (&mut job.pipeline, self.next, success) {
            pipeline.take(next);
        }
        (job.result, job.submitted_at) = (Some(self.result), Some(run.now));
        if !success {
            let job = run.end_job(job, Outcome::Failed)?;
            return Ok(Delivered { job, duplicate: false });
        }
        let job = run.submit_job(job)?;
        Ok(Delivered { job, duplicate: false })
    }
}

/// An agent says how far it is, which is shown and decides nothing.
#[derive(Clone)]
pub struct ReportProgress {
    pub job: Uid,
    pub agent: Uid,
    pub note: Arc<str>,
}

impl Command for ReportProgress {
    type Output = Arc<Job>;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // The job shows the newest.
        Audit::none()
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.text(&mut self.note)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let fields = vec![("job_id", self.job.show(Prefix::Uuid)), ("note", self.note.to_string())];
        run.shown_to_hirer(self.job, "report_job_progress", fields)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Job>> {
        let job = run.job_of_agent(self.job, self.agent)?;
        if self.note.len() > limits::JOB_NOTE_BYTES {
            let most = limits::JOB_NOTE_BYTES;
            return Err(Refusal::invalid(format!("a note has at most {most} bytes")).into());
        }
        if job.result.is_some() || job.state.has_ended() {
            let why = "the job has its result; there is no more progress to report";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let mut job = Job::clone(&job);
        job.progress = Some(Progress { at: run.now, note: self.note });
        // It works on it, however the post ended.
        if job.sending.next_at.is_some() {
            job.sending.taken_at = job.sending.taken_at.or(Some(run.now));
            job.sending.next_at = None;
        }
        Ok(run.put_job(job))
    }
}

impl Context<'_> {
    /// The job, for its agent. A callback's token is for one job and its agent: then the host asks.
    fn job_of_agent(&mut self, uid: Uid, agent: Uid) -> Result<Arc<Job>> {
        let by_host = self.by.member == MemberKey::HOST;
        let job = match by_host {
            true => self.maybe_job(uid)?.ok_or_else(|| Refusal::not_found("job"))?,
            false => self.job(uid)?,
        };
        if job.agent != agent {
            let id = job.agent.show(Prefix::Uuid);
            let why = format!("agent_id is not that of this job, which is {id}'s");
            return Err(Refusal::new(Code::ClaimMismatch, why).into());
        }
        if !by_host {
            match self.maybe_listing(job.agent)? {
                Some(listing) => self.must_be_agent(&listing)?,
                None => return Err(Refusal::not_found("job").into()),
            }
        }
        Ok(job)
    }

    /// A result is in: it is accepted at once, or somebody decides.
    fn submit_job(&mut self, mut job: Job) -> Result<Arc<Job>> {
        let due = job.result.as_ref().map(|result| job.payable(result));
        let is_free = due.is_none_or(|due| due.is_zero());
        let within = match (job.payment, job.evaluation) {
            (Payment::Escrow, None) => return self.end_job(job, Outcome::Paid),
            (Payment::Direct, _) if is_free => return self.end_job(job, Outcome::Paid),
            (_, Some(evaluation)) => evaluation.within_ms,
            (Payment::Direct, None) => limits::JOB_EVALUATION_MS,
        };
        job.state = JobState::Submitted;
        self.settle_request(&job, true)?;
        job.decide_by = Some(self.now.plus(within));
        // Whoever pays by a transfer needs the result first.
        if job.payment == Payment::Direct && job.callback.is_some() {
            job.notice = Sending::begun(self.now);
            self.effect(Effect::Job(job.uid));
        }
        Ok(self.put_job(job))
    }

    /// The words of an agent about a job, which its hirer and the evaluator read.
    fn shown_to_hirer(
        &mut self,
        job: Uid,
        tool: &'static str,
        fields: Vec<(&'static str, String)>,
    ) -> Result<Option<Shown>> {
        let Some(job) = self.maybe_job(job)? else { return Ok(None) };
        let readers = match job.callback {
            Some(_) => Readers::everybody(),
            None => {
                let evaluator = job.evaluation.map(|evaluation| evaluation.by);
                let members = [job.hirer].into_iter().chain(evaluator).collect();
                Readers { members, ..Readers::default() }
            }
        };
        Ok(Some(plain(tool, readers, fields)))
    }
}

fn check(result: &JobResult) -> Result<(), Refusal> {
    if result.success && result.output.is_none() {
        return Err(Refusal::invalid("output_data is the result of a job with status SUCCESS"));
    }
    if result.output.as_ref().is_some_and(|output| output.len() > limits::JOB_DATA_BYTES) {
        let most = limits::JOB_DATA_BYTES;
        let why = format!("output_data has at most {most} bytes; refer to a file for more");
        return Err(Refusal::new(Code::PayloadTooLarge, why));
    }
    if result.error.as_ref().is_some_and(|error| error.len() > limits::JOB_NOTE_BYTES) {
        let most = limits::JOB_NOTE_BYTES;
        return Err(Refusal::invalid(format!("error_message has at most {most} bytes")));
    }
    Ok(())
}

//! Contested jobs: the hirer objects to what it paid for, and an operator decides.

use std::sync::Arc;

use crate::commands::command::{Command, Done};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::{Readers, Shown, plain};
use crate::commands::ledger::posting::Posting;
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::caller::Authority;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{Prefix, Uid};
use crate::model::job::{self, DisputeDecision, Job};
use crate::model::ledger::{Credits, EntryKind};
use crate::model::limits;
use crate::state::effect::Effect;

/// The hirer contests a completed job.
#[derive(Clone)]
pub struct Dispute {
    pub job: Uid,
    pub reason: Arc<str>,
}

impl Command for Dispute {
    type Output = Arc<Job>;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::DisputeJob).subject(self.job)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.text(&mut self.reason)
    }

    fn shown(&self, _: &mut Context<'_>) -> Result<Option<Shown>> {
        let fields =
            vec![("job_id", self.job.show(Prefix::Uuid)), ("reason", self.reason.to_string())];
        Ok(Some(plain("dispute_job", Readers::everybody(), fields)))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Job>> {
        let job = run.job(self.job)?;
        run.must_be_hirer(&job)?;
        check_note("reason", &self.reason)?;
        let Some(until) = job.contestable_until() else {
            let why =
                format!("only a Completed job can be contested, and this is {}", job.state.name());
            return Err(Refusal::new(Code::Conflict, why).into());
        };
        if let Some(open) = &job.dispute {
            if open.reason == self.reason {
                return Ok(job);
            }
            let why = "the job is contested already";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        if run.now > until {
            let why = "the time in which the job could be contested is over";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        if job.paid.is_zero() {
            let why = "nothing was paid for this job, so that nothing can be returned";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let mut job = Job::clone(&job);
        let (opened_at, reason) = (run.now, self.reason);
        job.dispute = Some(job::Dispute { opened_at, reason, decided: None });
        run.hint_at_job(&job);
        Ok(run.put_job(job))
    }
}

/// An operator decides about a contested job. For the hirer: what was paid returns as far as the
/// agent's owner has it, and the job counts as a failure.
#[derive(Clone)]
pub struct DecideDispute {
    pub job: Uid,
    pub for_hirer: bool,
    pub note: Arc<str>,
}

impl Command for DecideDispute {
    type Output = Arc<Job>;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        let how = if self.for_hirer { "for_hirer" } else { "for_agent" };
        Audit::firm(Action::DecideDispute).subject(self.job).name(how)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.text(&mut self.note)
    }

    // Operators decide, and they are people.
    crate::commands::command::not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Job>> {
        if run.by.authority < Authority::Operator {
            let why = "only an operator decides about a contested job";
            return Err(Refusal::new(Code::InsufficientAuthority, why).into());
        }
        let known = run.job(self.job)?;
        check_note("note", &self.note)?;
        let mut job = Job::clone(&known);
        let Some(dispute) = &mut job.dispute else {
            return Err(Refusal::new(Code::Conflict, "nobody contests this job").into());
        };
        if let Some(decided) = &dispute.decided {
            if decided.refunded.is_some() == self.for_hirer {
                return Ok(known);
            }
            let why = "the dispute was decided already, the other way";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let refunded = match self.for_hirer {
            true => {
                let balance = run.account(&job.agent_owner)?.map_or(Credits(0), |a| a.balance);
                Some(balance.min(job.paid))
            }
            false => None,
        };
        let (at, by) = (run.now, run.by.member);
        dispute.decided = Some(DisputeDecision { at, by, refunded, note: self.note });
        if let Some(amount) = refunded {
            if !amount.is_zero() {
                let (from, to) = (job.agent_owner.clone(), job.hirer_owner.clone());
                run.post_entry(Posting::of_job(EntryKind::Reverse, job.uid, &from, &to, amount))?;
            }
            run.reverse_reputation(&job)?;
        }
        run.hint_at_job(&job);
        Ok(run.put_job(job))
    }
}

impl Context<'_> {
    /// Whoever shows jobs looks again. A job whose end is still being told is hinted at by that.
    fn hint_at_job(&mut self, job: &Job) {
        if job.notice.next_at.is_none() || job.notice.is_done() {
            self.effect(Effect::Job(job.uid));
        }
    }
}

fn check_note(what: &str, text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() || text.len() > limits::JOB_NOTE_BYTES {
        let most = limits::JOB_NOTE_BYTES;
        return Err(Refusal::invalid(format!("{what} says why, in at most {most} bytes")));
    }
    Ok(())
}

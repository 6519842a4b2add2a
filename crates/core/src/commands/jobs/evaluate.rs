//! Deciding about a result.

use std::sync::Arc;

use super::lookup::has_ended;
use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::audit::{Action, Audit};
use crate::model::error::{Code, Refusal};
use crate::model::ids::Uid;
use crate::model::job::{Job, JobState, Outcome, Payment};

/// The evaluator of a job accepts its result, which pays it, or refuses it, which returns what was
/// held.
#[derive(Clone)]
pub struct Evaluate {
    pub job: Uid,
    pub accept: bool,
}

impl Command for Evaluate {
    type Output = Arc<Job>;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        let how = if self.accept { "accepted" } else { "refused" };
        Audit::firm(Action::EvaluateJob).subject(self.job).name(how)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Job>> {
        let job = run.job(self.job)?;
        if job.evaluation.is_none_or(|evaluation| evaluation.by != run.by.member) {
            let why = "only the evaluator that the job names decides about its result";
            return Err(Refusal::new(Code::Forbidden, why).into());
        }
        let outcome = if self.accept { Outcome::Paid } else { Outcome::Refused };
        if job.outcome == Some(outcome) {
            return Ok(job);
        }
        if job.state.has_ended() {
            return Err(has_ended(&job).into());
        }
        if job.state != JobState::Submitted {
            let why = "the job has no result yet; there is nothing to decide about";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        if self.accept && job.payment == Payment::Direct {
            let why = "a direct job is accepted by paying it with a transfer";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        run.end_job((*job).clone(), outcome)
    }
}

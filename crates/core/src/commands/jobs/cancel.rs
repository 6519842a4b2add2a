//! Taking a job back.

use std::sync::Arc;

use super::lookup::has_ended;
use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::audit::{Action, Audit};
use crate::model::error::{Code, Refusal};
use crate::model::ids::Uid;
use crate::model::job::{Job, Outcome};

/// The hirer takes the job back before there is a result. What was held returns.
#[derive(Clone)]
pub struct Cancel {
    pub job: Uid,
}

impl Command for Cancel {
    type Output = Arc<Job>;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::CancelJob).subject(self.job)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Job>> {
        let job = run.job(self.job)?;
        run.must_be_hirer(&job)?;
        if job.outcome == Some(Outcome::Cancelled) {
            return Ok(job);
        }
        if job.state.has_ended() {
            return Err(has_ended(&job).into());
        }
        if job.result.is_some() {
            let why = "the job has its result, which is to be accepted or refused";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        if run.answered_at(&job)?.is_some() {
            let why = "the agent has answered, and its answer is taken for the result";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        run.end_job((*job).clone(), Outcome::Cancelled)
    }
}

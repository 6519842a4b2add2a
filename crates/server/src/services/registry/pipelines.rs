//! Pipelines: what each step begins with is made of what the steps before it have made.

use std::sync::Arc;

use chorus_core::commands::jobs::Request;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::job::{self, Job, JobState, Payment, Step};
use chorus_core::model::ledger::Credits;
use chorus_core::model::limits;
use chorus_core::model::registry::owner_of;
use chorus_wire::registry::{NewPipeline, Pipeline, PipelineStep, ResultStatus};

use super::agents::{AgentService, must_not_be_negative};
use super::jobs::{JobService, data};
use super::ledger::sees_everything;
use super::steps::input;
use crate::auth::Caller;
use crate::services::clock::HostClock;
use crate::services::commands::Commands;
use crate::services::reads::Reads;
use crate::services::{IdGenerator, ids};
use crate::view;

/// Steps of one pipeline.
const STEPS: usize = 16;

/// Pipelines.
pub(crate) struct PipelineService {
    pub(in crate::services) agents: Arc<AgentService>,
    pub(in crate::services) jobs: Arc<JobService>,
    pub(in crate::services) commands: Arc<Commands>,
    pub(in crate::services) reads: Arc<Reads>,
    pub(in crate::services) clock: Arc<HostClock>,
    pub(in crate::services) id_generator: Arc<IdGenerator>,
}

impl PipelineService {
    /// Asks for the first step; the others follow.
    pub(crate) async fn start(
        &self,
        caller: &Caller,
        asked: NewPipeline,
    ) -> Result<Pipeline, Refusal> {
        if asked.steps.is_empty() || asked.steps.len() > STEPS {
            return Err(Refusal::invalid(format!("a pipeline has 1 to {STEPS} steps")));
        }
        let uid = match asked.pipeline_id.as_deref() {
            Some(id) => ids::uuid(id, "pipeline_id")?,
            None => self.id_generator.uid(self.clock.now())?,
        };
        let context = data(&asked.context, "context")?;
        let budget = must_not_be_negative(asked.budget.0)?;
        let sum: f64 = asked.steps.iter().map(|step| step.fraction).sum();
        let fits = asked.steps.iter().all(|step| step.fraction > 0.0 && step.fraction <= 1.0);
        if !fits || sum > 1.0 + 1e-9 {
            let why = "each fraction is more than 0, and together they are at most 1";
            return Err(Refusal::invalid(why));
        }
        let mut steps = Vec::with_capacity(asked.steps.len());
        for step in asked.steps {
            let input = step.input_data.as_deref().map(|json| data(json, "input_data"));
            steps.push(Step {
                agent: self.agents.agent_named(&step.agent_id).await?,
                skill: step.skill_name.into(),
                budget: share(budget, step.fraction),
                input: input.transpose()?.map(Into::into),
                timeout_ms: step.timeout_ms.unwrap_or(limits::JOB_TIMEOUT_MS),
            });
        }
        let first = steps.remove(0);
        let input = input(first.input.as_deref(), &context).map_err(Refusal::invalid)?;
        let job = job::Pipeline::job(uid, 1);
        self.jobs.must_fit_input(first.agent, &first.skill, &input, job).await?;
        let callback = asked.callback_url.as_deref().map(|url| self.jobs.checked_callback(url));
        let request = Request {
            job,
            agent: first.agent,
            orchestrator: None,
            skill: first.skill,
            input: input.into(),
            budget: first.budget,
            payment: Payment::Escrow,
            payment_identifier: None,
            callback: callback.transpose()?,
            evaluation: None,
            timeout_ms: first.timeout_ms,
            thread: None,
            pipeline: Some(job::Pipeline {
                uid,
                step: 1,
                context: context.into(),
                rest: steps,
                next: None,
                next_job: None,
                stopped: None,
            }),
        };
        self.commands.submit(caller.by, request).await?;
        self.show(caller, uid).await
    }

    pub(crate) async fn pipeline(&self, caller: &Caller, id: &str) -> Result<Pipeline, Refusal> {
        self.show(caller, ids::named_uuid(id, "pipeline")?).await
    }

    async fn show(&self, caller: &Caller, uid: Uid) -> Result<Pipeline, Refusal> {
        let read = move |readers: &chorus_store::Readers| {
            let mut jobs = Vec::new();
            for step in 1..=STEPS as u32 {
                let Some(job) = readers.job(job::Pipeline::job(uid, step))? else { break };
                jobs.push(job);
            }
            Ok(jobs)
        };
        let mut jobs: Vec<Arc<Job>> = self.reads.read(read).await?;
        jobs.retain(|job| job.pipeline.as_ref().is_some_and(|p| p.uid == uid));
        // Whoever does a step has its input, and is not shown what the others get and make.
        let mine = owner_of(&caller.member);
        let visible =
            jobs.first().is_some_and(|job| sees_everything(caller) || job.hirer_owner == mine);
        let last = jobs.last().filter(|_| visible).cloned();
        let last = last.ok_or_else(|| Refusal::not_found("pipeline"))?;
        let place = last.pipeline.clone().ok_or_else(|| Refusal::not_found("pipeline"))?;
        let begun = jobs.iter().map(|job| PipelineStep {
            agent_id: job.agent.show(Prefix::Uuid),
            skill_name: job.skill.to_string(),
            budget: job.budget.into(),
            job_id: Some(job.uid.show(Prefix::Uuid)),
            state: Some(view::registry::job_status(job.state)),
        });
        let to_come = place.rest.iter().map(|step| PipelineStep {
            agent_id: step.agent.show(Prefix::Uuid),
            skill_name: step.skill.to_string(),
            budget: step.budget.into(),
            job_id: None,
            state: None,
        });
        let failed = last.result.as_ref().and_then(|result| result.error.clone());
        let outcome = last.outcome.map(|outcome| outcome.name().replace('_', " "));
        let (status, why) = match last.state {
            JobState::Completed if place.rest.is_empty() => (ResultStatus::Success, None),
            JobState::Completed => (ResultStatus::Failure, place.stopped.map(|s| s.to_string())),
            JobState::Rejected | JobState::Expired => {
                (ResultStatus::Failure, failed.map(|why| why.to_string()).or(outcome))
            }
            JobState::Open | JobState::Funded | JobState::Submitted => {
                (ResultStatus::Pending, None)
            }
        };
        Ok(Pipeline {
            pipeline_id: uid.show(Prefix::Uuid),
            status,
            context: view::registry::raw(&place.context)?,
            paid: Credits(jobs.iter().map(|job| job.paid.0).sum()).into(),
            steps: begun.chain(to_come).collect(),
            error_message: why,
        })
    }
}

/// A share of a budget, in whole hundredths.
fn share(budget: Credits, fraction: f64) -> Credits {
    Credits((budget.0 as f64 * fraction + 1e-6).floor() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: REG-62
    #[test]
    fn a_share_is_in_whole_hundredths_and_never_more_than_it_should_be() {
        for (fraction, hundredths) in [(0.29, 29), (1.0 / 3.0, 33), (1.0, 100), (0.001, 0)] {
            assert_eq!(share(Credits(100), fraction), Credits(hundredths), "{fraction}");
        }
    }
}

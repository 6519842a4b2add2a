//! Pipelines: what each step begins with is made of what the steps before it have made.

use std::sync::Arc;

use chorus_core::commands::jobs::{Hired, Request};
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::job::{self, Job, JobResult, JobState, Next, Payment, Step};
use chorus_core::model::ledger::Credits;
use chorus_core::model::limits;
use chorus_wire::canonical::canonical_json;
use chorus_wire::registry::{NewPipeline, Pipeline, PipelineStep, ResultStatus};
use serde_json::{Map, Value};

use super::agents::{AgentService, must_not_be_negative};
use super::jobs::{JobService, data, may_see};
use crate::auth::Caller;
use crate::services::clock::HostClock;
use crate::services::commands::Commands;
use crate::services::reads::Reads;
use crate::services::{IdGenerator, ids};
use crate::{json_schema, view};

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
            hired: Hired::Agent(first.agent),
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
        let visible = jobs.first().is_some_and(|job| may_see(caller, job));
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

/// What a result makes of the pipeline that its job is a step of.
pub(super) async fn next(reads: &Reads, job: &Job, result: &JobResult) -> Option<Next> {
    let pipeline = job.pipeline.as_ref()?;
    let output = result.output.as_deref().filter(|_| result.success)?;
    let context = match added(&pipeline.context, output) {
        Ok(context) => context,
        Err(why) => {
            return Some(Next { context: pipeline.context.clone(), input: Err(why.into()) });
        }
    };
    let Some(step) = pipeline.rest.first() else {
        return Some(Next { context: context.into(), input: Ok("{}".into()) });
    };
    let made = input(step.input.as_deref(), &context);
    let (agent, skill) = (step.agent, step.skill.clone());
    let listing = reads.read(move |readers| readers.listing(agent)).await.ok().flatten();
    let schema = listing.and_then(|(l, _)| l.skill(&skill).map(|skill| skill.input.clone()));
    let input = made.and_then(|input| match &schema {
        Some(schema) => json_schema::must_fit(schema, &input, "input_data")
            .map(|()| input)
            .map_err(|refusal| refusal.message),
        // Whoever asks for the step says what is missing.
        None => Ok(input),
    });
    Some(Next { context: context.into(), input: input.map(Into::into).map_err(Into::into) })
}

/// A context with a step's output added to it.
fn added(context: &str, output: &str) -> Result<String, String> {
    let read = |json: &str| serde_json::from_str::<Map<String, Value>>(json);
    let (Ok(mut context), Ok(output)) = (read(context), read(output)) else {
        return Err("the output is no JSON object, and cannot be added to the context".to_owned());
    };
    context.extend(output);
    canonical(&Value::Object(context))
}

/// The input of a step, made of the context.
fn input(template: Option<&str>, context: &str) -> Result<String, String> {
    let Some(template) = template else { return Ok(context.to_owned()) };
    let context: Value = serde_json::from_str(context).map_err(|e| e.to_string())?;
    let mut made: Value = serde_json::from_str(template).map_err(|e| e.to_string())?;
    fill(&mut made, &context)?;
    canonical(&made)
}

fn fill(value: &mut Value, context: &Value) -> Result<(), String> {
    match value {
        Value::String(text) => {
            let Some(name) = text.strip_prefix('$') else { return Ok(()) };
            let found = context.get(name).cloned();
            let shown: String = name.chars().take(64).collect();
            *value = found.ok_or_else(|| format!("the context has no field {shown:?}"))?;
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| fill(item, context)),
        Value::Object(fields) => fields.values_mut().try_for_each(|field| fill(field, context)),
        _ => Ok(()),
    }
}

fn canonical(value: &Value) -> Result<String, String> {
    canonical_json(&value.to_string(), limits::JOB_DATA_BYTES).map_err(|refusal| refusal.message)
}

/// A share of a budget, in whole hundredths.
fn share(budget: Credits, fraction: f64) -> Credits {
    Credits((budget.0 as f64 * fraction + 1e-6).floor() as i64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // covers: REG-62
    #[test]
    fn a_steps_input_is_made_of_the_context() {
        let context = r#"{"n":7,"text":"hi"}"#;
        for (template, made) in [
            (r#"{"a": "$text", "b": ["$n", "n"]}"#, Some(r#"{"a":"hi","b":[7,"n"]}"#)),
            (r#"{"a": "$nobody"}"#, None),
            (r#"{"price": "5"}"#, Some(r#"{"price":"5"}"#)),
        ] {
            assert_eq!(input(Some(template), context).ok().as_deref(), made, "{template}");
        }
        assert_eq!(input(None, context).unwrap(), context);
        assert_eq!(added(context, r#"{"n":8}"#).unwrap(), r#"{"n":8,"text":"hi"}"#);
        assert_eq!(share(Credits(100), 0.29), Credits(29));
        assert_eq!(share(Credits(100), 1.0 / 3.0), Credits(33));
    }
}

//! `chorus pipeline`: jobs one after the other, each of which gets what those before it have made.

use std::time::Duration;

use chorus_client::Client;
use chorus_core::model::error::Code;
use chorus_wire::registry::{NewPipeline, Pipeline, PipelineStep, ResultStatus};
use clap::Subcommand;

use super::Context;
use crate::data;
use crate::failure::{Failure, Result};
use crate::print::{escaped, line, table};
use crate::progress::Progress;

/// How often the host is asked how far it is.
const LOOK_EVERY: Duration = Duration::from_millis(500);

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Ask for the steps, wait for the last, and print what they made
    Run {
        /// The pipeline, a JSON object: itself, @FILE, or - for standard input
        #[arg(value_name = "JSON")]
        pipeline: String,
        /// Do not wait for the end
        #[arg(long)]
        no_wait: bool,
    },
    /// How far one is, and what its steps have made
    Show {
        /// The pipeline, by its UUID
        #[arg(value_name = "ID")]
        pipeline: String,
    },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    match args {
        Args::Show { pipeline } => context.print.show(&client.pipeline(&pipeline).await?, whole),
        Args::Run { pipeline, no_wait } => {
            let asked = asked(&pipeline)?;
            let id = asked.pipeline_id.clone().unwrap_or_default();
            let again = || format!("give \"pipeline_id\": \"{id}\" when you try again");
            let begun = client.start_pipeline(&asked).await;
            let begun = begun.map_err(|e| Failure::from(e).next_if(&Failure::LOST, again))?;
            if no_wait {
                return context.print.show(&begun, |begun| {
                    let id = line(&begun.pipeline_id);
                    format!("{id} is asked for; see: chorus pipeline show {id}")
                });
            }
            let waiting = Progress::wait(context.print, "the agents work");
            let ended = tokio::select! {
                ended = follow(&client, begun) => ended?,
                _ = tokio::signal::ctrl_c() => return Err(goes_on(&id)),
            };
            drop(waiting);
            match ended.status {
                ResultStatus::Success => context.print.show(&ended, made),
                _ => Err(stopped(&ended)),
            }
        }
    }
}

/// What is to be done, under an id by which it can be asked for again.
fn asked(given: &str) -> Result<NewPipeline> {
    let json = data::json("the pipeline", given)?;
    let mut asked: NewPipeline = serde_json::from_str(json.get()).map_err(|e| {
        Failure::usage(format!("this is no pipeline: {e}"))
            .next("it has context, budget and steps; docs/hire.md shows one")
    })?;
    if asked.pipeline_id.is_none() {
        asked.pipeline_id = Some(data::new_uuid()?);
    }
    Ok(asked)
}

async fn follow(client: &Client, mut pipeline: Pipeline) -> Result<Pipeline> {
    while pipeline.status == ResultStatus::Pending {
        tokio::time::sleep(LOOK_EVERY).await;
        pipeline = match client.pipeline(&pipeline.pipeline_id).await {
            Ok(pipeline) => pipeline,
            Err(error) if error.is_retryable() => pipeline,
            Err(error) => return Err(error.into()),
        };
    }
    Ok(pipeline)
}

fn goes_on(id: &str) -> Failure {
    let id = line(id);
    Failure::new(Code::Unavailable, format!("the pipeline {id} goes on without you"))
        .next(format!("see it with: chorus pipeline show {id}"))
}

fn stopped(pipeline: &Pipeline) -> Failure {
    let why = pipeline.error_message.as_deref().map(line);
    let step = pipeline.steps.iter().filter(|step| step.job_id.is_some()).count();
    let of = pipeline.steps.len();
    let why = why.unwrap_or_else(|| "its job has no result".into());
    let what = format!("step {step} of {of}: {why}; {} was paid", pipeline.paid.0);
    let see = format!("see: chorus pipeline show {}", line(&pipeline.pipeline_id));
    Failure::new(Code::ExecutionError, what).next(see)
}

fn made(pipeline: &Pipeline) -> String {
    let steps = pipeline.steps.len();
    format!("{}\ncost {} in {steps} steps", escaped(pipeline.context.get()), pipeline.paid.0)
}

fn whole(pipeline: &Pipeline) -> String {
    let status = match pipeline.status {
        ResultStatus::Success => "done",
        ResultStatus::Failure => "stopped",
        ResultStatus::Pending => "goes on",
    };
    let row = |(number, step): (usize, &PipelineStep)| {
        let state = step.state.map_or_else(|| "waits".to_owned(), |state| format!("{state:?}"));
        let job = step.job_id.as_deref().map(line).unwrap_or_default().to_string();
        let skill = line(&step.skill_name).to_string();
        vec![(number + 1).to_string(), state, step.budget.0.to_string(), skill, job]
    };
    let rows: Vec<_> = pipeline.steps.iter().enumerate().map(row).collect();
    let mut lines = vec![
        format!("{} {status}, paid {}", line(&pipeline.pipeline_id), pipeline.paid.0),
        table("no steps", &["STEP", "STATE", "BUDGET", "SKILL", "JOB"], &rows),
        format!("context {}", line(pipeline.context.get())),
    ];
    lines.extend(pipeline.error_message.as_deref().map(|why| format!("stopped: {}", line(why))));
    lines.join("\n")
}

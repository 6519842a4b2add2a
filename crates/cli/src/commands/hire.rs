//! `chorus hire`: asks an agent for a job, waits for its end, and prints the result, what it cost,
//! and the receipt.

use std::time::{Duration, Instant};

use chorus_client::{Client, Error};
use chorus_core::model::error::Code;
use chorus_wire::registry::{Amount, Job, JobQuery, JobRequest, JobStatus};
use serde::Serialize;
use serde_json::value::RawValue;

use super::Context;
use super::hire_check::Check;
use super::job::{due, ended_badly};
use crate::failure::{Failure, Result};
use crate::print::{date, escaped, line, receipt};
use crate::progress::Progress;
use crate::values::{credits, shell_line, span};
use crate::{data, lookup};

/// How long the host is asked to wait; the client gives up after 30 s.
const WAIT_MS: u64 = 25_000;
/// The host's wait ends with the job. A result that is to be decided about here is looked for this
/// often.
const LOOK_MS: u64 = 500;
/// A host that is away longer is not waited for.
const AWAY: Duration = Duration::from_secs(60);

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Whom: the UUID of an agent, or a member as @handle
    #[arg(value_name = "AGENT")]
    agent: String,
    /// What it is to do: the name of one of its skills
    #[arg(long = "job", value_name = "SKILL")]
    skill: String,
    /// What it works on, a JSON object: itself, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    input: String,
    /// What it may cost at the most [default: the skill's price]
    #[arg(long, value_name = "CREDITS", value_parser = credits)]
    budget: Option<Amount>,
    /// When the result must be in: 90s, 10m, 24h or 7d [default: 10m]
    #[arg(long, value_name = "SPAN", value_parser = span)]
    timeout: Option<Duration>,
    /// A UUID for the job; the same again is the same job
    #[arg(long, value_name = "UUID")]
    id: Option<String>,
    /// The member who accepts or refuses the result
    #[arg(long, value_name = "MEMBER", conflicts_with = "evaluate")]
    evaluator: Option<String>,
    /// Accept or refuse the result yourself, by cmd:'COMMAND': the result is on its standard
    /// input, and exit code 0 accepts
    #[arg(long, value_name = "COMMAND", value_parser = shell_line, conflicts_with = "no_wait")]
    evaluate: Option<String>,
    /// Pay with a transfer when the result is there; nothing is held until then
    #[arg(long)]
    direct: bool,
    /// Do not wait for the end
    #[arg(long)]
    no_wait: bool,
}

/// A job that has ended, with the receipt of its payment.
#[derive(Serialize)]
struct Hired {
    #[serde(flatten)]
    job: Job,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let input = data::json("--input", &args.input)?;
    let job_id = match &args.id {
        Some(id) => id.clone(),
        None => data::new_uuid()?,
    };
    let asked = request(&client, &args, input, job_id.clone()).await?;
    let again = || format!("give --id {} when you try again, so that it is one job", line(&job_id));
    let job = client.request_job(&asked).await;
    let job = job.map_err(|error| Failure::from(error).next_if(&Failure::LOST, again))?;
    if args.no_wait {
        return context.print.show(&job, |job| {
            let id = line(&job.job_id);
            format!("{id} is asked for, {} is held; see: chorus job show {id}", job.held.0)
        });
    }
    let check = args.evaluate.map(Check::by);
    let goes_on = || {
        let id = line(&job_id);
        Failure::new(Code::Unavailable, format!("the job {id} goes on without you"))
            .next(format!("see it with: chorus job show {id}, or end it: chorus job cancel {id}"))
    };
    let waiting = Progress::wait(context.print, "the agent works");
    let job = tokio::select! {
        job = follow(&client, job, check.as_ref(), context) => job?,
        _ = tokio::signal::ctrl_c() => return Err(goes_on()),
    };
    drop(waiting);
    let ended_well = matches!(job.state, JobStatus::Completed | JobStatus::Submitted);
    if !ended_well {
        return Err(ended_badly(&job));
    }
    let signed = client.receipts(&job.job_id).await?.payment;
    context.print.show(&Hired { job, receipt: signed }, shown)
}

async fn request(
    client: &Client,
    args: &Args,
    input_data: Box<RawValue>,
    job_id: String,
) -> Result<JobRequest> {
    let budget = match args.budget {
        Some(budget) => budget,
        None => price(client, &args.agent, &args.skill).await?,
    };
    let evaluator = match (&args.evaluator, &args.evaluate) {
        (Some(member), _) => Some(lookup::known(client, member).await?),
        (None, Some(_)) => Some(client.whoami().await?.member.id),
        (None, None) => None,
    };
    let timeout = args.timeout.map(|span| i64::try_from(span.as_millis()).unwrap_or(i64::MAX));
    Ok(JobRequest {
        thread_id: None,
        job_id: Some(job_id),
        agent_id: Some(args.agent.clone()),
        orchestrator_id: None,
        skill_name: args.skill.clone(),
        input_data,
        budget,
        currency: None,
        callback_url: None,
        timestamp_utc: None,
        version: None,
        payment_identifier: None,
        timeout_ms: timeout,
        evaluator,
        evaluation_ms: None,
        payment: args.direct.then(|| "direct".to_owned()),
    })
}

/// What the agent asks for the skill.
async fn price(client: &Client, agent: &str, skill: &str) -> Result<Amount> {
    let agent = client.agent_for_hire(agent).await?;
    let offered = agent.skills.iter().find(|offered| offered.skill_name == skill);
    offered.map(|offered| offered.cost_per_call).ok_or_else(|| {
        let all: Vec<_> = agent.skills.iter().map(|offered| line(&offered.skill_name)).collect();
        let (name, skill) = (line(&agent.agent_name), line(skill));
        let why = format!("{name} has no skill {skill}; it has {}", all.join(", "));
        Failure::new(Code::SkillMismatch, why)
    })
}

/// The job when it has ended, or when its result waits for the caller to pay it.
async fn follow(
    client: &Client,
    mut job: Job,
    check: Option<&Check>,
    context: &Context,
) -> Result<Job> {
    let is_direct = job.payment == "direct";
    let (mut is_told, mut away_since) = (false, None);
    loop {
        match (job.state, check) {
            (JobStatus::Completed | JobStatus::Rejected | JobStatus::Expired, _) => return Ok(job),
            (JobStatus::Submitted, Some(check)) => return check.decide(client, job).await,
            (JobStatus::Submitted, None) if is_direct => return Ok(job),
            (JobStatus::Submitted, None) if !is_told => {
                is_told = true;
                context.print.note(&waits_for(&job));
            }
            _ => {}
        }
        let is_decided_here = is_direct || check.is_some();
        let wait_ms = Some(if is_decided_here { 0 } else { WAIT_MS });
        if is_decided_here || away_since.is_some() {
            tokio::time::sleep(Duration::from_millis(LOOK_MS)).await;
        }
        job = match client.job(&job.job_id, &JobQuery { wait_ms }).await {
            Ok(job) => {
                away_since = None;
                job
            }
            Err(error) => {
                let since = *away_since.get_or_insert_with(Instant::now);
                if !error.is_retryable() || since.elapsed() > AWAY {
                    return Err(lost(error, &job.job_id));
                }
                job
            }
        };
    }
}

fn lost(error: Error, job: &str) -> Failure {
    let job = line(job);
    Failure::from(error).next(format!("the job may go on; see it with: chorus job show {job}"))
}

fn waits_for(job: &Job) -> String {
    let Some(evaluation) = &job.evaluation else { return "the result is in".to_owned() };
    let until = evaluation.decide_by.map(|at| format!(" until {}", date(at.0)));
    let who = line(&evaluation.evaluator);
    format!("the result is in; {who} decides about it{}", until.unwrap_or_default())
}

fn shown(hired: &Hired) -> String {
    let job = &hired.job;
    let mut lines: Vec<String> = job.output_data.iter().map(|out| escaped(out.get())).collect();
    let owner = line(&job.agent_owner);
    if job.state == JobStatus::Submitted {
        let (due, id) = (due(job).0, line(&job.job_id));
        lines
            .push(format!("it costs {due}; pay it with: chorus transfer {owner} {due} --job {id}"));
    } else {
        lines.push(format!("cost {} of {}, paid to {owner}", job.paid.0, job.budget.0));
    }
    lines.extend(hired.receipt.as_deref().map(|jws| format!("receipt {}", receipt(jws))));
    lines.join("\n")
}

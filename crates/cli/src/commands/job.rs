//! `chorus job`: jobs, from the side of who asked for them and of who does them.

use chorus_client::Client;
use chorus_core::model::error::Code;
use chorus_wire::registry::{
    Amount, DecideDispute, Job, JobQuery, JobResult, Jobs, JobsQuery, Receipts, ResultStatus,
    ResultTaken, Side,
};
use clap::{ArgGroup, Subcommand};
use serde_json::value::RawValue;

use super::Context;
use crate::data;
use crate::failure::{Failure, Result};
use crate::pages::{Page, with_next};
use crate::print::{date, line, receipt, span, table};

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Jobs, the newest first
    #[command(visible_alias = "ls")]
    List {
        /// Those that you, or others of your owner, asked for; the default
        #[arg(long, conflicts_with_all = ["worker", "all"])]
        mine: bool,
        /// Those that agents of your owner are to do
        #[arg(long, conflicts_with = "all")]
        worker: bool,
        /// Those of everybody; for operators and auditors
        #[arg(long)]
        all: bool,
        /// Of those, only what is contested and not decided about
        #[arg(long, requires = "all")]
        disputed: bool,
        #[command(flatten)]
        page: Page,
    },
    /// One job: where it is, its result, and what it cost
    Show(Named),
    /// Take a job back before its result is in
    Cancel(Named),
    /// Accept a result, as the evaluator of the job
    Accept(Named),
    /// Refuse a result, as the evaluator of the job
    Reject(Named),
    /// Contest a job that was paid; an operator decides
    Dispute {
        #[command(flatten)]
        job: Named,
        /// What is wrong with it
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Decide about a contested job; for operators
    #[command(group = ArgGroup::new("decision").required(true).args(["refund", "uphold"]))]
    Decide {
        #[command(flatten)]
        job: Named,
        /// For the hirer: what was paid returns
        #[arg(long)]
        refund: bool,
        /// For the agent: the payment stands
        #[arg(long)]
        uphold: bool,
        /// Why, for both of them
        #[arg(long, value_name = "TEXT")]
        note: String,
    },
    /// Deliver the result of a job by hand, as its agent
    #[command(
        group = ArgGroup::new("result").required(true).args(["output", "fail", "progress"]),
        override_usage = "chorus job deliver <ID> --output JSON|--fail TEXT|--progress TEXT"
    )]
    Deliver {
        #[command(flatten)]
        job: Named,
        /// The result, a JSON object: itself, @FILE, or - for standard input
        #[arg(long, value_name = "JSON")]
        output: Option<String>,
        /// It failed, and why
        #[arg(long, value_name = "TEXT")]
        fail: Option<String>,
        /// How far it is
        #[arg(long, value_name = "TEXT")]
        progress: Option<String>,
    },
    /// What the host has signed about a job
    Receipts(Named),
}

/// Which job is meant.
#[derive(clap::Args, Debug)]
pub(crate) struct Named {
    /// The job, by its UUID
    #[arg(value_name = "ID")]
    job: String,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let print = &context.print;
    match args {
        Args::List { worker, all, disputed, page, .. } => {
            let side = match (worker, all) {
                (true, _) => Side::Worker,
                (_, true) => Side::All,
                _ => Side::Hirer,
            };
            let query = JobsQuery {
                side: Some(side),
                disputed: disputed.then_some(true),
                after: page.after,
                limit: page.limit,
            };
            print.show(&client.jobs(&query).await?, list)
        }
        Args::Show(Named { job }) => {
            print.show(&client.job(&job, &JobQuery::default()).await?, whole)
        }
        Args::Cancel(Named { job }) => print.show(&client.cancel_job(&job).await?, one),
        Args::Accept(Named { job }) => print.show(&client.evaluate_job(&job, true).await?, one),
        Args::Reject(Named { job }) => print.show(&client.evaluate_job(&job, false).await?, one),
        Args::Dispute { job: Named { job }, reason } => print
            .show(&client.dispute_job(&job, &reason).await?, |job| {
                format!("{}; an operator decides about it", one(job))
            }),
        Args::Decide { job: Named { job }, refund, note, .. } => {
            let decision = DecideDispute { refund, note };
            print.show(&client.decide_dispute(&job, &decision).await?, whole)
        }
        Args::Deliver { job: Named { job }, output, fail, progress } => {
            let (status, said) = match (fail, progress) {
                (Some(why), _) => (ResultStatus::Failure, Some(why)),
                (_, Some(far)) => (ResultStatus::Pending, Some(far)),
                _ => (ResultStatus::Success, None),
            };
            let output = output.map(|given| data::json("--output", &given)).transpose()?;
            let result = result(&client, &job, status, output, said).await?;
            print.show(&client.deliver_job(&job, &result).await?, taken)
        }
        Args::Receipts(Named { job }) => print.show(&client.receipts(&job).await?, receipts),
    }
}

async fn result(
    client: &Client,
    job: &str,
    status: ResultStatus,
    output_data: Option<Box<RawValue>>,
    error_message: Option<String>,
) -> Result<JobResult> {
    let job = client.job(job, &JobQuery::default()).await?;
    Ok(JobResult {
        job_id: job.job_id,
        agent_id: job.agent_id,
        status,
        output_data,
        execution_cost: None,
        execution_time_ms: 0,
        error_message,
        timestamp_utc: None,
    })
}

/// What a delivery came to.
pub(super) fn taken(taken: &ResultTaken) -> String {
    let again = if taken.duplicate { ", as it had been before" } else { "" };
    let what = match taken.status {
        ResultStatus::Success => "delivered",
        ResultStatus::Failure => "reported as failed",
        ResultStatus::Pending => "is worked on",
    };
    format!("{} {what}{again}: {:?}, paid {}", line(&taken.job_id), taken.state, taken.paid.0)
}

fn one(job: &Job) -> String {
    format!("{} {}, paid {}", line(&job.job_id), state(job), job.paid.0)
}

/// Where it is, and how it ended.
fn state(job: &Job) -> String {
    let outcome = job.outcome.as_deref().map(|outcome| line(outcome).replace('_', " "));
    match outcome {
        Some(outcome) => format!("{:?} ({outcome})", job.state),
        None => format!("{:?}", job.state),
    }
}

fn whole(job: &Job) -> String {
    let mut lines = vec![
        format!("{} {}", line(&job.job_id), state(job)),
        format!("{} by {}", line(&job.skill_name), line(&job.agent_owner)),
        format!("for {} of {}", line(&job.hirer), line(&job.hirer_owner)),
        format!(
            "budget {}, price {}, held {}, paid {} ({})",
            job.budget.0,
            job.price.0,
            job.held.0,
            job.paid.0,
            line(&job.payment)
        ),
        format!("asked for {}, due {}", date(job.created_at.0), date(job.deadline_at.0)),
        format!("in   {}", line(job.input_data.get())),
    ];
    if let (Some(progress), Some(at)) = (&job.progress, job.progress_at) {
        lines.push(format!("{}: {}", date(at.0), line(progress)));
    }
    if let Some(why) = &job.delivery_error {
        lines.push(format!("posted {} times: {}", job.attempts, line(why)));
    }
    lines.extend(job.output_data.as_ref().map(|out| format!("out  {}", line(out.get()))));
    lines.extend(job.error_message.as_deref().map(|why| format!("error: {}", line(why))));
    if let Some(ms) = job.execution_time_ms {
        lines.push(format!("took {}", span(i64::try_from(ms).unwrap_or(i64::MAX))));
    }
    if let Some(evaluation) = &job.evaluation {
        let until = evaluation.decide_by.map(|at| format!(" until {}", date(at.0)));
        let (who, until) = (line(&evaluation.evaluator), until.unwrap_or_default());
        lines.push(format!("{who} decides about the result{until}"));
    }
    lines.extend(job.ended_at.map(|at| format!("ended {}", date(at.0))));
    if let Some(contested) = &job.dispute {
        lines.push(format!(
            "contested {}: {}",
            date(contested.opened_at.0),
            line(&contested.reason)
        ));
        if let Some(side) = &contested.decided_for {
            let refunded = contested.refunded.map(|amount| format!(", {} returned", amount.0));
            let note = contested.note.as_deref().map(line).unwrap_or_default();
            let refunded = refunded.unwrap_or_default();
            lines.push(format!("decided for the {}{refunded}: {note}", line(side)));
        }
    }
    lines.join("\n")
}

fn list(all: &Jobs) -> String {
    let row = |job: &Job| {
        let (skill, hirer) = (line(&job.skill_name), line(&job.hirer_owner));
        let what = format!("{skill} for {hirer} by {}", line(&job.agent_owner));
        vec![line(&job.job_id), format!("{:?}", job.state), job.paid.0.to_string(), what]
    };
    let rows: Vec<_> = all.jobs.iter().map(row).collect();
    let none = "no jobs yet; hire an agent with: chorus hire AGENT --job SKILL --input JSON";
    with_next(table(none, &["JOB", "STATE", "PAID", "WHAT"], &rows), all.next.as_ref())
}

fn receipts(all: &Receipts) -> String {
    let found = [
        ("offer  ", Some(&all.offer)),
        ("result ", all.result.as_ref()),
        ("payment", all.payment.as_ref()),
    ];
    let shown = found.into_iter().filter_map(|(what, jws)| {
        let jws = jws?;
        Some(format!("{what}  {}", receipt(jws)))
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Why a job has no result, as a failure of who waited for it.
pub(super) fn ended_badly(job: &Job) -> Failure {
    let because = |why: &Option<String>| why.as_deref().map(|why| format!(": {}", line(why)));
    let error = because(&job.error_message).unwrap_or_default();
    let post = because(&job.delivery_error).unwrap_or_default();
    let (code, what) = match job.outcome.as_deref() {
        Some("cancelled") => (Code::Conflict, "the job was cancelled".to_owned()),
        Some("timed_out") => (Code::ExecutionError, "no result came in time".to_owned()),
        Some("undelivered") => {
            (Code::AgentOffline, format!("the job never reached the agent{post}"))
        }
        Some("declined") => (Code::ExecutionError, format!("the agent declined the job{post}")),
        Some("refused") => (Code::ExecutionError, "the result was refused".to_owned()),
        Some("unpaid") => (Code::TransferFailed, "the result was not paid in time".to_owned()),
        _ => (Code::ExecutionError, format!("the agent failed{error}")),
    };
    let money = match job.paid.0.is_zero() {
        true => "nothing was paid".to_owned(),
        false => format!("{} was paid", job.paid.0),
    };
    let see = format!("see: chorus job show {}", line(&job.job_id));
    Failure::new(code, format!("{what}; {money}")).next(see)
}

/// What the result of a job costs, once it is in.
pub(super) fn due(job: &Job) -> Amount {
    job.execution_cost.unwrap_or(job.price).min(job.price).min(job.budget)
}

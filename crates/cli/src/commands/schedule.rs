//! `chorus schedule`: what a channel is asked again and again.

use chorus_wire::rest::schedules::{NewSchedule, Schedule, SchedulePatch};
use clap::{ArgGroup, Subcommand};
use serde_json::json;

use super::Context;
use crate::failure::Result;
use crate::lookup;
use crate::print::{date, line, short, table};

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// The schedules of a channel, and when they fire next
    #[command(visible_alias = "ls")]
    List { channel: String },
    /// Ask for a word in public, again and again
    Add(Box<New>),
    /// Let a schedule rest
    Pause { channel: String, schedule: String },
    /// Let it go on
    Resume { channel: String, schedule: String },
    /// Remove a schedule
    #[command(visible_alias = "rm")]
    Remove { channel: String, schedule: String },
}

#[derive(Debug, clap::Args)]
#[command(
    group = ArgGroup::new("when").required(true).args(["cron", "every"]),
    override_usage = "chorus schedule add <CHANNEL> <TEXT> --cron <CRON> [OPTIONS]\n       chorus schedule add <CHANNEL> <TEXT> --every <EVERY> [OPTIONS]"
)]
pub(crate) struct New {
    channel: String,
    text: String,
    /// Five fields: minute, hour, day of the month, month, day of the week
    #[arg(long)]
    cron: Option<String>,
    /// Whose clocks these are, such as Europe/Oslo
    #[arg(
        long,
        requires = "cron",
        default_value_if("cron", clap::builder::ArgPredicate::IsPresent, "UTC")
    )]
    zone: Option<String>,
    /// An interval instead, such as 30m, 2h or 1d
    #[arg(long, value_parser = interval)]
    every: Option<i64>,
    /// Continue this thread instead of opening a subject
    #[arg(long)]
    thread: Option<String>,
    #[arg(long)]
    title: Option<String>,
    /// The member whose word it is
    #[arg(long, value_name = "MEMBER")]
    source: Option<String>,
    /// Whom it is for; may be given again
    #[arg(long, value_name = "MEMBER")]
    target: Vec<String>,
    /// The undertaking whose live thread it continues
    #[arg(long, value_name = "KEY")]
    initiative: Option<String>,
    /// What it says takes the place of what it said last, in a thread that knows the key
    #[arg(long, value_name = "KEY")]
    progress: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let member = |name: String| lookup::member(&name).to_owned();
    let paused = |paused| SchedulePatch { paused: Some(paused), ..SchedulePatch::default() };
    match args {
        Args::List { channel } => {
            let channel = lookup::conversation(&client, &channel).await?;
            let all = client.schedules(&channel).await?;
            context.print.show(&all, |all| list(&all.schedules))
        }
        Args::Add(given) => {
            let New {
                channel,
                text,
                cron,
                zone,
                every,
                thread,
                title,
                source,
                target,
                initiative,
                progress,
            } = *given;
            let channel = lookup::conversation(&client, &channel).await?;
            let new = NewSchedule {
                text,
                time_zone: zone.filter(|_| cron.is_some()),
                cron,
                every_ms: every,
                thread,
                title,
                source: source.map(member),
                targets: target.into_iter().map(member).collect(),
                progress_key: progress,
                initiative_key: initiative,
            };
            context.print.show(&client.add_schedule(&channel, &new).await?, one)
        }
        Args::Pause { channel, schedule } => {
            let channel = lookup::conversation(&client, &channel).await?;
            let changed = client.change_schedule(&channel, &schedule, &paused(true)).await?;
            context.print.show(&changed, one)
        }
        Args::Resume { channel, schedule } => {
            let channel = lookup::conversation(&client, &channel).await?;
            let changed = client.change_schedule(&channel, &schedule, &paused(false)).await?;
            context.print.show(&changed, one)
        }
        Args::Remove { channel, schedule } => {
            let channel = lookup::conversation(&client, &channel).await?;
            client.remove_schedule(&channel, &schedule).await?;
            let removed = json!({ "removed": schedule });
            context.print.show(&removed, |_| format!("removed {}", line(&schedule)))
        }
    }
}

/// Milliseconds of an interval such as `30m`.
fn interval(text: &str) -> std::result::Result<i64, String> {
    let wrong = || "an interval is a number with m, h or d, such as 30m".to_owned();
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let unit = match unit {
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wrong()),
    };
    let number: i64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(unit).filter(|ms| *ms > 0).ok_or_else(wrong)
}

/// When it fires, in a word.
fn when(schedule: &Schedule) -> String {
    match (&schedule.cron, &schedule.time_zone, schedule.every_ms) {
        (Some(cron), zone, _) => format!("{} {}", line(cron), zone.as_deref().unwrap_or_default()),
        (_, _, Some(ms)) if ms % 86_400_000 == 0 => format!("every {} d", ms / 86_400_000),
        (_, _, Some(ms)) if ms % 3_600_000 == 0 => format!("every {} h", ms / 3_600_000),
        (_, _, Some(ms)) => format!("every {} min", ms / 60_000),
        _ => String::new(),
    }
}

fn next(schedule: &Schedule) -> String {
    schedule.next_at.map_or_else(|| "paused".to_owned(), |at| date(at.0))
}

fn one(schedule: &Schedule) -> String {
    format!("{} {}, next {}", schedule.id, when(schedule), next(schedule))
}

fn list(schedules: &[Schedule]) -> String {
    let row = |s: &Schedule| {
        let last = s.last.as_ref().map(|l| format!("{} {}", date(l.at.0), l.result.name()));
        let text = short(&s.text, 40);
        vec![s.id.clone(), when(s), next(s), last.unwrap_or_default(), line(&s.source), text]
    };
    let rows: Vec<_> = schedules.iter().map(row).collect();
    table(
        "no schedules here yet; make one with: chorus schedule add CHANNEL …",
        &["SCHEDULE", "WHEN", "NEXT", "LAST", "SOURCE", "TEXT"],
        &rows,
    )
}

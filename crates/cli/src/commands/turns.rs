//! `chorus turns`: who speaks about which subject of a channel, who waits, and taking the turn away.

use chorus_wire::rest::turns::{Subject, Turns};

use super::Context;
use crate::failure::Result;
use crate::lookup;
use crate::print::{line, table};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A channel, by title or id
    channel: String,
    /// Take the turn away from this member: the next in line speaks
    #[arg(long = "break", value_name = "MEMBER", requires = "subject")]
    take_away: Option<String>,
    /// The subject it speaks about: the id of its root message, or of its thread
    #[arg(long, value_name = "ID")]
    subject: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let channel = lookup::conversation(&client, &args.channel).await?;
    if let (Some(member), Some(subject)) = (&args.take_away, &args.subject) {
        client.break_turn(&channel, subject, lookup::member(member)).await?;
    }
    let turns = client.turns(&channel).await?;
    context.print.show(&turns, list)
}

fn list(turns: &Turns) -> String {
    if turns.subjects.is_empty() {
        return "nobody speaks, and nobody waits to".to_owned();
    }
    let rows: Vec<_> = turns.subjects.iter().flat_map(rows).collect();
    table("", &["SUBJECT", "TURNS", "MEMBER", "STATE", "ANSWERS"], &rows)
}

fn rows(subject: &Subject) -> Vec<Vec<String>> {
    let id = subject.thread.as_ref().unwrap_or(&subject.root);
    let spent = format!("{} of {}", subject.spent, subject.budget);
    let row = |member: &str, state: &str, event: &str| {
        vec![id.clone(), spent.clone(), line(member), state.to_owned(), event.to_owned()]
    };
    let holders = subject.holders.iter().map(|holder| {
        let state = if holder.accepted { "speaks" } else { "is asked" };
        row(&holder.member, state, &holder.event)
    });
    let waiting = subject.waiting.iter().map(|waits| {
        let state = if waits.owed { "waits, owes an answer" } else { "waits" };
        row(&waits.member, state, &waits.event)
    });
    holders.chain(waiting).collect()
}

//! `chorus approve`: what agents may do only once a person has agreed, and agreeing to it or not.

use std::collections::HashMap;

use chorus_wire::rest::approvals::{Approval, Decision, ListApprovals};

use super::Context;
use crate::failure::Result;
use crate::lookup;
use crate::print::{date, line, table};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What waits, by its id (apr_…); without one, what there is
    id: Option<String>,
    /// Refuse it instead
    #[arg(long, requires = "id")]
    deny: bool,
    /// Why, for the agent to read
    #[arg(long, value_name = "TEXT", requires = "id")]
    reason: Option<String>,
    /// List what was decided or forgotten within a day too
    #[arg(long, conflicts_with = "id")]
    all: bool,
    /// Decide as this member (operators may)
    #[arg(long = "as", value_name = "MEMBER")]
    act_as: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.client_as(args.act_as.as_deref()).await?;
    let Some(id) = args.id else {
        let all = client.approvals(&ListApprovals { all: args.all }).await?;
        let titles = lookup::titles(&client).await?;
        return context.print.show(&all, |all| list(&all.approvals, &titles));
    };
    let decision = Decision { approved: !args.deny, reason: args.reason };
    let decided = client.decide_approval(&id, &decision).await?;
    context.print.show(&decided, |one| match &one.event_id {
        Some(event) => format!("approved: {} has said it as {event}", line(&one.agent)),
        None => format!("{} for {}", one.state.name(), line(&one.agent)),
    })
}

fn list(approvals: &[Approval], titles: &HashMap<String, String>) -> String {
    if approvals.is_empty() {
        return "nothing waits for a person".to_owned();
    }
    let rows: Vec<_> = approvals.iter().map(|one| row(one, titles)).collect();
    let next = "agree with: chorus approve ID; refuse with: chorus approve ID --deny";
    format!("{}{next}", table("", &["APPROVAL", "AGENT", "STATE", "WHAT", "EXPIRES"], &rows))
}

fn row(one: &Approval, titles: &HashMap<String, String>) -> Vec<String> {
    let place = one.conversation.as_ref().map(|id| titles.get(id).unwrap_or(id));
    let what = match (&one.text, place, &one.arguments) {
        (Some(text), Some(to), _) => format!("says in {to}: {}", line(text)),
        (None, Some(to), _) => format!("speaks in {to}"),
        (_, None, Some(arguments)) => format!("{} {}", one.tool, line(&arguments.to_string())),
        (_, None, None) => one.tool.clone(),
    };
    vec![
        one.id.clone(),
        line(&one.agent),
        one.state.name().to_owned(),
        what,
        date(one.expires_at.0),
    ]
}

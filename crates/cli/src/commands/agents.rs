//! `chorus agents`: who of the agents is here, and what waits for each.

use chorus_wire::rest::members::Agent;

use super::Context;
use crate::failure::Result;
use crate::print::{line, table};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

pub(crate) async fn run(_: Args, context: &Context) -> Result {
    let agents = context.target.client()?.agents().await?;
    context.print.show(&agents, |all| list(&all.agents))
}

/// Of one behind a connection string, what came of the newest post to it.
fn state(agent: &Agent) -> String {
    if agent.member.paused.is_some() {
        return "paused".to_owned();
    }
    match (&agent.reach, agent.online) {
        (Some(reach), _) => line(reach).replace('_', " "),
        (None, true) => "online".to_owned(),
        (None, false) => "offline".to_owned(),
    }
}

fn list(agents: &[Agent]) -> String {
    if agents.is_empty() {
        return "no agents yet; run one with: chorus join --agent ID --runtime cmd:'…'".to_owned();
    }
    let rows: Vec<_> = agents
        .iter()
        .map(|agent| {
            let roles: Vec<_> =
                agent.member.roles.iter().map(|role| format!("@{}", line(role))).collect();
            vec![
                line(&agent.member.id),
                format!("@{}", line(&agent.member.handle)),
                state(agent),
                agent.open_deliveries.to_string(),
                roles.join(", "),
            ]
        })
        .collect();
    table("", &["AGENT", "HANDLE", "STATE", "WAITING", "ROLES"], &rows)
}

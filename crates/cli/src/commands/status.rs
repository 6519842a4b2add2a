//! `chorus status`: the host, who is here, and what waits for the caller.

use chorus_core::model::member::MemberKind;
use chorus_wire::rest::deliveries::{ListDeliveries, StateFilter};
use serde::Serialize;

use super::Context;
use crate::failure::Result;
use crate::print::line;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

#[derive(Debug, Serialize)]
struct Status {
    url: String,
    member: String,
    people: usize,
    agents: usize,
    agents_online: Vec<String>,
    channels: usize,
    /// Open deliveries of the caller.
    waiting: usize,
    /// Conversations in which agents have paused for a person.
    paused: usize,
}

pub(crate) async fn run(_: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let me = client.whoami().await?.member;
    let members = client.members().await?.members;
    let agents = client.agents().await?.agents;
    let query = ListDeliveries { state: Some(StateFilter::Open), member: Some(me.id.clone()) };
    let paused = match *me.kind {
        MemberKind::Human => client.pauses().await?.pauses.len(),
        MemberKind::Agent => 0,
    };
    let status = Status {
        url: client.base_url().trim_end_matches('/').to_owned(),
        people: members.iter().filter(|member| *member.kind == MemberKind::Human).count(),
        agents: agents.len(),
        agents_online: agents.iter().filter(|a| a.online).map(|a| a.member.id.clone()).collect(),
        channels: client.channels().await?.channels.iter().filter(|c| !c.archived).count(),
        waiting: client.deliveries(&query).await?.deliveries.len(),
        paused,
        member: me.id,
    };
    context.print.show(&status, shown)
}

fn shown(status: &Status) -> String {
    let online: Vec<_> = status.agents_online.iter().map(|id| line(id)).collect();
    let online = if online.is_empty() {
        "none online".to_owned()
    } else {
        format!("online: {}", online.join(", "))
    };
    let mut text = format!(
        "host      {} (you are {})\npeople    {}\nagents    {} ({online})\nchannels  {}",
        status.url,
        line(&status.member),
        status.people,
        status.agents,
        status.channels,
    );
    text.push_str(&match status.waiting {
        0 => "\nwaiting   nothing for you".to_owned(),
        n => format!("\nwaiting   {n} for you: chorus mail"),
    });
    if status.paused > 0 {
        text.push_str(&format!("\npaused    {}: chorus continue", status.paused));
    }
    if status.agents == 0 {
        text.push_str("\nnext      chorus join --agent ID --runtime cmd:'COMMAND'");
    }
    text
}

//! `chorus status`: the host, who is here, and what waits for the caller.

use chorus_client::Client;
use chorus_core::model::caller::Authority;
use chorus_core::model::member::MemberKind;
use chorus_wire::registry::{JobsQuery, Side};
use chorus_wire::rest::approvals::ListApprovals;
use chorus_wire::rest::deliveries::{Delivery, ListDeliveries, StateFilter};
use chorus_wire::rest::index::ListIndex;
use chorus_wire::rest::search::Scope;
use serde::Serialize;

use super::{Context, mail};
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
    /// Open deliveries, approvals, unread mentions and contested jobs of the caller, together.
    waiting: usize,
    deliveries: usize,
    /// Messages that were meant for the caller and lie behind no cursor of its, besides the open deliveries.
    mentions: usize,
    /// What agents may do only once the caller has agreed.
    approvals: usize,
    /// Jobs that their hirer contests, for operators; at most a page of them.
    contested: usize,
    /// Conversations in which agents have paused for a person.
    paused: usize,
    /// The caller may bring an agent in.
    #[serde(skip)]
    may_join: bool,
}

pub(crate) async fn run(_: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let caller = client.whoami().await?;
    let may_join = matches!(*caller.role, Authority::Operator | Authority::Orchestrator);
    let me = caller.member;
    let mut members = client.members().await?.members;
    // Those who stand in for others elsewhere are nobody here.
    members.retain(|member| member.stands_in_for.is_none());
    let agents = client.agents().await?.agents;
    let query = ListDeliveries { state: Some(StateFilter::Open), member: Some(me.id.clone()) };
    let (paused, approvals) = match *me.kind {
        MemberKind::Human => {
            let waiting = client.approvals(&ListApprovals { all: false }).await?.approvals;
            (client.pauses().await?.pauses.len(), waiting.len())
        }
        MemberKind::Agent => (0, 0),
    };
    let contested = match *caller.role {
        Authority::Operator => {
            let (side, disputed) = (Some(Side::All), Some(true));
            client.jobs(&JobsQuery { side, disputed, ..JobsQuery::default() }).await?.jobs.len()
        }
        _ => 0,
    };
    let open = client.deliveries(&query).await?.deliveries;
    let mentions = mentions(&client, &me.id, &open).await?;
    let status = Status {
        url: client.base_url().trim_end_matches('/').to_owned(),
        people: members.iter().filter(|member| *member.kind == MemberKind::Human).count(),
        agents: agents.len(),
        agents_online: agents.iter().filter(|a| a.online).map(|a| a.member.id.clone()).collect(),
        channels: client.channels().await?.channels.iter().filter(|c| !c.archived).count(),
        waiting: open.len() + mentions + approvals + contested,
        deliveries: open.len(),
        mentions,
        approvals,
        contested,
        may_join,
        paused,
        member: me.id,
    };
    context.print.show(&status, shown)
}

/// How many messages were meant for the caller and are unread; the host's index says whether it is worth a look.
async fn mentions(client: &Client, me: &str, open: &[Delivery]) -> Result<usize> {
    let channels = client.index(&ListIndex::default()).await?.channels;
    let scope = ListIndex { scope: Some(Scope::Mail), ..ListIndex::default() };
    let direct = client.index(&scope).await?.channels;
    if channels.iter().chain(&direct).all(|one| one.mentions == 0) {
        return Ok(0);
    }
    let open: Vec<_> = open.iter().map(|one| one.event_id.as_str()).collect();
    Ok(mail::mentions(client, me, &open).await?.len())
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
    let waits = [
        (status.deliveries, "to answer or read", "chorus mail"),
        (status.mentions, "unread mentions", "chorus mail"),
        (status.approvals, "to approve", "chorus approve"),
        (status.contested, "contested jobs to decide", "chorus job list --all --disputed"),
    ];
    let waits = waits.iter().filter(|(count, ..)| *count > 0);
    let waits: Vec<_> =
        waits.map(|(count, what, see)| format!("\nwaiting   {count} {what}: {see}")).collect();
    match waits.is_empty() {
        true => text.push_str("\nwaiting   nothing for you"),
        false => text.push_str(&waits.concat()),
    }
    if status.paused > 0 {
        text.push_str(&format!("\npaused    {}: chorus continue", status.paused));
    }
    if status.agents == 0 && status.may_join {
        text.push_str("\nnext      chorus join --agent ID --runtime cmd:'COMMAND'");
    }
    text
}

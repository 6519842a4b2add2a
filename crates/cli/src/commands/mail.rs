//! `chorus mail`: what waits for a member, with why: open deliveries, and where it was meant since it last
//! read.

use std::collections::BTreeSet;

use chorus_client::Client;
use chorus_core::model::attention::Directedness;
use chorus_core::model::member::MemberKind;
use chorus_wire::rest::deliveries::{Delivery, ListDeliveries, StateFilter};
use chorus_wire::rest::events::{Event, ListEvents};
use chorus_wire::rest::pauses::Pause;
use serde::Serialize;

use super::{Context, go_on};
use crate::failure::Result;
use crate::print::{clock, line, short};
use crate::{lines, lookup, short_ids};

/// Events looked through in each channel.
const UNREAD: u32 = 200;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Whose mail [default: the token's]
    #[arg(long, value_name = "MEMBER")]
    agent: Option<String>,
    /// All of it, however much that is
    #[arg(long)]
    all: bool,
}

/// Deliveries that are shown unless all are asked for.
const SHOWN: usize = 200;

/// What waits for one member.
#[derive(Debug, Serialize)]
struct Mail {
    member: String,
    /// Deliveries that have not ended.
    open: Vec<Open>,
    /// Messages that were meant for the member, lie behind no cursor of its, and have no reply of its.
    mentions: Vec<Event>,
    /// Where agents pause until a person lets them go on; for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paused: Vec<Pause>,
}

#[derive(Debug, Serialize)]
struct Open {
    #[serde(flatten)]
    delivery: Delivery,
    text: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.client_as(args.agent.as_deref()).await?;
    let me = client.whoami().await?.member;
    let paused = match *me.kind {
        MemberKind::Human => client.pauses().await?.pauses,
        MemberKind::Agent => Vec::new(),
    };
    let member = me.id;
    let query = ListDeliveries { state: Some(StateFilter::Open), member: Some(member.clone()) };
    let mut open = Vec::new();
    let mut found = client.deliveries(&query).await?.deliveries;
    let total = found.len();
    if !args.all && !context.print.json {
        found.truncate(SHOWN);
    }
    for delivery in found {
        // A knock's body is the member's to pull, not ours: reading it here would not mark it as read.
        let message = client.message(&delivery.event_id).await.ok();
        open.push(Open { delivery, text: message.as_ref().map(lines::said) });
    }
    let events: Vec<_> = open.iter().map(|one| one.delivery.event_id.as_str()).collect();
    let mentions = mentions(&client, &member, &events).await?;
    let mail = Mail { member, open, mentions, paused };
    let titles = lookup::titles(&client).await?;
    context.print.show(&mail, |mail| {
        if mail.open.is_empty() && mail.mentions.is_empty() && mail.paused.is_empty() {
            return format!("nothing waits for {}", line(&mail.member));
        }
        let place = |id: &String| titles.get(id).unwrap_or(id).clone();
        let open = mail.open.iter().map(|one| waiting(one, &place(&one.delivery.conversation)));
        let mentions = mail.mentions.iter().map(|event| {
            let text = event.message.as_ref().map(lines::said).unwrap_or_default();
            let (who, text) = (line(&event.actor.id), short(&text, 200));
            let at = clock(event.created_at.0);
            format!(
                "unread  {at} {} {who}: {text}  {}",
                place(&event.conversation),
                short_ids::shown(&event.event_id)
            )
        });
        let paused = mail.paused.iter().map(|pause| {
            let (id, title) = (short_ids::shown(go_on::id(pause)), go_on::title(pause));
            let said = pause.unattended;
            format!("paused  agents have said {said} messages: chorus continue {id}  {title}")
        });
        open.chain(mentions).chain(paused).collect::<Vec<_>>().join("\n")
    })?;
    if mail.open.len() < total {
        context.print.note(&format!("{SHOWN} of {total}; chorus mail --all shows the rest"));
    }
    Ok(())
}

fn waiting(one: &Open, place: &str) -> String {
    let delivery = &one.delivery;
    let late = if delivery.overdue { "overdue, " } else { "" };
    format!(
        "{late}{}  {} {place} {}: {}  {} ({}, by {})",
        lines::spaced(delivery.policy.name()),
        clock(delivery.created_at.0),
        line(&delivery.author),
        short(one.text.as_deref().unwrap_or_default(), 200),
        short_ids::shown(&delivery.event_id),
        line(&delivery.receipt.state),
        line(&delivery.reason)
    )
}

/// What was said to the member after its cursor, besides what is open anyway and what it has replied to.
pub(super) async fn mentions(client: &Client, member: &str, open: &[&str]) -> Result<Vec<Event>> {
    let mut found = Vec::new();
    for channel in client.channels().await?.channels {
        let read = match client.cursor(&channel.id).await {
            Ok(cursor) => cursor.last_read_seq,
            // A channel that may be read without being on its roster has no cursor.
            Err(error) if error.code().is_some() => continue,
            Err(error) => return Err(error.into()),
        };
        let first = channel.last_seq.saturating_sub(UNREAD.into());
        let query = ListEvents {
            conversation: channel.id,
            after: Some(read.max(first)),
            limit: Some(UNREAD),
        };
        let events = client.events(&query).await?.events;
        let own = events.iter().filter(|event| event.actor.id == member);
        let replied = own.filter_map(|event| event.message.as_ref()?.in_reply_to.clone());
        let replied: BTreeSet<_> = replied.collect();
        found.extend(events.into_iter().filter(|event| {
            let said = matches!(event.kind.as_str(), "message_posted" | "message_edited");
            let answered = [Some(&event.event_id), event.about.as_ref()];
            let answered = answered.into_iter().flatten().any(|id| replied.contains(id));
            let meant = event.told.iter().any(|told| {
                let me = told.member == member;
                me && matches!(*told.directedness, Directedness::ToMe | Directedness::ToMyRole)
            });
            said && meant && !answered && !open.contains(&event.event_id.as_str())
        }));
    }
    found.sort_by_key(|event| event.created_at);
    Ok(found)
}

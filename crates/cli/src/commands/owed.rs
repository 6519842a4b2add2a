//! `chorus owed`: what was not answered in time, with who has it now, who had it, and what it is about.

use chorus_wire::rest::deliveries::{Delivery, ListDeliveries, StateFilter};
use serde::Serialize;

use super::Context;
use crate::failure::Result;
use crate::print::{date, line, short, table};
use crate::{lines, lookup};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What concerns this member: it holds it, had it, asked, or is a lead [default: the token's; for who
    /// runs the room, everybody]
    #[arg(long, value_name = "MEMBER")]
    member: Option<String>,
}

#[derive(Debug, Serialize)]
struct Owed {
    overdue: Vec<One>,
}

#[derive(Debug, Serialize)]
struct One {
    #[serde(flatten)]
    delivery: Delivery,
    text: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let member = args.member.map(|m| lookup::member(&m).to_owned());
    let query = ListDeliveries { state: Some(StateFilter::Overdue), member };
    let mut overdue = Vec::new();
    for delivery in client.deliveries(&query).await?.deliveries {
        let message = client.message(&delivery.event_id).await.ok();
        overdue.push(One { delivery, text: message.as_ref().map(lines::said) });
    }
    let titles = lookup::titles(&client).await?;
    context.print.show(&Owed { overdue }, |owed| {
        if owed.overdue.is_empty() {
            return "nothing is overdue".to_owned();
        }
        let rows: Vec<_> = owed
            .overdue
            .iter()
            .map(|one| {
                let delivery = &one.delivery;
                let place = titles.get(&delivery.conversation).unwrap_or(&delivery.conversation);
                let had = delivery.moved_from.iter().map(|m| line(m)).collect::<Vec<_>>();
                let holder = match delivery.receipt.state.as_str() {
                    "dead" => "nobody".to_owned(),
                    _ => line(&delivery.member),
                };
                vec![
                    date(delivery.created_at.0),
                    place.clone(),
                    line(&delivery.author),
                    if had.is_empty() { line(&delivery.member) } else { had.join(", ") },
                    holder,
                    short(one.text.as_deref().unwrap_or_default(), 60),
                    delivery.event_id.clone(),
                ]
            })
            .collect();
        table(
            "nothing is overdue",
            &["POSTED", "WHERE", "BY", "HAD IT", "HAS IT", "WHAT", "EVENT"],
            &rows,
        )
    })
}

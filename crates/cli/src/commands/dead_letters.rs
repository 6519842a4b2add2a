//! `chorus dead-letters`: deliveries that came to nothing, and sending one again.

use chorus_wire::rest::deliveries::{Delivery, ListDeliveries, StateFilter};
use clap::Subcommand;
use serde_json::json;

use super::Context;
use crate::failure::Result;
use crate::print::{date, line, table};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    deed: Option<Deed>,
    /// Of this member only
    #[arg(long, value_name = "MEMBER")]
    member: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Deed {
    /// Send one again
    Redeliver {
        /// The delivery's id, as the list shows it
        id: String,
    },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    if let Some(Deed::Redeliver { id }) = args.deed {
        client.redeliver(&id).await?;
        return context.print.show(&json!({ "redelivered": id }), |_| format!("sent again: {id}"));
    }
    let query = ListDeliveries { state: Some(StateFilter::Dead), member: args.member };
    let dead = client.deliveries(&query).await?;
    context.print.show(&dead, |all| list(&all.deliveries))
}

fn list(dead: &[Delivery]) -> String {
    if dead.is_empty() {
        return "no dead letters: everything was delivered, or still may be".to_owned();
    }
    let rows: Vec<_> = dead
        .iter()
        .map(|one| {
            vec![
                one.id.clone(),
                line(&one.member),
                one.receipt.attempt.to_string(),
                line(&one.reason),
                line(one.receipt.note.as_deref().unwrap_or_default()),
                date(one.created_at.0),
            ]
        })
        .collect();
    let again = "send one again with: chorus dead-letters redeliver ID";
    format!(
        "{}{again}",
        table(
            "no dead letters: everything was delivered, or still may be",
            &["DELIVERY", "MEMBER", "ATTEMPTS", "BECAUSE", "NOTE", "POSTED"],
            &rows
        )
    )
}

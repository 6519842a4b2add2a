//! `chorus transfer`: credits from the caller's owner to another.

use chorus_core::model::error::Code;
use chorus_wire::registry::{Amount, Transfer, Transferred};

use super::Context;
use super::account::owner;
use crate::data::new_uuid;
use crate::failure::{Failure, Result};
use crate::print::{line, receipt};
use crate::values::credits;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The owner who gets them
    #[arg(value_name = "TO")]
    to: String,
    /// How many credits, such as 5 or 0.50
    #[arg(value_name = "AMOUNT", value_parser = credits)]
    amount: Amount,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    memo: Option<String>,
    /// The direct job that it pays, by its UUID
    #[arg(long, value_name = "UUID")]
    job: Option<String>,
    /// A UUID for the transfer; the same again is the same transfer
    #[arg(long, value_name = "UUID")]
    id: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let mine = client.account("me").await.map_err(|error| {
        Failure::from(error).next_if(&[Code::NotFound], || {
            "you have no account yet; it opens with the first credits that you are given".to_owned()
        })
    })?;
    let id = match args.id {
        Some(id) => id,
        None => new_uuid()?,
    };
    let asked = Transfer {
        transfer_id: id.clone(),
        from_owner: mine.owner_id,
        to_owner: owner(&args.to).to_owned(),
        amount: args.amount,
        job_id: args.job,
        currency: None,
        timestamp_utc: None,
        version: None,
        memo: args.memo,
    };
    let made = client.transfer(&asked).await.map_err(|error| {
        Failure::from(error).next_if(&Failure::LOST, || {
            format!("give --id {} when you try again, so that it is made once", line(&id))
        })
    })?;
    context.print.show(&made, shown)
}

fn shown(made: &Transferred) -> String {
    let (from, to) = (line(&made.from_owner), line(&made.to_owner));
    let again = if made.duplicate { ", which had been made before" } else { "" };
    format!(
        "{} from {from} to {to}{again}; {from} has {} left\nreceipt {}",
        made.amount.0,
        made.balance.0,
        receipt(&made.receipt)
    )
}

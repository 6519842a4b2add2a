//! `chorus wake`: brings an agent that sleeps back to messages that wait for it.

use chorus_core::model::error::Code;
use chorus_wire::rest::deliveries::{ListDeliveries, StateFilter};
use chorus_wire::rest::wakes::NewWake;

use super::Context;
use crate::failure::{Failure, Result};
use crate::print::line;
use crate::{lines, lookup};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The agent
    agent: String,
    /// Where its messages wait: a channel, th_… or ch_… [default: where it owes an answer longest]
    #[arg(long = "in", value_name = "PLACE")]
    place: Option<String>,
    /// What to tell it, beside where its messages are
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Do not wait until the person at its terminal has stopped typing; for operators
    #[arg(long)]
    force: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let member = lookup::known(&client, &args.agent).await?;
    let place = match args.place {
        Some(place) if place.starts_with("th_") => place,
        Some(place) => lookup::conversation(&client, &place).await?,
        None => {
            let open = Some(StateFilter::Open);
            let query = ListDeliveries { state: open, member: Some(member.clone()) };
            let owed = client.deliveries(&query).await?.deliveries;
            let Some(first) = owed.into_iter().next() else {
                let why = format!("nothing waits for {}", line(&member));
                let next = "post to it first, or say where its messages are with --in";
                return Err(Failure::new(Code::NotFound, why).next(next));
            };
            first.conversation
        }
    };
    let new = NewWake {
        member: member.clone(),
        thread: place,
        reason: None,
        prompt: args.prompt,
        force: args.force,
    };
    let opened = client.wake(&new).await?;
    context.print.show(&opened, |opened| match &opened.wake {
        None => format!("nothing there waits for {}: it was not woken", line(&member)),
        Some(wake) => match wake.state.as_str() {
            "pending" => {
                format!("{} has no runner connected; it is woken when one connects", line(&member))
            }
            _ => lines::wake(wake),
        },
    })
}

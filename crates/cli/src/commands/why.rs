//! `chorus why`: who was told of an event, by which rule, and what came of it.

use chorus_core::model::error::Code;

use super::Context;
use crate::failure::{Failure, Result};
use crate::lines;
use crate::print::line;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// evt_… or msg_… id
    event: String,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    if !["evt_", "msg_"].iter().any(|prefix| args.event.starts_with(prefix)) {
        let what = format!(
            "{:?} is no id of a message, which looks like evt_… or msg_…",
            line(&args.event)
        );
        let next = "chorus tail and chorus search show the ids";
        return Err(Failure::new(Code::NotFound, what).next(next));
    }
    let mut why = client.why(&args.event).await?;
    let mut earlier = String::new();
    // What a message says now was decided anew.
    if let Some(newest) = why.newest_version.clone() {
        let first = std::mem::replace(&mut why, client.why(&newest).await?);
        earlier = format!("\n\nbefore it was edited, {}", lines::why(&first));
    }
    // The words are no part of the decision; they are shown because people do not know ids by heart.
    let said = match client.message(&args.event).await {
        Ok(message) if !context.print.json => format!("{}\n", lines::said(&message)),
        _ => String::new(),
    };
    context.print.show(&why, |why| {
        let edited = if earlier.is_empty() { "" } else { "edited: " };
        format!("{said}{edited}{}{earlier}", lines::why(why))
    })
}

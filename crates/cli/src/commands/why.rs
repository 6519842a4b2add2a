//! `chorus why`: who was told of an event, by which rule, and what came of it.

use super::Context;
use crate::failure::Result;
use crate::lines;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// evt_… or msg_… id
    event: String,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
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

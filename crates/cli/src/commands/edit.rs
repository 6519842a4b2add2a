//! `chorus edit`: other words for a message. Who has not yet taken it up sees only these.

use chorus_wire::rest::messages::MessagePatch;

use super::{Context, post};
use crate::failure::Result;
use crate::lines;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// msg_… or evt_… id
    message: String,
    /// The new text; `-` reads it from standard input
    #[arg(required = true)]
    text: Vec<String>,
    /// As this member (operators only)
    #[arg(long = "as", value_name = "MEMBER")]
    act_as: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.client_as(args.act_as.as_deref()).await?;
    let patch = MessagePatch { text: Some(post::text(args.text)?), ..MessagePatch::default() };
    let message = client.edit_message(&args.message, &patch).await?;
    context.print.show(&message, |message| {
        format!("{} now says: {}", message.event_id, lines::said(message))
    })
}

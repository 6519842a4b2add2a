//! `chorus edit`: other words for a message. Who has not yet taken it up sees only these.

use chorus_wire::rest::messages::MessagePatch;

use super::{Context, post};
use crate::failure::Result;
use crate::{lines, short_ids};

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
    let first = client.why(&message.event_id).await?;
    let newest = match &first.newest_version {
        Some(newest) => client.why(newest).await?,
        None => first,
    };
    context.print.show(&message, |message| {
        let told: Vec<_> = newest.told.iter().map(|one| &one.told).collect();
        let said = lines::said(message);
        format!(
            "{} seq {}\n  {} now says: {said}{}",
            short_ids::shown(&newest.event_id),
            newest.seq,
            short_ids::shown(&message.message_id),
            lines::told_lines(&told)
        )
    })
}

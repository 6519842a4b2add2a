//! `chorus erase`: what a message said goes for good, in all its versions; that it was there stays in the log.

use chorus_core::model::event::Reason;

use super::Context;
use crate::ask::confirm;
use crate::failure::Result;
use crate::print::{line, short};
use crate::values::word;
use crate::{lines, short_ids};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// msg_… or evt_… id
    message: String,
    /// Kept in the log: request, personal_data, secret, legal or abuse
    #[arg(long, value_name = "REASON", value_parser = word::<Reason>, default_value = "request")]
    reason: Reason,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// As this member (operators only)
    #[arg(long = "as", value_name = "MEMBER")]
    act_as: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.client_as(args.act_as.as_deref()).await?;
    let found = client.message(&args.message).await?;
    let said = short(&lines::said(&found), 60);
    let author = line(&found.author.id);
    confirm(
        &format!("Erase for good what {author} said ({said:?}), in all its versions?"),
        args.yes,
    )?;
    let message = client.erase_message(&args.message, args.reason).await?;
    context.print.show(&message, |message| {
        format!(
            "erased {}; copies made before, backups and exports, still have it",
            short_ids::shown(&message.message_id)
        )
    })
}

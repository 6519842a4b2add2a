//! `chorus invite`: a link that works once; whoever opens it sets a name and is in.

use chorus_client::Client;
use chorus_core::model::caller::Authority;
use chorus_core::model::error::Code;
use chorus_core::model::token::OPERATOR;
use chorus_wire::rest::sign_in::NewInvitation;

use super::Context;
use crate::failure::{Failure, Result};
use crate::lookup;
use crate::print::{date, line};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The id that the person gets, such as alice
    name: String,
    /// A channel to put them into; may be given again [default: general, if there is one]
    #[arg(long, value_name = "CHANNEL")]
    channel: Vec<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let member = lookup::member(&args.name).to_owned();
    must_not_run_the_host(&client, &member).await?;
    let channels = lookup::channels_or_general(&client, &args.channel).await?;
    let invitation = client.invite(&NewInvitation { member, channels }).await?;
    context.print.show(&invitation, |invitation| invitation.url.clone())?;
    let (member, until) = (line(&invitation.member), date(invitation.expires_at.0));
    context.print.note(&format!(
        "whoever opens it sets a name and is in as @{member}; it works once, until {until}\n\
         take it back with: chorus token revoke --member {member}"
    ));
    if chorus_client::is_local(&invitation.url) {
        context.print.note(
            "only this machine can open it; for others start the host with --listen or --public-url",
        );
    }
    Ok(())
}

/// An invitation makes a worker; an operator who has one would have less elsewhere than here.
async fn must_not_run_the_host(client: &Client, member: &str) -> Result {
    let is_operator = match client.tokens(Some(member)).await {
        Ok(tokens) => {
            tokens.tokens.iter().any(|one| !one.revoked && *one.role == Authority::Operator)
        }
        // Who may not ask is told by the invitation itself.
        Err(_) => false,
    };
    if member != OPERATOR && !is_operator {
        return Ok(());
    }
    let why = format!("{} is an operator of this host already", line(member));
    Err(Failure::new(Code::Conflict, why).next("for a link that signs in elsewhere: chorus signin"))
}

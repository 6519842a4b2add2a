//! `chorus digest`: what happened in followed channels, as members are told of it.

use chorus_wire::rest::digests::{Digest, ListDigests};

use super::Context;
use crate::failure::Result;
use crate::print::{date, line};
use crate::{lines, lookup};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Of this channel only
    channel: Option<String>,
    /// Whose digests [default: the token's]
    #[arg(long, value_name = "MEMBER")]
    member: Option<String>,
    /// How many, the newest first
    #[arg(long, default_value_t = 5)]
    limit: u32,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let conversation = match &args.channel {
        Some(channel) => Some(lookup::conversation(&client, channel).await?),
        None => None,
    };
    let member = args.member.map(|m| lookup::member(&m).to_owned());
    let query = ListDigests { conversation, member, before: None, limit: Some(args.limit) };
    let found = client.digests(&query).await?;
    context.print.show(&found, |found| {
        if found.digests.is_empty() {
            return "no digests; they are made for members who follow a channel: \
                    chorus channel add CHANNEL MEMBER --participation always_listen"
                .to_owned();
        }
        found.digests.iter().map(one).collect::<Vec<_>>().join("\n\n")
    })
}

fn one(digest: &Digest) -> String {
    let words = digest.written.as_ref().unwrap_or(&digest.text);
    let words: Vec<String> = words.lines().map(|words| format!("  {}", line(words))).collect();
    format!(
        "{} #{} for {} ({})\n{}",
        date(digest.created_at.0),
        line(&digest.title),
        line(&digest.member),
        lines::spaced(digest.policy.name()),
        words.join("\n")
    )
}

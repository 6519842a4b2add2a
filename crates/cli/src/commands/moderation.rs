//! `chorus moderation`: what came of a channel's rules lately, in numbers.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chorus_core::model::ids::Timestamp;
use chorus_wire::rest::moderation::{AskModeration, Moderation};

use super::Context;
use crate::failure::Result;
use crate::lookup;
use crate::print::table;
use crate::values::span;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A channel, by title or id
    channel: String,
    /// Of the last 90s, 15m, 24h or 7d; 31 days at most
    #[arg(long, value_name = "SPAN", value_parser = span, default_value = "24h")]
    since: Duration,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let channel = lookup::conversation(&client, &args.channel).await?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let since = now.saturating_sub(args.since).as_millis();
    let query =
        AskModeration { since: Some(Timestamp(i64::try_from(since).unwrap_or_default()).into()) };
    let found = client.moderation(&channel, &query).await?;
    context.print.show(&found, list)
}

fn list(found: &Moderation) -> String {
    let ratio = found.replies_per_human_message.map_or("-".to_owned(), |r| format!("{r:.1}"));
    let rows = [
        ("messages of people", found.human_messages.to_string()),
        ("replies of agents", found.replies.to_string()),
        ("replies per message of a person", ratio),
        ("turns granted", found.turns_granted.to_string()),
        ("turns refused", found.turns_refused.to_string()),
        ("turns expired", found.turns_expired.to_string()),
        ("duplicates prevented", found.duplicates_prevented.to_string()),
        ("silence chosen", found.silence_chosen.to_string()),
    ];
    let rows: Vec<_> = rows.into_iter().map(|(what, n)| vec![what.to_owned(), n]).collect();
    table("nothing to report", &["WHAT", "HOW MUCH"], &rows)
}

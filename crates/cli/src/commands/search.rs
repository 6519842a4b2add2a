//! `chorus search`: what was said, by words, by author, by place and by time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chorus_core::model::ids::Timestamp;
use chorus_wire::rest::search::{Hit, Scope, Search};

use super::Context;
use crate::failure::Result;
use crate::print::{date, line};
use crate::printer::{Printer, Shade};
use crate::values::span;
use crate::{lookup, short_ids};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Words that must all be there; "quotation marks" hold a phrase together
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    /// Said by this member
    #[arg(long, value_name = "MEMBER")]
    author: Option<String>,
    /// Only in this channel: title or ch_… id
    #[arg(long = "in", value_name = "CHANNEL")]
    channel: Option<String>,
    /// In private messages, instead of channels
    #[arg(long, conflicts_with_all = ["channel", "everywhere"])]
    mail: bool,
    /// In channels and private messages
    #[arg(long, conflicts_with = "channel")]
    everywhere: bool,
    /// Only of the last 90s, 15m, 24h or 7d
    #[arg(long, value_name = "SPAN", value_parser = span)]
    since: Option<Duration>,
    /// Only what is older than 90s, 15m, 24h or 7d
    #[arg(long, value_name = "SPAN", value_parser = span)]
    until: Option<Duration>,
    /// How many, the best first
    #[arg(long, default_value_t = 20)]
    limit: u32,
    /// Go on where another page ended: its `next`
    #[arg(long, value_name = "NEXT")]
    after: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let conversation = match &args.channel {
        Some(channel) => Some(lookup::conversation(&client, channel).await?),
        None => None,
    };
    let scope = match (args.mail, args.everywhere) {
        (true, _) => Some(Scope::Mail),
        (_, true) => Some(Scope::All),
        _ => None,
    };
    let query = Search {
        q: args.words.join(" "),
        author: args.author.map(|member| lookup::member(&member).to_owned()),
        conversation,
        scope,
        since: args.since.map(ago).map(Into::into),
        until: args.until.map(ago).map(Into::into),
        after: args.after,
        limit: Some(args.limit),
    };
    let found = client.search(&query).await?;
    context.print.show(&found, |found| {
        let mut lines: Vec<_> = found.hits.iter().map(|hit| one(&context.print, hit)).collect();
        if lines.is_empty() && found.next.is_none() {
            lines.push("nothing found".to_owned());
        }
        lines.extend(found.next.as_ref().map(|next| format!("more: --after {next}")));
        if found.behind {
            lines.push("what was said a moment ago may be missing".to_owned());
        }
        lines.join("\n")
    })
}

fn one(print: &Printer, hit: &Hit) -> String {
    // A piece keeps the spaces at its ends, which part it from the next.
    let shown = |text: &str| {
        let (begins, ends) = (text.starts_with(' '), text.ends_with(' '));
        let space = |there: bool| if there { " " } else { "" };
        match line(text.trim()) {
            text if text.is_empty() => space(begins || ends).to_owned(),
            text => format!("{}{text}{}", space(begins), space(ends)),
        }
    };
    let pieces = hit.snippet.iter().map(|piece| match (shown(&piece.text), piece.found) {
        (text, true) => print.shade(Shade::Bold, &text),
        (text, false) => text,
    });
    format!(
        "{} {} {}: {} {}",
        print.shade(Shade::Dim, &date(hit.created_at.0)),
        print.shade(Shade::Cyan, &format!("#{}", line(&hit.title))),
        line(&hit.author.id),
        pieces.collect::<String>(),
        print.shade(Shade::Dim, &short_ids::shown(&hit.event_id)),
    )
}

fn ago(span: Duration) -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(now.saturating_sub(span).as_millis() as i64)
}

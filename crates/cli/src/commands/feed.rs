//! `chorus feed`: what a channel is about.

use chorus_wire::rest::feed::{Entry, EntryKind, Feed, ReadFeed};

use super::{Context, thread_work};
use crate::failure::Result;
use crate::print::{clock, line, short};
use crate::{lines, lookup};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    channel: String,
    /// Read on from where the last page ended
    #[arg(long, value_name = "NEXT")]
    before: Option<u64>,
    #[arg(long)]
    limit: Option<u32>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let channel = lookup::conversation(&client, &args.channel).await?;
    let query = ReadFeed { before: args.before, limit: args.limit };
    let feed = client.feed(&channel, &query).await?;
    context.print.show(&feed, list)
}

/// Longest text of an entry, in characters.
const TEXT: usize = 200;

fn list(feed: &Feed) -> String {
    let mut text: Vec<_> = feed.entries.iter().map(one).collect();
    text.extend(feed.next.map(|next| format!("older: --before {next}")));
    text.join("\n")
}

fn one(entry: &Entry) -> String {
    let said = entry.message.as_ref().map(|message| short(&lines::said(message), TEXT));
    let note = entry.text.as_deref().map(|text| short(text, TEXT));
    let title = entry.thread.as_ref().map(|thread| line(&thread.title)).unwrap_or_default();
    let title = if title.is_empty() { "a thread".to_owned() } else { title };
    let what = match entry.kind {
        EntryKind::Subject => said.unwrap_or_else(|| title.clone()),
        EntryKind::ResultSummary => format!("result of {title}: {}", note.unwrap_or_default()),
        EntryKind::Promotion => {
            let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
            format!("from {title}: {}{note}", said.unwrap_or_default())
        }
    };
    let mut text = format!("{} {}: {what}", clock(entry.created_at.0), line(&entry.actor.id));
    if let Some(thread) = &entry.thread {
        let work = thread.work.as_ref().map(|work| format!(", work {}", work.status.name()));
        text.push_str(&format!(
            "\n      {} {}{}, {} replies",
            thread.id,
            thread.status.name(),
            work.unwrap_or_default(),
            entry.replies
        ));
    }
    if let Some(progress) = &entry.progress {
        text.push_str(&format!("\n      {}", thread_work::one_progress(progress)));
    }
    let signals = entry.message.iter().flat_map(|message| &message.reactions);
    let signals: Vec<_> =
        signals.map(|r| format!("{} {}", line(&r.glyph), r.members.len())).collect();
    if !signals.is_empty() {
        text.push_str(&format!("\n      {}", signals.join("  ")));
    }
    text
}

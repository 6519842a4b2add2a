//! `chorus thread`: units of work inside channels.

use chorus_client::Client;
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use chorus_wire::rest::thread_work::Promote;
use chorus_wire::rest::threads::{ListThreads, NewThread, Thread, ThreadPatch};
use clap::Subcommand;

use super::Context;
use crate::failure::Result;
use crate::print::{line, table};
use crate::values::word;
use crate::{lookup, short_ids};

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Open a thread; without a channel it is seen by its participants only
    Create {
        title: Option<String>,
        #[arg(long)]
        channel: Option<String>,
        /// The message that becomes its root
        #[arg(long, value_name = "MESSAGE")]
        root: Option<String>,
        /// conversation, workflow or incident
        #[arg(long = "type", value_name = "TYPE", value_parser = word::<ThreadKind>)]
        kind: Option<ThreadKind>,
        /// Who takes part; may be given again
        #[arg(long, value_name = "MEMBER")]
        participant: Vec<String>,
        #[arg(long, value_name = "MEMBER")]
        owner: Option<String>,
    },
    /// Threads that the caller may see
    #[command(visible_alias = "ls")]
    List {
        channel: Option<String>,
        /// active, blocked, resolved or closed
        #[arg(long, value_parser = word::<ThreadStatus>)]
        status: Option<ThreadStatus>,
    },
    /// Change a thread's status or owner
    Set {
        thread: String,
        /// active, blocked, resolved or closed
        #[arg(long, value_parser = word::<ThreadStatus>)]
        status: Option<ThreadStatus>,
        #[arg(long, value_name = "MEMBER")]
        owner: Option<String>,
        /// Nobody owns it any more
        #[arg(long, conflicts_with = "owner")]
        no_owner: bool,
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// What came of it, for the channel's feed
        #[arg(long, value_name = "TEXT")]
        summary: Option<String>,
    },
    /// Say how a thread's work stands
    Work(super::thread_work::Args),
    /// Show a message of a thread in the channel's feed
    Promote {
        message: String,
        /// Why all should see it
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let member = |name: String| lookup::member(&name).to_owned();
    match args {
        Args::Create { title, channel, root, kind, participant, owner } => {
            let conversation = match channel {
                Some(channel) => Some(lookup::conversation(&client, &channel).await?),
                None => None,
            };
            let participants = participant.into_iter().map(member).collect();
            let owner = owner.map(member);
            let new = NewThread {
                conversation,
                root,
                title,
                kind: kind.map(Into::into),
                participants,
                owner,
            };
            shown(client.open_thread(&new).await?, &client, context).await
        }
        Args::List { channel, status } => {
            let conversation = match channel {
                Some(channel) => Some(lookup::conversation(&client, &channel).await?),
                None => None,
            };
            let threads = client
                .threads(&ListThreads { conversation, status: status.map(Into::into) })
                .await?;
            context.print.show(&threads, |all| list(&all.threads))
        }
        Args::Set { thread, status, owner, no_owner, reason, summary } => {
            let owner = if no_owner { Some(None) } else { owner.map(|name| Some(member(name))) };
            let patch = ThreadPatch { status: status.map(Into::into), owner, reason, summary };
            shown(client.change_thread(&thread, &patch).await?, &client, context).await
        }
        Args::Work(args) => {
            shown(super::thread_work::run(args, &client).await?, &client, context).await
        }
        Args::Promote { message, note } => {
            shown(client.promote(&message, &Promote { note }).await?, &client, context).await
        }
    }
}

async fn shown(thread: Thread, client: &Client, context: &Context) -> Result {
    let titles = lookup::titles(client).await?;
    let place = titles.get(&thread.conversation).map(String::as_str);
    context.print.show(&thread, |thread| one(thread, place))
}

fn one(thread: &Thread, place: Option<&str>) -> String {
    let people: Vec<_> = thread.participants.iter().map(|member| line(member)).collect();
    let work = thread.work.as_ref().map(super::thread_work::shown).unwrap_or_default();
    format!(
        "{} {:?} ({}, {}, owner {}) in {}: {}{work}",
        short_ids::shown(&thread.id),
        line(&thread.title),
        thread.kind.name(),
        thread.status.name(),
        thread.owner.as_deref().map_or("nobody".to_owned(), line),
        place.map_or_else(|| short_ids::shown(&thread.conversation), str::to_owned),
        people.join(", ")
    )
}

fn list(threads: &[Thread]) -> String {
    let rows: Vec<_> = threads
        .iter()
        .map(|thread| {
            vec![
                thread.id.clone(),
                thread.status.name().to_owned(),
                thread.kind.name().to_owned(),
                thread.owner.as_deref().map(line).unwrap_or_default(),
                thread.last_seq.to_string(),
                line(&thread.title),
            ]
        })
        .collect();
    table(
        "no threads here yet; open one with: chorus thread create TITLE --channel CHANNEL",
        &["THREAD", "STATUS", "TYPE", "OWNER", "MESSAGES", "TITLE"],
        &rows,
    )
}

//! `chorus channel`: conversations and their rosters.

use chorus_core::conversation::{ConversationKind, Participation, Visibility};
use chorus_wire::rest::channels::{Channel, ChannelPatch, Leave, NewChannel};
use chorus_wire::words::Word;
use clap::Subcommand;

use super::Context;
use crate::args::word;
use crate::failure::Result;
use crate::lookup;
use crate::print::{line, table};

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Make a channel
    Create {
        title: String,
        /// Who is in it, beside whoever makes it
        members: Vec<String>,
        /// channel, dm or thread
        #[arg(long, default_value = "channel", value_parser = word::<ConversationKind>)]
        kind: ConversationKind,
        /// Seen by its members only
        #[arg(long)]
        private: bool,
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// What it is for
        #[arg(long, value_name = "TEXT")]
        purpose: Option<String>,
        /// The stream of work it belongs to
        #[arg(long, value_name = "ID")]
        stream: Option<String>,
    },
    /// Channels that the caller may see
    #[command(visible_alias = "ls")]
    List,
    /// One channel and who is in it
    Show { channel: String },
    /// Put members into a channel
    Add {
        channel: String,
        #[arg(required = true)]
        members: Vec<String>,
        /// How they take part when nobody names them: selected_only, prefer_selected, manual_only or
        /// always_listen
        #[arg(long, value_name = "HOW", value_parser = word::<Participation>)]
        participation: Option<Participation>,
    },
    /// Take members out of a channel
    Remove {
        channel: String,
        #[arg(required = true)]
        members: Vec<String>,
    },
    /// Ask an agent to leave: it is told nothing there until it is named again
    Leave {
        channel: String,
        agent: String,
        /// This thread only
        #[arg(long, value_name = "THREAD")]
        thread: Option<String>,
    },
    /// Change a channel; what is not given stays
    Set {
        channel: String,
        #[arg(long)]
        title: Option<String>,
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        #[arg(long, value_name = "TEXT")]
        purpose: Option<String>,
        /// public or private
        #[arg(long, value_parser = word::<Visibility>)]
        visibility: Option<Visibility>,
        #[arg(long)]
        archived: Option<bool>,
        /// To whom undone obligations go here, before they go to the workspace's lead
        #[arg(long, value_name = "MEMBER")]
        lead: Option<String>,
        /// The channel has no lead of its own any more
        #[arg(long, conflicts_with = "lead")]
        no_lead: bool,
        /// Messages that agents may say on one line of talk without a person; `default` for the host's
        #[arg(long, value_name = "N", value_parser = budget)]
        agent_budget: Option<Budget>,
        /// How long what was said is kept: `all`, days such as `90d`, or `default` for the host's
        #[arg(long, value_name = "DAYS")]
        keep: Option<String>,
    },
}

/// A channel's own budget, or the host's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget(Option<u32>);

fn budget(text: &str) -> std::result::Result<Budget, String> {
    match text {
        "default" => Ok(Budget(None)),
        number => number.parse().map(|n| Budget(Some(n))).map_err(|_| "a number or default".into()),
    }
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let id = match args {
        Args::Create { title, members, kind, private, description, purpose, stream } => {
            let new = NewChannel {
                kind: Some(kind),
                title: title.strip_prefix('#').unwrap_or(&title).to_owned(),
                description,
                purpose,
                visibility: private.then_some(Visibility::Private),
                members: members.iter().map(|m| lookup::member(m).to_owned()).collect(),
                stream,
            };
            let channel = client.create_channel(&new).await?;
            return context.print.show(&channel, one);
        }
        Args::List => {
            let channels = client.channels().await?;
            return context.print.show(&channels, |all| list(&all.channels));
        }
        Args::Show { channel } => lookup::conversation(&client, &channel).await?,
        Args::Add { channel, members, participation } => {
            let id = lookup::conversation(&client, &channel).await?;
            for member in &members {
                client.seat(&id, lookup::member(member), participation).await?;
            }
            id
        }
        Args::Leave { channel, agent, thread } => {
            let id = lookup::conversation(&client, &channel).await?;
            let member = Some(lookup::member(&agent).to_owned());
            client.leave(&id, &Leave { member, thread }).await?;
            id
        }
        Args::Remove { channel, members } => {
            let id = lookup::conversation(&client, &channel).await?;
            for member in &members {
                client.unseat(&id, lookup::member(member)).await?;
            }
            id
        }
        Args::Set {
            channel,
            title,
            description,
            purpose,
            visibility,
            archived,
            lead,
            no_lead,
            agent_budget,
            keep,
        } => {
            let id = lookup::conversation(&client, &channel).await?;
            let lead = lead.map(|m| Some(lookup::member(&m).to_owned()));
            let lead = if no_lead { Some(None) } else { lead };
            let agent_budget = agent_budget.map(|budget| budget.0);
            let patch = ChannelPatch {
                title,
                description,
                purpose,
                visibility,
                archived,
                lead,
                agent_budget,
                keep: keep.map(|keep| Some(keep).filter(|keep| keep != "default")),
            };
            client.change_channel(&id, &patch).await?;
            id
        }
    };
    let channel = client.channel(&id).await?;
    context.print.show(&channel, one)
}

fn one(channel: &Channel) -> String {
    let mut text = format!(
        "{} ({}, {}, {})",
        lookup::shown(channel),
        channel.kind.word(),
        channel.visibility.word(),
        channel.id
    );
    if channel.archived {
        text.push_str("\narchived");
    }
    if channel.paused {
        let said = channel.unattended;
        text.push_str(&format!("\npaused: agents have said {said} messages without a person"));
    }
    for (name, value) in [("description", &channel.description), ("purpose", &channel.purpose)] {
        if !value.is_empty() {
            text.push_str(&format!("\n{name}: {}", line(value)));
        }
    }
    if let Some(lead) = &channel.lead {
        text.push_str(&format!("\nlead: {}", line(lead)));
    }
    if let Some(keep) = &channel.keep {
        text.push_str(&format!("\nkept: {}", line(keep)));
    }
    if let Some(base) = channel.base_seq {
        text.push_str(&format!("\nbegins after event {base}: what was before is archived or gone"));
    }
    if let Some(held) = &channel.held {
        let why = match held.by.as_str() {
            "owed" => "something is still owed for it",
            "approval" => "what answers it waits for a person",
            "thread" => "its thread is not done",
            "digest" => "a digest of it is still to come",
            other => other,
        };
        text.push_str(&format!("\nkept from event {} on, whatever its age: {why}", held.seq));
    }
    if let Some(seats) = &channel.members {
        let seats = seats.iter().map(|seat| match seat.participation {
            Participation::SelectedOnly => line(&seat.member),
            other => format!("{} ({})", line(&seat.member), other.word()),
        });
        text.push_str(&format!("\nmembers: {}", seats.collect::<Vec<_>>().join(", ")));
    }
    text
}

fn list(channels: &[Channel]) -> String {
    let rows: Vec<_> = channels
        .iter()
        .map(|channel| {
            let state = if channel.archived { "archived" } else { channel.visibility.word() };
            vec![
                lookup::shown(channel),
                channel.id.clone(),
                channel.kind.word().to_owned(),
                state.to_owned(),
                channel.last_seq.to_string(),
                line(&channel.purpose),
            ]
        })
        .collect();
    table(&["CHANNEL", "ID", "KIND", "SEEN BY", "EVENTS", "PURPOSE"], &rows)
}

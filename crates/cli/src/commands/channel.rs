//! `chorus channel`: conversations and their rosters.

mod pins;
mod show;

use chorus_core::model::conversation::{ConversationKind, Participation, Replies, Visibility};
use chorus_wire::rest::channels::{
    ChannelPatch, Display, Leave, NewChannel, SeatPut, StimuliPatch, TurnsPatch,
};
use chorus_wire::rest::index::ListIndex;
use chorus_wire::rest::search::Scope;
use clap::Subcommand;

use self::show::{indexed, list, one};
use super::Context;
use crate::failure::Result;
use crate::lookup;
use crate::values::{seconds, span, word};

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
        /// Where answers to messages of the main line go: `line` or `thread`; unless given, `thread` where two or
        /// more agents are in it
        #[arg(long, value_parser = word::<Replies>)]
        replies: Option<Replies>,
    },
    /// Channels that the caller may see
    #[command(visible_alias = "ls")]
    List {
        /// Private messages, instead of channels
        #[arg(long)]
        mail: bool,
    },
    /// What the caller is in, with what it has not read there
    Index {
        /// Private messages, instead of channels
        #[arg(long)]
        mail: bool,
        /// Only where something is unread
        #[arg(long)]
        unread: bool,
    },
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
    /// Say how an agent is called in a channel, and which of its sessions is asked there
    Seat {
        channel: String,
        agent: String,
        /// A name that it has there alone
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
        /// Call it there as it is called everywhere
        #[arg(long, conflicts_with = "name")]
        follow_name: bool,
        /// Ask this session and no other
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// Ask whichever session the host finds best
        #[arg(long, conflicts_with = "session")]
        any_session: bool,
    },
    /// Put files at the top of a channel: `ast_…` ids, or files from here
    Pin {
        channel: String,
        #[arg(required = true)]
        files: Vec<String>,
    },
    /// Take files from the top of a channel
    Unpin {
        channel: String,
        /// ast_… ids
        #[arg(required = true)]
        ids: Vec<String>,
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
        /// Whether it is put away: it can be read, and nothing more is said there
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
        /// Where answers to messages of the main line go: `line` or `thread`
        #[arg(long, value_parser = word::<Replies>)]
        replies: Option<Replies>,
        /// Agents that speak about one subject at a time
        #[arg(long, value_name = "N")]
        speakers: Option<u8>,
        /// Turns of agents that a person's message pays for
        #[arg(long, value_name = "N")]
        turns: Option<u16>,
        /// How long an agent that spoke rests, unless it is addressed: 90s, 5m, or seconds
        #[arg(long, value_name = "SPAN", value_parser = seconds)]
        cooldown: Option<u32>,
        /// How long a turn waits to be taken up before it goes to the next agent
        #[arg(long, value_name = "SPAN", value_parser = seconds)]
        acceptance: Option<u32>,
        /// Stimuli that wait at most
        #[arg(long, value_name = "N")]
        max_pending: Option<u16>,
        /// Subjects that stimuli open within an hour
        #[arg(long, value_name = "N")]
        roots_per_hour: Option<u16>,
        /// Such subjects that are alive at once
        #[arg(long, value_name = "N")]
        max_active_roots: Option<u16>,
        /// Quiet after such a subject before the next: 90s, 5m, or seconds
        #[arg(long, value_name = "SPAN", value_parser = seconds)]
        quiet: Option<u32>,
        /// Whether agents behind connection strings may have callbacks with which they speak unasked
        #[arg(long)]
        proactive: Option<bool>,
        /// Silence after which a thread is asked what became of it, such as 24h, or `never`
        #[arg(long, value_name = "SPAN", value_parser = idle)]
        idle_followup: Option<Idle>,
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

/// How long a thread may be silent, in milliseconds, or for ever.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle(Option<i64>);

fn idle(text: &str) -> std::result::Result<Idle, String> {
    if text == "never" {
        return Ok(Idle(None));
    }
    let ms = i64::try_from(span(text)?.as_millis()).map_err(|_| "that is too long".to_owned())?;
    Ok(Idle(Some(ms)))
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let id = match args {
        Args::Create { title, members, kind, private, description, purpose, stream, replies } => {
            let new = NewChannel {
                kind: Some(kind.into()),
                title: title.strip_prefix('#').unwrap_or(&title).to_owned(),
                description,
                purpose,
                visibility: private.then_some(Visibility::Private.into()),
                members: lookup::members(&client, &members).await?,
                stream,
                replies: replies.map(Into::into),
            };
            let channel = client.create_channel(&new).await?;
            return context.print.show(&channel, one);
        }
        Args::Index { mail, unread } => {
            let query = ListIndex { scope: Some(scope(mail)), unread: Some(unread) };
            let index = client.index(&query).await?;
            return context.print.show(&index, indexed);
        }
        Args::List { mail } => {
            let channels = client.channels_of(scope(mail)).await?;
            return context.print.show(&channels, |all| list(&all.channels));
        }
        Args::Show { channel } => lookup::conversation(&client, &channel).await?,
        Args::Add { channel, members, participation } => {
            let id = lookup::conversation(&client, &channel).await?;
            for member in &lookup::members(&client, &members).await? {
                let put =
                    SeatPut { participation: participation.map(Into::into), ..SeatPut::default() };
                client.seat(&id, member, &put).await?;
            }
            id
        }
        Args::Seat { channel, agent, name, follow_name, session, any_session } => {
            let id = lookup::conversation(&client, &channel).await?;
            let agent = lookup::member(&agent);
            let seats = client.channel(&id).await?.members.unwrap_or_default();
            let seat = seats.iter().find(|seat| seat.member == agent);
            let put = SeatPut {
                // How it takes part stays.
                participation: seat.map(|seat| seat.participation),
                display: follow_name.then_some(Display::FollowAgent),
                display_name: name,
                session_id: session.map(Some).or(any_session.then_some(None)),
            };
            client.seat(&id, agent, &put).await?;
            id
        }
        Args::Pin { channel, files } => {
            let id = lookup::conversation(&client, &channel).await?;
            pins::pin(&client, &id, &files).await?;
            id
        }
        Args::Unpin { channel, ids } => {
            let id = lookup::conversation(&client, &channel).await?;
            pins::unpin(&client, &id, &ids).await?;
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
            replies,
            speakers,
            turns,
            cooldown,
            acceptance,
            max_pending,
            roots_per_hour,
            max_active_roots,
            quiet,
            proactive,
            idle_followup,
        } => {
            let id = lookup::conversation(&client, &channel).await?;
            let lead = lead.map(|m| Some(lookup::member(&m).to_owned()));
            let lead = if no_lead { Some(None) } else { lead };
            let agent_budget = agent_budget.map(|budget| budget.0);
            let patch = ChannelPatch {
                title,
                description,
                purpose,
                visibility: visibility.map(Into::into),
                archived,
                lead,
                agent_budget,
                keep: keep.map(|keep| Some(keep).filter(|keep| keep != "default")),
                turns: Some(TurnsPatch {
                    max_parallel_public_speakers: speakers,
                    replies_per_human_message: turns,
                    cooldown_ms: cooldown.map(|s| i64::from(s) * 1_000),
                    acceptance_ms: acceptance.map(|s| i64::from(s) * 1_000),
                })
                .filter(|turns| *turns != TurnsPatch::default()),
                replies: replies.map(Into::into),
                stimuli: Some(StimuliPatch {
                    max_pending,
                    roots_per_hour,
                    max_active_roots,
                    quiet_ms: quiet.map(|s| i64::from(s) * 1_000),
                    idle_followup_ms: idle_followup.map(|idle| idle.0),
                })
                .filter(|stimuli| *stimuli != StimuliPatch::default()),
                proactive,
                pinned_assets: None,
            };
            client.change_channel(&id, &patch).await?;
            id
        }
    };
    let channel = client.channel(&id).await?;
    context.print.show(&channel, one)
}

fn scope(mail: bool) -> Scope {
    if mail { Scope::Mail } else { Scope::Channels }
}

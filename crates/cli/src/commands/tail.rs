//! `chorus tail`: channels as they go on, one line an event.
//!
//! Each channel is followed by its own seq: what a broken connection has missed is read again from there,
//! so that no event is shown twice or left out.

use std::collections::HashMap;
use std::time::Duration;

use chorus_client::sse::Item;
use chorus_client::{Client, backoff};
use chorus_core::model::ids::Timestamp;
use chorus_wire::rest::channels::Channel;
use chorus_wire::rest::events::{Event, ListEvents};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::Context;
use crate::failure::{Failure, Result};
use crate::print::short;
use crate::printer::Shade;
use crate::values::span;
use crate::{lines, lookup};

/// Events of the past shown unless `--since` says otherwise.
const LAST: u64 = 10;
/// Events read at once.
const PAGE: u32 = 200;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Titles or ch_… ids [default: every channel that is visible]
    channels: Vec<String>,
    /// Go on as things happen; `--follow false` shows what there is and ends
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    follow: bool,
    /// Begin after this seq, or that long ago: 120, 15m, 2h [default: the last 10 events]
    #[arg(long, value_parser = since, value_name = "SEQ|AGE")]
    since: Option<Since>,
    /// Also what agents do meanwhile: tools, results, status
    #[arg(long, short)]
    activity: bool,
    /// As this member sees it (operators only)
    #[arg(long = "as", value_name = "MEMBER")]
    act_as: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Since {
    Seq(u64),
    Age(Duration),
}

/// What a followed channel sends.
pub(super) enum News {
    Event(Box<Event>),
    /// In this channel, what is in no log.
    Activity(String, String, Value),
    Failed(chorus_client::Error),
    /// The host cannot be reached, or can again.
    Away(bool),
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.client_as(args.act_as.as_deref()).await?;
    let channels = chosen(&client, &args.channels).await?;
    let titles: HashMap<_, _> =
        channels.iter().map(|channel| (channel.id.clone(), lookup::shown(channel))).collect();
    let show = |event: &Event| shown(context, &titles, event, context.target.verbose);

    let mut past = Vec::new();
    let mut heads = Vec::new();
    for channel in &channels {
        let (events, head) = history(&client, channel, args.since).await?;
        past.extend(events);
        heads.push((channel.id.clone(), head));
    }
    past.sort_by_key(|event| (event.created_at, event.seq));
    past.iter().try_for_each(show)?;
    if !args.follow {
        return Ok(());
    }
    let (tell, mut told) = mpsc::channel(256);
    for (channel, head) in heads {
        tokio::spawn(follow(client.clone(), channel, head, args.activity, tell.clone()));
    }
    drop(tell);
    let mut away = false;
    while let Some(news) = told.recv().await {
        match news {
            News::Event(event) => show(&event)?,
            News::Activity(channel, name, data) => {
                active(context, &titles, &channel, &name, &data)?;
            }
            News::Failed(error) => return Err(error.into()),
            // Each channel has a connection; one line is enough.
            News::Away(is) if is != away => {
                away = is;
                context.print.note(presence(away));
            }
            News::Away(_) => {}
        }
    }
    Ok(())
}

pub(super) fn presence(is_away: bool) -> &'static str {
    if is_away { "the host is away; waiting for it" } else { "the host is back" }
}

async fn chosen(client: &Client, names: &[String]) -> Result<Vec<Channel>> {
    let mut channels = Vec::new();
    for name in names {
        channels.push(lookup::channel(client, name).await?);
    }
    if names.is_empty() {
        channels = client.channels().await?.channels;
        channels.retain(|channel| !channel.archived);
    }
    if channels.is_empty() {
        let none =
            Failure::new(chorus_core::model::error::Code::NotFound, "there is no channel yet");
        return Err(none.next("make one with: chorus channel create TITLE MEMBER…"));
    }
    Ok(channels)
}

/// What has been said, as far as it was asked for, and the seq from which to go on.
pub(super) async fn history(
    client: &Client,
    channel: &Channel,
    since: Option<Since>,
) -> Result<(Vec<Event>, u64)> {
    let mut after = match since {
        Some(Since::Seq(seq)) => seq,
        Some(Since::Age(_)) => 0,
        None => channel.last_seq.saturating_sub(LAST),
    };
    let oldest = match since {
        Some(Since::Age(age)) => ago(age),
        _ => Timestamp(i64::MIN),
    };
    let mut events = Vec::new();
    loop {
        let query =
            ListEvents { conversation: channel.id.clone(), after: Some(after), limit: Some(PAGE) };
        let page = client.events(&query).await?;
        let Some(last) = page.events.last() else { break };
        after = last.seq;
        events.extend(page.events.into_iter().filter(|event| *event.created_at >= oldest));
        if !page.has_more {
            break;
        }
    }
    Ok((events, after))
}

/// Follows one channel until nobody listens or the host says no.
pub(super) async fn follow(
    client: Client,
    channel: String,
    mut after: u64,
    activity: bool,
    tell: mpsc::Sender<News>,
) {
    let mut failures = 0;
    loop {
        let stream = match activity {
            true => client.activity_stream(&channel, Some(after)).await,
            false => client.events_stream(&channel, Some(after)).await,
        };
        match stream {
            Ok(mut stream) => {
                if tell.send(News::Away(false)).await.is_err() {
                    return;
                }
                while let Ok(Some(item)) = stream.next_item().await {
                    failures = 0;
                    let news = match item {
                        Item::Event(event) if event.seq <= after => continue,
                        Item::Event(event) => {
                            after = event.seq;
                            News::Event(event)
                        }
                        Item::Activity { name, data } => {
                            News::Activity(channel.clone(), name, data)
                        }
                    };
                    if tell.send(news).await.is_err() {
                        return;
                    }
                }
            }
            Err(error) if !error.is_retryable() => {
                // The receiver may have gone; then nobody wants to know.
                let _ = tell.send(News::Failed(error)).await;
                return;
            }
            Err(_) => {}
        }
        // A connection may end while the host is there: it is away once it cannot be opened again.
        if failures > 0 && tell.send(News::Away(true)).await.is_err() {
            return;
        }
        // One reader needs no randomness against itself.
        tokio::time::sleep(backoff(failures, 0)).await;
        failures += 1;
    }
}

fn shown(
    context: &Context,
    titles: &HashMap<String, String>,
    event: &Event,
    verbose: bool,
) -> Result {
    let print = &context.print;
    if print.json {
        return print.json(event);
    }
    let mut text = lines::event(print, titles, event);
    if verbose && matches!(event.kind.as_str(), "message_posted" | "message_edited") {
        for told in &event.told {
            text.push_str(&format!("\n           told {}", lines::told(told)));
        }
        if event.told.is_empty() {
            text.push_str(&print.shade(Shade::Dim, "\n           told nobody"));
        }
    }
    print.text(&text)
}

/// What somebody does, on a dim line of its own; receipts and typing are for pages that are looked at.
fn active(
    context: &Context,
    titles: &HashMap<String, String>,
    channel: &str,
    name: &str,
    data: &Value,
) -> Result {
    let print = &context.print;
    if print.json {
        return print.json(&json!({"activity": name, "data": data}));
    }
    let text = |key: &str| data[key].as_str().map(|text| short(text, 100));
    let (kind, words) = match (name, data["type"].as_str()) {
        ("progress", _) => ("progress", vec![text("message")]),
        ("activity", Some("tool_call")) => ("calls", vec![text("name"), text("args")]),
        ("activity", Some("tool_result")) => ("got", vec![text("content")]),
        ("activity", Some("status")) => ("is", vec![text("status")]),
        ("activity", Some("error")) => ("failed", vec![text("code"), text("message")]),
        ("activity", Some("lifecycle")) => ("is", vec![text("state")]),
        _ => return Ok(()),
    };
    let (channel, member) = (titles.get(channel).map_or(channel, |t| t), text("member"));
    let words: Vec<String> = words.into_iter().flatten().collect();
    let line =
        format!("           {channel} {} {kind} {}", member.unwrap_or_default(), words.join(" "));
    print.text(&print.shade(Shade::Dim, &line))
}

fn ago(age: Duration) -> Timestamp {
    let now = jiff::Timestamp::now().as_millisecond();
    Timestamp(now.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX)))
}

fn since(text: &str) -> std::result::Result<Since, String> {
    match text.parse() {
        Ok(seq) => Ok(Since::Seq(seq)),
        Err(_) => span(text).map(Since::Age).map_err(|wrong| format!("a seq, or {wrong}")),
    }
}

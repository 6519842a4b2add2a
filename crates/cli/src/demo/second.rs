//! The demo's second act: what goes on without a person, and what a crash changes of it.

use chorus_core::model::stimulus::StimulusKind;
use chorus_wire::rest::events::Event;
use chorus_wire::rest::feed::{EntryKind, ReadFeed};
use chorus_wire::rest::stimuli::{ListStimuli, NewStimulus, StimulusScope, StimulusVisibility};

use super::expect::{ended, is_message_of, reaction_on, said_once, text_of};
use super::show::{Check, Scene, account};
use super::stage::{Stage, say};
use crate::failure::{Failure, Result};

const KEY: &str = "nightly-check";

fn stimulus(kind: StimulusKind, source: &str, text: &str) -> NewStimulus {
    NewStimulus {
        kind: kind.into(),
        text: text.to_owned(),
        scope: StimulusScope::Channel,
        thread: None,
        title: None,
        source: Some(source.to_owned()),
        targets: Vec::new(),
        visibility: StimulusVisibility::Public,
        progress_key: None,
        dedupe_key: None,
        initiative_key: None,
        expires_at: None,
    }
}

/// A schedule fires: one thread is opened, and what it says of its progress takes the place of what it said before.
pub(super) async fn scheduled(stage: &Stage) -> Result<Scene> {
    const TEXT: &str = "The nightly check has begun.";
    let before = stage.design.head();
    let fire = NewStimulus {
        progress_key: Some(KEY.to_owned()),
        ..stimulus(StimulusKind::ScheduleFire, "scout", TEXT)
    };
    stage.operator.add_stimulus(&stage.design.id, &fire).await?;
    let is_it = |event: &Event| event.seq > before && is_message_of(event, "scout");
    let opened = stage.design.wait(is_it).await;
    let opened = opened.ok_or_else(|| Failure::here("nothing was said of", TEXT))?;
    let why = stage.settled(&opened.event_id).await?;
    let thread = stage
        .design
        .wait(|event| event.seq > opened.seq && event.kind == "thread_opened")
        .await
        .and_then(|event| event.thread_id)
        .ok_or_else(|| Failure::here("no thread was opened for", TEXT))?;
    const STEPS: [&str; 3] = ["32 of 128 passed", "96 of 128 passed", "128 of 128 passed"];
    for text in STEPS {
        let further = NewStimulus {
            scope: StimulusScope::Thread,
            thread: Some(thread.clone()),
            progress_key: Some(KEY.to_owned()),
            ..stimulus(StimulusKind::ScheduleFire, "scout", text)
        };
        let asked = stage.operator.add_stimulus(&stage.design.id, &further).await?;
        stage.said(&stage.design, &asked.id).await?;
        stage.show.remark(&format!("the thread's progress is now {text:?}"))?;
    }
    let feed = stage.operator.feed(&stage.design.id, &ReadFeed::default()).await?;
    let entries: Vec<_> = feed.entries.iter().filter(|entry| entry.seq > before).collect();
    let subjects = entries.iter().filter(|entry| entry.kind == EntryKind::Subject).count();
    let progress = entries.first().and_then(|entry| entry.progress.as_ref()).map(|p| &*p.text);
    let checks = vec![
        said_once(&stage.design.said_by_agents(before), "scout", &[TEXT]),
        Check::new("it opened one subject, with a thread", subjects == 1, || {
            format!("there are {subjects}")
        }),
        Check::new(
            "its progress is the newest, and was no message",
            progress == Some(STEPS[2]),
            || format!("it is {progress:?}"),
        ),
        ended(&[&why]),
    ];
    Ok(Scene { checks, attention: vec![account(TEXT, why)] })
}

/// How a room stands: who has which turn and who waits, what waits to be said, what the feed shows.
#[derive(Debug, PartialEq, Eq)]
struct Standing {
    turns: Vec<(String, Vec<String>, Vec<String>)>,
    queue: Vec<(String, String)>,
    feed: Vec<String>,
}

async fn standing(stage: &Stage) -> Result<Standing> {
    let room = &stage.design.id;
    let turns = stage.operator.turns(room).await?.subjects.into_iter().map(|subject| {
        let holders = subject.holders.into_iter().map(|holder| holder.member).collect();
        let waiting = subject.waiting.into_iter().map(|waiting| waiting.member).collect();
        (subject.root, holders, waiting)
    });
    let queue = stage.operator.stimuli(room, &ListStimuli::default()).await?.stimuli;
    let queue = queue.into_iter().map(|s| (s.id, s.state.name().to_owned()));
    let feed = stage.operator.feed(room, &ReadFeed::default()).await?.entries;
    let feed = feed.into_iter().map(|entry| entry.event_id);
    Ok(Standing { turns: turns.collect(), queue: queue.collect(), feed: feed.collect() })
}

/// The host is killed while one speaks and another waits.
pub(super) async fn host_killed(stage: &mut Stage) -> Result<Scene> {
    let before = stage.design.head();
    let idea = stimulus(StimulusKind::AgentIdea, "critic", "Shall we look at the slow tests?");
    stage.operator.add_stimulus(&stage.design.id, &idea).await?;
    let text = "@scout please run the long check. @builder, what do you think of the plan?";
    let asked = say(&stage.alice, &stage.design, text, None).await?;
    stage.design.wait(|event| reaction_on(event, &asked.event_id)).await;
    let stood = standing(stage).await?;
    stage.host.kill().await;
    stage.show.remark("the host is killed with SIGKILL: scout has the turn, builder waits")?;
    stage.host.begin().await?;
    stage.show.remark("it is started again on the same folder")?;
    let stands = standing(stage).await?;
    let of =
        |who: &'static str| move |event: &Event| event.seq > before && is_message_of(event, who);
    stage.design.wait(of("scout")).await;
    stage.design.wait(of("builder")).await;
    let why = stage.settled(&asked.event_id).await?;
    let said = stage.design.said_by_agents(before);
    let said: Vec<_> = said.iter().map(|e| (e.actor.id.as_str(), text_of(e))).collect();
    let once = matches!(said.as_slice(), [("scout", first), ("builder", _)] if first.contains("128 of 128"));
    let expected = stood.turns.iter().any(|(root, holders, waiting)| {
        *root == asked.event_id && holders == &["scout"] && waiting == &["builder"]
    });
    let waits = stood.queue.iter().any(|(_, state)| state == "pending");
    let same = stood == stands;
    let checks = vec![
        Check::new("scout had the turn, and builder waited", expected, || {
            format!("{:?}", stood.turns)
        }),
        Check::new("critic's idea waited for the quiet to end", waits, || {
            format!("{:?}", stood.queue)
        }),
        Check::new("the same turn, queue and feed are back", same, || {
            format!("{stood:?}, then {stands:?}")
        }),
        Check::new("scout answered once, and then builder", once, || format!("{said:?}")),
        ended(&[&why]),
    ];
    Ok(Scene { checks, attention: vec![account(text, why)] })
}

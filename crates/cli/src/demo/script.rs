//! The demo's script: eleven things that happen in a room, and what must come of each.
//!
//! That somebody keeps silent is not shown by waiting: the host's account says who was told, every delivery
//! has ended, and what was said afterwards is the next thing in the log.

use std::time::{Duration, Instant};

use chorus_core::model::attention::Policy;
use chorus_core::model::limits::{HOP_END, HOP_NO_OBLIGATION};
use chorus_core::model::reaction::Signal;
use chorus_wire::rest::events::Event;
use chorus_wire::rest::messages::MessagePatch;

use super::expect::{
    answers, ended, is_message_of, names, reaction_on, said_once, silent, text_of, told_only,
};
use super::second;
use super::show::{Check, Scene, Step, account};
use super::stage::{Stage, say};
use crate::failure::Result;

/// Between two pieces that somebody types; shorter than the quiet after which a turn begins.
const TYPING: Duration = Duration::from_millis(120);

const TITLES: [&str; 11] = [
    "A question by @handle is answered by that agent alone",
    "Fragments typed in pieces become one turn",
    "A thank-you is met with a reaction, not a sentence",
    "Ambient talk is answered by nobody",
    "A role mention is answered by exactly one",
    "An edit before the turn is what the agent sees",
    "An agent killed in the middle of a turn comes back and answers once",
    "Two agents told to answer everything stop by themselves",
    "Three that are asked speak one after the other, in the question's thread, and the last only nods",
    "A scheduled stimulus opens one thread, and its progress replaces itself",
    "The host is killed, and comes back with the same turn, queue and feed",
];

/// Plays all of it.
pub(crate) async fn play(stage: &mut Stage) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for (at, title) in TITLES.into_iter().enumerate() {
        let number = at + 1;
        stage.show.heading(number, title)?;
        let began = Instant::now();
        let Scene { checks, attention } = match number {
            1 => by_handle(stage).await?,
            2 => in_pieces(stage).await?,
            3 => thanks(stage).await?,
            4 => ambient(stage).await?,
            5 => by_role(stage).await?,
            6 => edited(stage).await?,
            7 => killed(stage).await?,
            8 => eager(stage).await?,
            9 => in_turns(stage).await?,
            10 => second::scheduled(stage).await?,
            _ => second::host_killed(stage).await?,
        };
        let took_ms = began.elapsed().as_millis();
        let step = Step { number, title, checks, attention, took_ms };
        stage.show.result(&step)?;
        steps.push(step);
    }
    Ok(steps)
}

async fn by_handle(stage: &Stage) -> Result<Scene> {
    let before = stage.ops.head();
    let text = "@scout what is the deploy status?";
    let asked = say(&stage.alice, &stage.ops, text, None).await?;
    stage.ops.wait(|event| answers(event, &asked.event_id)).await;
    let why = stage.settled(&asked.event_id).await?;
    let said = stage.ops.said_by_agents(before);
    let checks = vec![
        told_only(&why, "scout", Policy::MustRespond, "mention"),
        said_once(&said, "scout", &["Deploy 42"]),
        ended(&[&why]),
    ];
    Ok(Scene { checks, attention: vec![account(text, why)] })
}

async fn in_pieces(stage: &Stage) -> Result<Scene> {
    const PIECES: [&str; 3] =
        ["@builder could you please", "rename the flag to dry_run,", "and update the docs?"];
    let before = stage.ops.head();
    let mut pieces = Vec::new();
    for text in PIECES {
        if !pieces.is_empty() {
            tokio::time::sleep(TYPING).await;
        }
        pieces.push(say(&stage.bob, &stage.ops, text, None).await?);
    }
    stage.ops.wait(|event| event.seq > before && is_message_of(event, "builder")).await;
    let first = stage.settled(&pieces[0].event_id).await?;
    let second = stage.settled(&pieces[1].event_id).await?;
    let third = stage.settled(&pieces[2].event_id).await?;
    let said = stage.ops.said_by_agents(before);
    let parts = ["could you please", "rename the flag to dry_run,", "and update the docs?"];
    let checks = vec![
        told_only(&first, "builder", Policy::MustRespond, "mention"),
        told_only(&second, "builder", Policy::MustRespond, "continuation"),
        told_only(&third, "builder", Policy::MustRespond, "continuation"),
        said_once(&said, "builder", &parts),
        ended(&[&first, &second, &third]),
    ];
    let accounts = PIECES.into_iter().zip([first, second, third]);
    Ok(Scene { checks, attention: accounts.map(|(text, why)| account(text, why)).collect() })
}

async fn thanks(stage: &Stage) -> Result<Scene> {
    let before = stage.ops.head();
    let answer = stage.ops.log().into_iter().rfind(|event| is_message_of(event, "builder"));
    let answer = answer.map(|event| event.event_id);
    let text = "Thanks, perfect!";
    let thanked = say(&stage.bob, &stage.ops, text, answer.as_deref()).await?;
    let reacted = stage.ops.wait(|event| reaction_on(event, &thanked.event_id)).await;
    let why = stage.settled(&thanked.event_id).await?;
    let said = stage.ops.said_by_agents(before);
    let signal = reacted.as_ref().and_then(|event| event.signal);
    let who = reacted.as_ref().map(|event| event.actor.id.as_str());
    let agreed = (who, signal) == (Some("builder"), Some(Signal::Agree.into()));
    let checks = vec![
        told_only(&why, "builder", Policy::AckOnly, "reply"),
        Check::new("builder reacted with agree", agreed, || format!("{who:?} with {signal:?}")),
        silent(&said),
        ended(&[&why]),
    ];
    Ok(Scene { checks, attention: vec![account(text, why)] })
}

/// What is said to nobody, and then a question: its answer is the next thing that any agent says.
async fn ambient(stage: &Stage) -> Result<Scene> {
    let before = stage.random.head();
    let (text, marker) =
        ("The soup place round the corner is open again.", "@scout is anybody listening here?");
    let said = say(&stage.bob, &stage.random, text, None).await?;
    let asked = say(&stage.alice, &stage.random, marker, None).await?;
    stage.random.wait(|event| answers(event, &asked.event_id)).await;
    let why = stage.settled(&said.event_id).await?;
    let marked = stage.settled(&asked.event_id).await?;
    let agents = stage.random.said_by_agents(before);
    let told = names(&why);
    let to_marker = agents.iter().all(|event| answers(event, &asked.event_id));
    let checks = vec![
        Check::new("nobody was told of it", told.is_empty(), || format!("told {told:?}")),
        Check::new("nobody answered it", to_marker, || "somebody did".to_owned()),
        said_once(&agents, "scout", &["anybody listening"]),
        ended(&[&why, &marked]),
    ];
    Ok(Scene { checks, attention: vec![account(text, why), account(marker, marked)] })
}

async fn by_role(stage: &Stage) -> Result<Scene> {
    let before = stage.ops.head();
    let text = "@reviewers could one of you review the parser change?";
    let asked = say(&stage.alice, &stage.ops, text, None).await?;
    stage.ops.wait(|event| answers(event, &asked.event_id)).await;
    let why = stage.settled(&asked.event_id).await?;
    let said = stage.ops.said_by_agents(before);
    let selected: Vec<_> =
        why.told.iter().filter(|told| told.told.reason == "role_mention").collect();
    let holder = selected.first().map(|told| told.told.member.clone()).unwrap_or_default();
    let checks = vec![
        Check::new("one reviewer was selected", selected.len() == 1, || {
            format!("{} were, of {:?}", selected.len(), names(&why))
        }),
        said_once(&said, &holder, &["the parser change"]),
        ended(&[&why]),
    ];
    Ok(Scene { checks, attention: vec![account(text, why)] })
}

async fn edited(stage: &Stage) -> Result<Scene> {
    let before = stage.ops.head();
    let (old, new) = ("@critic please review module A.", "@critic please review module B.");
    let asked = say(&stage.alice, &stage.ops, old, None).await?;
    let patch = MessagePatch { text: Some(new.to_owned()), ..MessagePatch::default() };
    stage.alice.edit_message(&asked.event_id, &patch).await?;
    let edit = stage.ops.wait(|event| event.seq > before && event.kind == "message_edited").await;
    stage.ops.wait(|event| event.seq > before && is_message_of(event, "critic")).await;
    let first = stage.settled(&asked.event_id).await?;
    let said = stage.ops.said_by_agents(before);
    let answered_old = said.iter().any(|event| text_of(event).contains("module A"));
    let mut scene = Scene::default();
    scene.checks.extend([
        said_once(&said, "critic", &["module B"]),
        Check::new("the first wording was not answered", !answered_old, || "it was".to_owned()),
    ]);
    let Some(edit) = edit else {
        scene.checks.push(Check::new("the edit is in the log", false, || "it is not".to_owned()));
        return Ok(scene);
    };
    let second = stage.settled(&edit.event_id).await?;
    scene.checks.push(ended(&[&first, &second]));
    scene.attention.extend([account(old, first), account(new, second)]);
    Ok(scene)
}

async fn killed(stage: &mut Stage) -> Result<Scene> {
    let before = stage.ops.head();
    let text = "@scout please run the long check.";
    let asked = say(&stage.alice, &stage.ops, text, None).await?;
    let working = stage.ops.wait(|event| reaction_on(event, &asked.event_id)).await;
    stage.agent("scout")?.kill().await;
    stage.show.remark("scout's harness is killed with SIGKILL in the middle of the turn")?;
    let at_work = working.is_some() && stage.ops.said_by_agents(before).is_empty();
    stage.agent("scout")?.begin()?;
    stage.show.remark("it is started again on the same state folder")?;
    stage.ops.wait(|event| answers(event, &asked.event_id)).await;
    let why = stage.settled(&asked.event_id).await?;
    let said = stage.ops.said_by_agents(before);
    let checks = vec![
        Check::new("scout was at work when it was killed", at_work, || {
            "it was not seen to be".to_owned()
        }),
        told_only(&why, "scout", Policy::MustRespond, "mention"),
        said_once(&said, "scout", &["128 of 128"]),
        ended(&[&why]),
    ];
    Ok(Scene { checks, attention: vec![account(text, why)] })
}

async fn eager(stage: &Stage) -> Result<Scene> {
    let before = stage.corner.head();
    let text = "@ping please ask pong something, and never stop asking each other.";
    let begun = say(&stage.alice, &stage.corner, text, None).await?;
    let stopped = |event: &Event| event.told.iter().any(|told| told.reason == "hop_limit");
    stage.corner.wait(stopped).await;
    let first = stage.settled(&begun.event_id).await?;
    let mut checks = Vec::new();
    let mut attention = vec![account(text, first)];
    let said = stage.corner.said_by_agents(before);
    let mut owed_late = Vec::new();
    for (at, event) in said.iter().enumerate() {
        let why = stage.settled(&event.event_id).await?;
        if why.hop >= HOP_NO_OBLIGATION {
            let owes = why.told.iter().filter(|one| one.told.policy == Policy::MustRespond);
            owed_late.extend(owes.map(|one| one.told.member.clone()));
        }
        if why.hop == HOP_NO_OBLIGATION || at + 1 == said.len() {
            attention.push(account(&text_of(event), why));
        }
    }
    let last = attention.last().map(|account| names(&account.why)).unwrap_or_default();
    let person = last.len() == 1 && !["ping", "pong"].contains(&last[0].as_str());
    let open = (stage.open("ping").await?, stage.open("pong").await?);
    let count = stage.corner.said_by_agents(before).len();
    checks.extend([
        Check::new(
            format!("from the message at hop {HOP_NO_OBLIGATION} on nobody had to answer"),
            owed_late.is_empty(),
            || format!("{owed_late:?} had to"),
        ),
        Check::new(
            format!("the chain ended after {HOP_END} messages"),
            count == usize::from(HOP_END),
            || format!("there are {count}"),
        ),
        Check::new("of the last no agent was told, and a person was", person, || {
            format!("told {last:?}")
        }),
        Check::new("neither has anything left to answer", open == (0, 0), || format!("{open:?}")),
    ]);
    Ok(Scene { checks, attention })
}

/// In a room whose answers go into threads: who is asked second sees what the first has said.
async fn in_turns(stage: &Stage) -> Result<Scene> {
    let before = stage.design.head();
    let text = "@scout @builder @critic is the deploy as it should be?";
    let asked = say(&stage.alice, &stage.design, text, None).await?;
    stage.design.wait(|event| event.kind == "reaction_set").await;
    let why = stage.settled(&asked.event_id).await?;
    let said = stage.design.said_by_agents(before);
    let speakers: Vec<_> = said.iter().map(|event| event.actor.id.as_str()).collect();
    let threads: Vec<_> = said.iter().map(|event| event.thread_id.clone()).collect();
    let one_thread = threads.first().is_some_and(Option::is_some);
    let one_thread = one_thread && threads.iter().all(|thread| *thread == threads[0]);
    let first = said.first().map(|event| event.event_id.as_str()).unwrap_or_default();
    let log = stage.design.log();
    let nods: Vec<_> = log.iter().filter(|event| event.kind == "reaction_set").collect();
    let nodded =
        matches!(nods.as_slice(), [one] if one.actor.id == "critic" && reaction_on(one, first));
    let live = stage.operator.turns(&stage.design.id).await?.subjects;
    let checks = vec![
        Check::new("scout spoke, then builder", speakers == ["scout", "builder"], || {
            format!("{speakers:?}")
        }),
        Check::new("both in one thread of the question", one_thread, || format!("{threads:?}")),
        Check::new("critic agreed with scout, and said nothing", nodded, || {
            format!("{} reactions", nods.len())
        }),
        Check::new("nobody has the turn any more", live.is_empty(), || format!("{live:?}")),
        ended(&[&why]),
    ];
    Ok(Scene { checks, attention: vec![account(text, why)] })
}

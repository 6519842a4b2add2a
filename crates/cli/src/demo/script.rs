//! The demo's script: eight things that happen in a room, and what must come of each.
//!
//! That somebody keeps silent is not shown by waiting: the host's account says who was told, every delivery
//! has ended, and what was said afterwards is the next thing in the log.

use std::time::{Duration, Instant};

use chorus_core::attention::Policy;
use chorus_core::reaction::Signal;
use chorus_wire::rest::attention::Why;
use chorus_wire::rest::events::Event;
use chorus_wire::rest::messages::MessagePatch;

use super::expect::{
    answers, ended, is_message_of, names, reaction_on, said_once, silent, text_of, told_only,
};
use super::show::{Check, Step};
use super::stage::{Stage, say};
use crate::failure::Result;
use crate::lines;

/// Between two pieces that somebody types; shorter than the quiet after which a turn begins.
const TYPING: Duration = Duration::from_millis(120);
/// The hop at which a chain of agents' messages is told to nobody.
const HOP_END: usize = chorus_core::limits::HOP_END as usize;

/// What came of a scene: expectations, and the accounts of what people said in it.
#[derive(Default)]
struct Scene {
    checks: Vec<Check>,
    attention: Vec<Why>,
}

const TITLES: [&str; 8] = [
    "A question by @handle is answered by that agent alone",
    "Fragments typed in pieces become one turn",
    "A thank-you is met with a reaction, not a sentence",
    "Ambient talk is answered by nobody",
    "A role mention is answered by exactly one",
    "An edit before the turn is what the agent sees",
    "An agent killed in the middle of a turn comes back and answers once",
    "Two agents told to answer everything stop by themselves",
];

/// Plays all of it.
pub(crate) async fn play(stage: &mut Stage) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for (at, title) in TITLES.into_iter().enumerate() {
        let number = at + 1;
        stage.show.heading(number, title)?;
        let began = Instant::now();
        let scene = match number {
            1 => by_handle(stage).await?,
            2 => in_pieces(stage).await?,
            3 => thanks(stage).await?,
            4 => ambient(stage).await?,
            5 => by_role(stage).await?,
            6 => edited(stage).await?,
            7 => killed(stage).await?,
            _ => eager(stage).await?,
        };
        let took_ms = began.elapsed().as_millis();
        let said = words(stage, &scene.attention).await;
        let step =
            Step { number, title, checks: scene.checks, attention: scene.attention, took_ms };
        stage.show.result(&step, &said)?;
        steps.push(step);
    }
    Ok(steps)
}

async fn by_handle(stage: &Stage) -> Result<Scene> {
    let before = stage.ops.head();
    let asked = say(&stage.alice, &stage.ops, "@scout what is the deploy status?", None).await?;
    stage.ops.wait(|event| answers(event, &asked.event_id)).await;
    let why = stage.settled(&asked.event_id).await?;
    let said = stage.ops.said_by_agents(before);
    let checks = vec![
        told_only(&why, "scout", Policy::MustRespond, "mention"),
        said_once(&said, "scout", &["Deploy 42"]),
        ended(&why),
    ];
    Ok(Scene { checks, attention: vec![why] })
}

async fn in_pieces(stage: &Stage) -> Result<Scene> {
    let before = stage.ops.head();
    let mut pieces = Vec::new();
    let texts =
        ["@builder could you please", "rename the flag to dry_run,", "and update the docs?"];
    for text in texts {
        if !pieces.is_empty() {
            tokio::time::sleep(TYPING).await;
        }
        pieces.push(say(&stage.bob, &stage.ops, text, None).await?);
    }
    let by_builder = |event: &Event| event.seq > before && is_message_of(event, "builder");
    stage.ops.wait(by_builder).await;
    let mut scene = Scene::default();
    for piece in &pieces {
        scene.attention.push(stage.settled(&piece.event_id).await?);
    }
    let said = stage.ops.said_by_agents(before);
    let parts = ["could you please", "rename the flag to dry_run,", "and update the docs?"];
    scene.checks.push(told_only(&scene.attention[0], "builder", Policy::MustRespond, "mention"));
    for why in &scene.attention[1..] {
        scene.checks.push(told_only(why, "builder", Policy::MustRespond, "continuation"));
    }
    scene.checks.push(said_once(&said, "builder", &parts));
    scene.checks.extend(scene.attention.iter().map(ended));
    Ok(scene)
}

async fn thanks(stage: &Stage) -> Result<Scene> {
    let before = stage.ops.head();
    let answer = stage.ops.log().into_iter().rfind(|event| is_message_of(event, "builder"));
    let answer = answer.map(|event| event.event_id);
    let thanked = say(&stage.bob, &stage.ops, "Thanks, perfect!", answer.as_deref()).await?;
    let reacted = stage.ops.wait(|event| reaction_on(event, &thanked.event_id)).await;
    let why = stage.settled(&thanked.event_id).await?;
    let said = stage.ops.said_by_agents(before);
    let signal = reacted.as_ref().and_then(|event| event.signal);
    let who = reacted.as_ref().map(|event| event.actor.id.as_str());
    let checks = vec![
        told_only(&why, "builder", Policy::AckOnly, "reply"),
        Check::new(
            "builder reacted with agree",
            (who, signal) == (Some("builder"), Some(Signal::Agree)),
            || format!("{who:?} reacted with {signal:?}"),
        ),
        silent(&said),
        ended(&why),
    ];
    Ok(Scene { checks, attention: vec![why] })
}

async fn ambient(stage: &Stage) -> Result<Scene> {
    let before = stage.random.head();
    let text = "The soup place round the corner is open again.";
    let said = say(&stage.bob, &stage.random, text, None).await?;
    let marker = "@scout is anybody listening here?";
    let asked = say(&stage.alice, &stage.random, marker, None).await?;
    stage.random.wait(|event| answers(event, &asked.event_id)).await;
    let why = stage.settled(&said.event_id).await?;
    let marked = stage.settled(&asked.event_id).await?;
    let agents = stage.random.said_by_agents(before);
    let told = names(&why);
    let mut unanswered = agents.clone();
    unanswered.retain(|event| answers(event, &said.event_id));
    let checks = vec![
        Check::new("nobody was told of it", told.is_empty(), || format!("told {told:?}")),
        silent(&unanswered),
        said_once(&agents, "scout", &["anybody listening"]),
        ended(&marked),
    ];
    Ok(Scene { checks, attention: vec![why, marked] })
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
        ended(&why),
    ];
    Ok(Scene { checks, attention: vec![why] })
}

async fn edited(stage: &Stage) -> Result<Scene> {
    let before = stage.ops.head();
    let asked = say(&stage.alice, &stage.ops, "@critic please review module A.", None).await?;
    let text = Some("@critic please review module B.".to_owned());
    let patch = MessagePatch { text, ..MessagePatch::default() };
    stage.alice.edit_message(&asked.event_id, &patch).await?;
    let is_edit = |event: &Event| event.seq > before && event.kind == "message_edited";
    let edit = stage.ops.wait(is_edit).await;
    let by_critic = |event: &Event| event.seq > before && is_message_of(event, "critic");
    stage.ops.wait(by_critic).await;
    let first = stage.settled(&asked.event_id).await?;
    let mut scene = Scene { checks: vec![ended(&first)], attention: vec![first] };
    if let Some(edit) = edit {
        let why = stage.settled(&edit.event_id).await?;
        scene.checks.push(ended(&why));
        scene.attention.push(why);
    }
    let said = stage.ops.said_by_agents(before);
    scene.checks.push(said_once(&said, "critic", &["module B"]));
    let old = said.iter().any(|event| text_of(event).contains("module A"));
    scene
        .checks
        .push(Check::new("the first wording was not answered", !old, || "it was".to_owned()));
    Ok(scene)
}

async fn killed(stage: &mut Stage) -> Result<Scene> {
    let before = stage.ops.head();
    let text = "@scout please run the long check.";
    let asked = say(&stage.alice, &stage.ops, text, None).await?;
    let working = stage.ops.wait(|event| reaction_on(event, &asked.event_id)).await;
    stage.agent("scout")?.kill().await;
    stage.show.remark("scout's harness is killed with SIGKILL in the middle of the turn")?;
    let silent_yet = stage.ops.said_by_agents(before).is_empty();
    stage.agent("scout")?.begin()?;
    stage.show.remark("it is started again on the same state folder")?;
    stage.ops.wait(|event| answers(event, &asked.event_id)).await;
    let why = stage.settled(&asked.event_id).await?;
    let said = stage.ops.said_by_agents(before);
    let checks = vec![
        Check::new("scout was at work when it was killed", working.is_some() && silent_yet, || {
            "it was not seen to be".to_owned()
        }),
        told_only(&why, "scout", Policy::MustRespond, "mention"),
        said_once(&said, "scout", &["128 of 128"]),
        ended(&why),
    ];
    Ok(Scene { checks, attention: vec![why] })
}

async fn eager(stage: &Stage) -> Result<Scene> {
    let before = stage.corner.head();
    let text = "@ping please ask pong something, and never stop asking each other.";
    let begun = say(&stage.alice, &stage.corner, text, None).await?;
    let stopped = |event: &Event| event.told.iter().any(|told| told.reason == "hop_limit");
    let last = stage.corner.wait(stopped).await;
    let mut scene =
        Scene { attention: vec![stage.settled(&begun.event_id).await?], ..Scene::default() };
    let said = stage.corner.said_by_agents(before);
    for event in &said {
        stage.settled(&event.event_id).await?;
    }
    let open = (stage.open("ping").await?, stage.open("pong").await?);
    let after = stage.corner.said_by_agents(before).len();
    let Some(last) = last else {
        scene.checks.push(Check::new("the chain ended", false, || format!("{after} messages")));
        return Ok(scene);
    };
    let why = stage.settled(&last.event_id).await?;
    let (told, agents) = (names(&why), ["ping", "pong"]);
    let person = told.len() == 1 && !agents.contains(&told[0].as_str());
    scene.checks.extend([
        Check::new(format!("the chain ended after {HOP_END} messages"), after == HOP_END, || {
            format!("there were {after}")
        }),
        Check::new("of the last, no agent was told, and a person was", person, || {
            format!("{told:?}")
        }),
        Check::new("neither has anything left to answer", open == (0, 0), || format!("{open:?}")),
    ]);
    scene.attention.push(why);
    Ok(scene)
}

/// What was said in the messages that are accounted for.
async fn words(stage: &Stage, attention: &[Why]) -> Vec<String> {
    let mut said = Vec::new();
    for why in attention {
        let message = stage.operator.message(&why.event_id).await;
        said.push(message.as_ref().map(lines::said).unwrap_or_default());
    }
    said
}

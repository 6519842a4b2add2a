//! What agents may say without a person: budgets of a line, and stimuli.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::scene::{SOON, Scene, brief};
use crate::referee::house::{Said, text};
use crate::referee::rules::{EVENTS_BOUNDED, INITIATIVE};

/// A stimulus is claimed, and said a moment later.
const SAID: Duration = Duration::from_secs(15);

/// An agent's events that each oblige another come to an end.
pub(super) async fn events(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (bot, agent) = scene.online().await?;
    let aide = scene.agent().await?;
    let budget = scene.chance.within(2..5) as usize;
    let patch = json!({ "agent_budget": budget });
    let room = scene.house.room(&[&ann, &bot, &aide], patch).await?;
    let thread = json!({ "conversation": room, "title": "the release", "type": "workflow" });
    let thread = text(&scene.house.op("POST", "/v1/threads", thread).await?, "id")?;
    let kinds = ["fix_pushed", "re_review_requested", "finding_reported"];
    let mut taken = Vec::new();
    let mut end = None;
    for number in 0..budget + 6 {
        let kind = kinds[scene.chance.index(kinds.len())];
        let event = json!({
            "thread_id": thread,
            "schema_version": 1,
            "kind": "event",
            "body": format!("@{} can you check item {number}?", aide.id),
            "metadata": { "event_type": kind, "finding_id": format!("f-{number}") },
            "idempotency_key": format!("event-{number}"),
        });
        match agent.tool("post_message", event).await {
            Said::Given(posted) => taken.push(text(&posted, "message_id")?.replace("msg_", "evt_")),
            refused => {
                end = Some(refused);
                break;
            }
        }
    }
    if let Some(last) = taken.last() {
        let told = scene.house.told(last, &aide.id).await?;
        if told["policy"] != "must_respond" {
            return Err(format!("an event that asks obliges nobody: {told}"));
        }
    }
    if let Some(other) = end.as_ref().filter(|end| end.code() != Some("REPLY_BUDGET_SPENT")) {
        return Err(format!("event {} of {budget}: {}", taken.len() + 1, brief(other)));
    }
    let seen = || format!("{} events that oblige somebody, of a budget of {budget}", taken.len());
    let expected = "events that oblige somebody end with the line's budget";
    scene.expect(EVENTS_BOUNDED, end.is_some() && taken.len() <= budget, expected, seen, &[]);
    Ok(())
}

/// In a quiet period a stimulus of an undertaking that has a live thread is said there at once.
pub(super) async fn initiative(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (bot, aide) = (scene.agent().await?, scene.agent().await?);
    let room = scene.turn_room(&[&ann, &bot, &aide]).await?;
    let thread = json!({ "conversation": room, "title": "moving the cache" });
    let thread = text(&scene.house.op("POST", "/v1/threads", thread).await?, "id")?;
    let key = format!("cache-{}", scene.house.number());
    let work = json!({ "initiative_key": key, "status": "active" });
    scene.house.op("PATCH", &format!("/v1/threads/{thread}/work"), work).await?;
    let queue = format!("/v1/channels/{room}/stimuli");
    // The first one opens a subject, and quiet begins.
    let root = json!({ "kind": "agent_idea", "text": "Shall we look at the build as well?" });
    let root = scene.house.ask(&bot.token, "POST", &queue, &root).await.given()?;
    state(scene, &queue, &root, SAID).await?.ok_or("a first stimulus is not said")?;
    let waits = json!({ "kind": "agent_idea", "text": "And at the docs?" });
    let waits = scene.house.ask(&aide.token, "POST", &queue, &waits).await.given()?;
    scene.stir(&room).await;
    let on = json!({ "kind": "agent_idea", "text": "The second half has moved.", "initiative_key": key });
    let began = Instant::now();
    let on = scene.house.ask(&bot.token, "POST", &queue, &on).await.given()?;
    let said = state(scene, &queue, &on, SAID).await?;
    let now = scene.house.op("GET", &format!("{queue}/{}", text(&on, "id")?), Value::Null).await?;
    let seen = || format!("after {:?}: {now}", began.elapsed());
    let expected = "a stimulus of a live undertaking is said at once";
    scene.expect(INITIATIVE, said.is_some(), expected, seen, &[]);
    if said.is_some() {
        let log = scene.house.log(&room).await?;
        let entry = log.iter().find(|event| event["event_id"] == now["event_id"]);
        let place = entry.map(|event| event["message"]["thread_id"].clone()).unwrap_or_default();
        let seen = || format!("it was said in {place}, not in {thread}");
        let there = place == json!(thread);
        scene.expect(INITIATIVE, there, "it goes on in the thread it has", seen, &[]);
    }
    let still =
        scene.house.op("GET", &format!("{queue}/{}", text(&waits, "id")?), Value::Null).await?;
    let seen = || still.to_string();
    let expected = "another waits for the quiet to end";
    scene.expect(INITIATIVE, still["state"] == "pending", expected, seen, &[]);
    Ok(())
}

/// Waits until a stimulus was said.
async fn state(
    scene: &Scene,
    queue: &str,
    stimulus: &Value,
    limit: Duration,
) -> Result<Option<()>, String> {
    let path = format!("{queue}/{}", text(stimulus, "id")?);
    scene
        .until(limit.max(SOON / 4), async || {
            let now = scene.house.op("GET", &path, Value::Null).await?;
            Ok((now["state"] == "dispatched").then_some(()))
        })
        .await
}

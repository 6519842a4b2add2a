//! Calls in turns that are over: each is refused and changes nothing.

use serde_json::{Value, json};

use super::scene::{SOON, Scene};
use crate::referee::agent::{Agent, Offer, answer};
use crate::referee::house::{Said, text};
use crate::referee::rules::{NOTHING, STALE};

/// A turn that was taken away, or whose message was edited, is good for nothing.
pub(super) async fn stale(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (bot, agent) = scene.online().await?;
    let room = scene.turn_room(&[&ann, &bot]).await?;
    let thread = json!({ "conversation": room, "title": "the deploy" });
    let thread = text(&scene.house.op("POST", "/v1/threads", thread).await?, "id")?;
    let words = format!("@{} {}", bot.id, scene.question());
    let question = json!({ "conversation": room, "thread": thread, "text": words });
    let asked = scene.post(&ann, question).await?;
    let event = text(&asked, "event_id")?;
    let offer = agent.take(&event, SOON).await?;
    let how = ["taken away", "edited"][scene.chance.index(2)];
    if how == "taken away" {
        let path = format!("/v1/channels/{room}/turns/{thread}/{}", bot.id);
        scene.house.op("DELETE", &path, Value::Null).await?;
    } else {
        let path = format!("/v1/messages/{}", event.replace("evt_", "msg_"));
        let words = json!({ "text": format!("@{} could you look at staging instead?", bot.id) });
        scene.house.ask(&ann.token, "PATCH", &path, &words).await.given()?;
    }
    // What comes of the end itself stands in the log before the calls do.
    let time = scene.chance.millis(200..600);
    scene.pass(time).await;
    let mut calls = CALLS.to_vec();
    let mut was_given = false;
    while !calls.is_empty() {
        let call = calls.remove(scene.chance.index(calls.len()));
        let before = own(scene, &room, &bot.id).await?;
        let said = made(scene, &agent, &offer, &room, &thread, call).await;
        let what = format!("{call} in a turn that was {how}");
        // Over REST a turn's token may set no reaction at all, which is as good.
        let code = match (call, said.code()) {
            ("PUT reaction", Some("FORBIDDEN")) => "FORBIDDEN",
            _ => "STALE_TURN",
        };
        scene.refused(STALE, &what, code, said.clone(), &[&event]);
        was_given |= said.code().is_none();
        let after = own(scene, &room, &bot.id).await?;
        // What was given before may have its own consequences now.
        if !was_given {
            let seen = || format!("{what}: {before} entries, then {after}");
            let same = before == after;
            scene.expect(NOTHING, same, "a refused call changes nothing", seen, &[&event]);
        }
    }
    Ok(())
}

const CALLS: [&str; 8] = [
    "chat.send_message",
    "chat.react",
    "PUT reaction",
    "set_channel_reaction",
    "emit_output",
    "PATCH work",
    "PATCH progress",
    "stimulus",
];

async fn made(
    scene: &Scene,
    agent: &Agent,
    offer: &Offer,
    room: &str,
    thread: &str,
    call: &str,
) -> Said {
    let token = offer.turn().as_str().unwrap_or_default();
    let message = offer.event().replace("evt_", "msg_");
    let work = format!("/v1/threads/{thread}/work");
    match call {
        "chat.send_message" => agent.tool(call, answer(offer, "Still here.")).await,
        "chat.react" => agent.react(offer, "agree").await,
        "PUT reaction" => {
            let path = format!("/v1/messages/{message}/reactions/unclear");
            scene.house.ask(token, "PUT", &path, &Value::Null).await
        }
        "set_channel_reaction" => {
            let nod = json!({ "message_id": message, "signal": "blocked", "turn": token });
            agent.tool(call, nod).await
        }
        "emit_output" => agent.tool(call, json!({ "text": "Still here.", "turn": token })).await,
        "PATCH work" => {
            scene.house.ask(token, "PATCH", &work, &json!({ "topic_kind": "deploy" })).await
        }
        "PATCH progress" => {
            let progress = json!({ "progress": { "key": "run", "text": "half", "percent": 50 } });
            scene.house.ask(token, "PATCH", &work, &progress).await
        }
        _ => {
            let idea = json!({ "channel_id": room, "kind": "agent_idea", "text": "Shall we?", "turn": token });
            agent.tool("create_channel_stimulus", idea).await
        }
    }
}

/// How many entries of the room's log, and stimuli of its queue, are this member's.
async fn own(scene: &Scene, room: &str, member: &str) -> Result<usize, String> {
    let log = scene.house.log(room).await?;
    let said = log.iter().filter(|event| event["actor"]["id"] == member).count();
    let queue = scene.house.op("GET", &format!("/v1/channels/{room}/stimuli"), Value::Null).await?;
    let queue = queue["stimuli"].as_array().into_iter().flatten();
    Ok(said + queue.filter(|stimulus| stimulus["source"] == member).count())
}

/// Calls that are refused for other reasons change nothing either.
pub(super) async fn refused(scene: &mut Scene) -> Result<(), String> {
    let (ann, eve) = (scene.person().await?, scene.person().await?);
    let (bot, agent) = scene.online().await?;
    let room = scene.turn_room(&[&ann, &bot]).await?;
    let offer = scene.asked(&ann, &room, &bot, &agent).await?;
    let (event, message) = (offer.event().to_owned(), offer.event().replace("evt_", "msg_"));
    // That the agent has taken it up is no consequence of the calls.
    let accepted = async || {
        let receipt = scene.receipt(&event, &bot).await?;
        Ok((receipt["state"] == "accepted").then_some(()))
    };
    scene.until(SOON, accepted).await?.ok_or("the run did not begin")?;
    let mut calls = vec![
        (&eve.token, "PATCH", format!("/v1/messages/{message}"), json!({ "text": "no" })),
        (&eve.token, "DELETE", format!("/v1/messages/{message}"), Value::Null),
        (&bot.token, "PATCH", format!("/v1/channels/{room}"), json!({ "title": "mine" })),
        (&ann.token, "PATCH", format!("/v1/messages/{message}"), json!({ "words": "no" })),
        (&ann.token, "PUT", format!("/v1/messages/{message}/reactions/happy"), Value::Null),
        (
            &ann.token,
            "POST",
            "/v1/messages".to_owned(),
            json!({ "conversation": room, "text": "keyless" }),
        ),
        (
            &bot.token,
            "DELETE",
            format!("/v1/channels/{room}/turns/{event}/{}", bot.id),
            Value::Null,
        ),
        (
            &bot.token,
            "POST",
            format!("/v1/channels/{room}/stimuli"),
            json!({ "kind": "schedule_fire", "text": "no" }),
        ),
        (
            &ann.token,
            "POST",
            format!("/v1/channels/{room}/stimuli"),
            json!({ "kind": "agent_idea", "text": " " }),
        ),
        (&bot.token, "PATCH", format!("/v1/channels/{room}"), json!({ "archived": true })),
    ];
    while !calls.is_empty() {
        let (token, method, path, body) = calls.remove(scene.chance.index(calls.len()));
        let before = shown(scene, &room, &event).await?;
        let said = scene.house.ask(token, method, &path, &body).await;
        let what = format!("{method} {path} {body}");
        if said.code().is_none() {
            return Err(format!("{what} is not refused: {said:?}"));
        }
        let after = shown(scene, &room, &event).await?;
        let seen = || format!("{what}: {before} and then {after}");
        scene.expect(NOTHING, before == after, "a refused call changes nothing", seen, &[&event]);
    }
    Ok(())
}

/// The room, its turns, its queue and what is owed for an event.
async fn shown(scene: &Scene, room: &str, event: &str) -> Result<Value, String> {
    let mut all = Vec::new();
    for path in ["", "/turns", "/stimuli", "/feed"] {
        let path = format!("/v1/channels/{room}{path}");
        all.push(scene.house.get(&scene.house.operator, &path).await?);
    }
    all.push(scene.house.attention(event).await?);
    Ok(Value::Array(all))
}

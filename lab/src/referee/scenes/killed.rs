//! What must outlive a host: each scene has one of its own, and kills it.

use serde_json::{Value, json};

use super::scene::{SOON, Scene, brief};
use crate::referee::agent::{Agent, Offer};
use crate::referee::house::{Member, Said, text};
use crate::referee::rules::{COOLDOWN, KEPT, PASSED};

/// What a run put out and was kept is said when it ends, though it lost its connection, or the host was killed.
pub(super) async fn kept(scene: &mut Scene) -> Result<(), String> {
    let mut manners = ["reconnect", "kill", "both"].to_vec();
    while !manners.is_empty() {
        let ann = scene.person().await?;
        let (bot, mut agent) = scene.online().await?;
        let room = scene.turn_room(&[&ann, &bot]).await?;
        let manner = manners.remove(scene.chance.index(manners.len()));
        let mut offer = scene.asked(&ann, &room, &bot, &agent).await?;
        let event = offer.event().to_owned();
        let words = format!("All is well, as of number {}.", scene.house.number());
        let out = json!({ "text": words, "turn": offer.turn() });
        let kept = agent.tool("emit_output", out).await.given()?;
        if kept["kept"] != true {
            return Err(format!("emit_output gives {kept}"));
        }
        let time = scene.chance.millis(50..1_500);
        scene.pass(time).await;
        let session = agent.session.clone();
        agent.drop_connection();
        if manner != "reconnect" {
            scene.house.kill()?;
            scene.house.start()?;
        }
        agent = Agent::connect(&scene.house, &bot, Some(&session)).await?;
        if let Some(again) = agent.offer_of(&event, SOON).await {
            agent.accept(&again).await;
            offer = again;
        }
        if manner == "both" {
            agent.drop_connection();
            agent = Agent::connect(&scene.house, &bot, Some(&session)).await?;
            if let Some(again) = agent.offer_of(&event, SOON).await {
                agent.accept(&again).await;
                offer = again;
            }
        }
        let end = ["ignored", "acknowledged"][scene.chance.index(2)];
        let said = agent.dispose(&offer, end).await;
        let spoken = scene.words(&room, &bot).await?;
        let count = spoken.iter().filter(|spoken| **spoken == words).count();
        let seen = || format!("{manner}, then {end} ({}): it was said {count} times", brief(&said));
        scene.expect(KEPT, count == 1, "what was kept is said when the run ends", seen, &[&event]);
    }
    Ok(())
}

/// Who has spoken rests, and the host being killed does not wake it.
pub(super) async fn cooldown(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (bot, agent) = scene.online().await?;
    let patch = json!({ "replies": "thread", "turns": { "cooldown_ms": 3_600_000 } });
    let room = scene.house.room(&[&ann, &bot], patch).await?;
    let offer = scene.asked(&ann, &room, &bot, &agent).await?;
    let said = agent.reply(&offer, "It is fine.").await.given()?;
    let thread = text(&said, "threadId")?;
    let before = unasked(scene, &bot, &room, &thread).await;
    let seen = || format!("before the restart: {}", brief(&before));
    let rests = before.code() == Some("RATE_LIMITED");
    scene.expect(COOLDOWN, rests, "who has spoken and speaks unasked is RATE_LIMITED", seen, &[]);
    let time = scene.chance.millis(50..1_500);
    scene.pass(time).await;
    scene.house.kill()?;
    scene.house.start()?;
    let after = unasked(scene, &bot, &room, &thread).await;
    let seen = || format!("before a kill: {}, after it: {}", brief(&before), brief(&after));
    let rests = after.code() == Some("RATE_LIMITED");
    scene.expect(COOLDOWN, rests, "who rests does so after a restart", seen, &[]);
    Ok(())
}

async fn unasked(scene: &Scene, bot: &Member, room: &str, thread: &str) -> Said {
    let words = json!({
        "conversation": room,
        "thread": thread,
        "text": "And another thing: the cache is warm.",
        "idempotency_key": format!("unasked-{}", scene.house.number()),
    });
    scene.house.ask_until(&bot.token, "POST", "/v1/messages", &words).await
}

/// A turn and who waits for it outlive the host, and the turn passes afterwards.
pub(super) async fn turn(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (bot, agent) = scene.online().await?;
    let (aide, other) = scene.online().await?;
    let room = scene.turn_room(&[&ann, &bot, &aide]).await?;
    let event = scene.ask(&ann, &room, &[&bot, &aide]).await?;
    let (mine, first): (bool, Offer) = tokio::select! {
        Some(offer) = agent.offer_of(&event, SOON) => (true, offer),
        Some(offer) = other.offer_of(&event, SOON) => (false, offer),
        else => return Err(format!("nobody was offered {event}")),
    };
    let (holder, waiter) = if mine { (&agent, &other) } else { (&other, &agent) };
    holder.accept(&first).await;
    let sessions = [&holder.session, &waiter.session].map(String::clone);
    let before = places(scene, &room).await?;
    scene.house.kill()?;
    scene.house.start()?;
    let after = places(scene, &room).await?;
    let seen = || format!("{before}, then {after}");
    scene.expect(PASSED, before == after, "turns stand as they stood", seen, &[&event]);
    let (held, waits) = if mine { (&bot, &aide) } else { (&aide, &bot) };
    let holder = Agent::connect(&scene.house, held, Some(&sessions[0])).await?;
    let waiter = Agent::connect(&scene.house, waits, Some(&sessions[1])).await?;
    let offer = holder.take(&event, SOON).await?;
    holder.dispose(&offer, "ignored").await.given()?;
    let next = waiter.offer_of(&event, SOON).await;
    let seen = || "the next was not asked".to_owned();
    scene.expect(PASSED, next.is_some(), "a turn passes after a restart, too", seen, &[&event]);
    Ok(())
}

/// Who holds and who waits, by name.
async fn places(scene: &Scene, room: &str) -> Result<Value, String> {
    let subjects = scene.house.turns(room).await?;
    let names = |subject: &Value, list: &str| -> Vec<Value> {
        let all = subject[list].as_array().into_iter().flatten();
        all.map(|place| place["member"].clone()).collect()
    };
    let shown = subjects.iter();
    let shown =
        shown.map(|s| json!({ "holders": names(s, "holders"), "waiting": names(s, "waiting") }));
    Ok(shown.collect())
}

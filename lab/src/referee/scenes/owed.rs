//! Obligations of agents that do not simply answer.

use std::time::Duration;

use serde_json::{Value, json};

use super::scene::{SOON, Scene, brief};
use crate::referee::house::{Said, text};
use crate::referee::rules::{
    ASKER_TOLD, ESCALATED, HANDED_ON, HAS_MORE, LATE_ACK, NODDED, OWED_LISTED, PUT_OFF, SAME_EDIT,
};
use crate::referee::time::millis;

/// The deadline of an obligation, from its event on.
const DEADLINE_MS: i64 = 300_000;
/// How long a claim lives that nobody renews, and a minute on top: what is let go of is let go of by then.
const CLAIM_OVER: Duration = Duration::from_secs(90 + 75);
/// How long a host may take for what is due at a time.
const DUE: Duration = Duration::from_secs(20);

/// Who says that it is at work and then nothing more owes its answer still, and it moves on in the end.
pub(super) async fn nodded(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (bot, agent) = scene.online().await?;
    let room = scene.house.room(&[&ann, &bot], json!({})).await?;
    let offer = scene.asked(&ann, &room, &bot, &agent).await?;
    let event = offer.event().to_owned();
    let signal = ["working", "claimed"][scene.chance.index(2)];
    agent.react(&offer, signal).await.given()?;
    scene.pass(CLAIM_OVER).await;
    let receipt = scene.receipt(&event, &bot).await?;
    let moved = scene.moved_to(&event).await?;
    let owed = receipt["state"] != "settled" || !moved.is_empty();
    let seen =
        || format!("{signal}, then quiet for {CLAIM_OVER:?}: {receipt}, nobody else was asked");
    scene.expect(NODDED, owed, "what was taken on and not done is owed still", seen, &[&event]);
    Ok(())
}

/// A late acknowledgement, and a second one, leave the deadline where it was.
pub(super) async fn late_ack(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (bot, agent) = scene.online().await?;
    let room = scene.house.room(&[&ann, &bot], json!({})).await?;
    let event = scene.ask(&ann, &room, &[&bot]).await?;
    let first = agent.offer_of(&event, SOON).await.ok_or("no offer")?;
    let due = |open: &Option<Value>| open.as_ref().map(|of| millis(&of["due_at"])).transpose();
    let asked = scene.open(&event, &bot).await?.ok_or("an unanswered event is not open")?;
    let (created, before) = (millis(&asked["created_at"])?, millis(&asked["due_at"])?);
    let in_time = |due: i64| (due - created - DEADLINE_MS).abs() <= 2_000;
    let seen = |when: &str, due: i64| format!("{when}: due {} ms after the event", due - created);
    let expected = "an answer is due 300 s after its event";
    scene.expect(LATE_ACK, in_time(before), expected, || seen("at once", before), &[&event]);
    // Later than the host waits for an acknowledgement, so that it has offered it again.
    let late = scene.chance.millis(11_500..13_000);
    scene.pass(late).await;
    agent.accept(&first).await;
    scene.pass(Duration::from_secs(1)).await;
    if let Some(late) = due(&scene.open(&event, &bot).await?)? {
        scene.expect(
            LATE_ACK,
            in_time(late),
            expected,
            || seen("after a late ack", late),
            &[&event],
        );
    }
    scene.stir(&room).await;
    scene.pass(Duration::from_secs(4)).await;
    let second = agent.offer_of(&event, Duration::from_millis(50)).await.unwrap_or(first);
    agent.accept(&second).await;
    agent.accept(&second).await;
    scene.pass(Duration::from_secs(1)).await;
    if let Some(twice) = due(&scene.open(&event, &bot).await?)? {
        scene.expect(
            LATE_ACK,
            in_time(twice),
            expected,
            || seen("after two acks", twice),
            &[&event],
        );
    }
    Ok(())
}

/// What nobody answers moves to somebody else at its deadline, however it was acknowledged. It is offered again before that.
pub(super) async fn escalated(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (bot, agent) = scene.online().await?;
    let (lead, _lead) = scene.online().await?;
    let room = scene
        .house
        .room(&[&ann, &bot, &lead], json!({ "lead": lead.id, "replies": "line" }))
        .await?;
    let event = scene.ask(&ann, &room, &[&bot]).await?;
    let first = agent.offer_of(&event, SOON).await.ok_or("no offer")?;
    let manner = ["at once", "late", "twice", "each time"][scene.chance.index(4)];
    if manner == "late" {
        scene.pass(Duration::from_millis(12_000)).await;
    }
    agent.accept(&first).await;
    if manner == "twice" {
        scene.pass(Duration::from_secs(5)).await;
        agent.accept(&first).await;
    }
    let began = std::time::Instant::now();
    let mut again = 0;
    let limit = Duration::from_millis(DEADLINE_MS as u64) + DUE;
    let moved = scene
        .until(limit, async || {
            if let Some(offer) = agent.offer_of(&event, Duration::from_secs(1)).await {
                again += 1;
                if manner != "at once" {
                    agent.accept(&offer).await;
                }
            }
            Ok(Some(scene.moved_to(&event).await?).filter(|moved| !moved.is_empty()))
        })
        .await?;
    let took = began.elapsed().as_secs();
    let seen = || format!("acknowledged {manner}: nobody else was asked within {took} s");
    let expected = "what nobody answers moves on 300 s after its event";
    scene.expect(ESCALATED, moved.is_some(), expected, seen, &[&event]);
    let seen = || format!("offered again {again} times before its deadline");
    scene.expect(ESCALATED, again >= 2, "it is offered again at 60 s and 120 s", seen, &[&event]);
    if let Some(moved) = moved {
        let right = moved == [lead.id.clone()];
        let seen = || format!("it moved to {moved:?}");
        scene.expect(ESCALATED, right, "it moves to the channel's lead alone", seen, &[&event]);
    }
    Ok(())
}

/// What is put off has a time at which it comes back, and comes back then.
pub(super) async fn put_off(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (bot, agent) = scene.online().await?;
    let room = scene.house.room(&[&ann, &bot], json!({})).await?;
    let mut manners = ["queued", "blocked", "defer", "until"].to_vec();
    while !manners.is_empty() {
        let manner = manners.remove(scene.chance.index(manners.len()));
        let offer = scene.asked(&ann, &room, &bot, &agent).await?;
        let event = offer.event().to_owned();
        let said = match manner {
            "defer" => {
                let args =
                    json!({ "eventId": event, "reason": "after the deploy", "turn": offer.turn() });
                agent.tool("chat.defer", args).await
            }
            "until" => {
                let args = json!({ "eventId": event, "reason": "in a moment", "until": "4s", "turn": offer.turn() });
                agent.tool("chat.defer", args).await
            }
            signal => agent.react(&offer, signal).await,
        };
        said.given().map_err(|e| format!("{manner}: {e}"))?;
        let receipt = scene.receipt(&event, &bot).await?;
        let until = millis(&receipt["deferred_until"]).ok();
        let seen = || format!("{manner}: {receipt}");
        let expected = "what is put off shows until when";
        let shown = receipt["state"] != "settled" && until.is_some();
        scene.expect(PUT_OFF, shown, expected, seen, &[&event]);
        if manner == "until" {
            let back = agent.offer_of(&event, DUE).await;
            let seen = || "it did not come back".to_owned();
            scene.expect(
                PUT_OFF,
                back.is_some(),
                "what was put off for 4 s comes back",
                seen,
                &[&event],
            );
            if let Some(back) = back {
                let (was, is) = (&offer.params["turn"]["fence"], &back.params["turn"]["fence"]);
                let risen = was.as_u64() < is.as_u64();
                let seen = || format!("fence {was}, then {is}");
                scene.expect(PUT_OFF, risen, "it comes back with the next fence", seen, &[&event]);
            }
        }
    }
    Ok(())
}

/// A member that must answer and declines hands its obligation on.
pub(super) async fn declined(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (bot, agent) = scene.online().await?;
    let (lead, chief) = scene.online().await?;
    let room = scene.house.room(&[&ann, &bot, &lead], json!({ "lead": lead.id })).await?;
    let mut manners = ["ignored", "superseded", "failed", "declined"].to_vec();
    while !manners.is_empty() {
        let manner = manners.remove(scene.chance.index(manners.len()));
        let offer = scene.asked(&ann, &room, &bot, &agent).await?;
        let event = offer.event().to_owned();
        scene.stir(&room).await;
        let said = match manner {
            "declined" => agent.react(&offer, manner).await,
            _ => agent.dispose(&offer, manner).await,
        };
        if matches!(said, Said::Lost) {
            return Err(format!("{manner}: no answer"));
        }
        let moved = chief.offer_of(&event, SOON).await;
        let receipt = scene.receipt(&event, &bot).await?;
        // A host that refuses such an end has it owed still, which is as good.
        let owed = receipt["state"] != "settled" && scene.open(&event, &bot).await?.is_some();
        let seen = || format!("{manner} ({}): {receipt}, the lead was not asked", brief(&said));
        let expected = "what its holder declines goes to the lead";
        scene.expect(HANDED_ON, moved.is_some() || owed, expected, seen, &[&event]);
        if let Some(moved) = moved {
            chief.accept(&moved).await;
            chief.reply(&moved, "It is done.").await.given()?;
        }
    }
    Ok(())
}

/// An agent asks another, which declines: the one that asked is told.
pub(super) async fn asker_told(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (asker, asking) = scene.online().await?;
    let (bot, agent) = scene.online().await?;
    let room = scene.house.room(&[&ann, &asker, &bot], json!({})).await?;
    let offer = scene.asked(&ann, &room, &asker, &asking).await?;
    let words = format!("@{} {}", bot.id, scene.question());
    let mut args = crate::referee::agent::answer(&offer, &words);
    args["directedness"] = json!("to_me");
    let asked = asking.tool("chat.send_message", args).await.given()?;
    let event = text(&asked, "eventId")?;
    let question = agent.take(&event, SOON).await?;
    if question.policy() != "must_respond" {
        return Err(format!("an agent's question is {} for the one it names", question.policy()));
    }
    let said = match scene.chance.index(2) {
        0 => agent.react(&question, "declined").await,
        _ => agent.dispose(&question, "ignored").await,
    };
    said.given()?;
    let told = asking.offer(SOON).await;
    let seen = || "nothing was delivered to the one that asked".to_owned();
    scene.expect(ASKER_TOLD, told.is_some(), "who asked is told of the decline", seen, &[&event]);
    Ok(())
}

/// After an edit the list of what waits has the event that is owed; the same edit again is no event.
pub(super) async fn edited(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (bot, agent) = scene.online().await?;
    let room = scene.house.room(&[&ann, &bot], json!({})).await?;
    let offer = scene.asked(&ann, &room, &bot, &agent).await?;
    let message = offer.event().replace("evt_", "msg_");
    let words = format!("@{} could you look at the staging deploy as well?", bot.id);
    let (path, patch) = (format!("/v1/messages/{message}"), json!({ "text": words }));
    scene.house.ask(&ann.token, "PATCH", &path, &patch).await.given()?;
    let edit = agent.offer_that(SOON, |offer| offer.params["replaces"].is_string()).await;
    let edit = edit.ok_or("an edit before the answer is not offered")?;
    agent.accept(&edit).await;
    let owed = edit.event().to_owned();
    let listed = agent.tool("chat.list_events", json!({ "unsettled": true })).await.given()?;
    let events: Vec<_> = ids(&listed);
    let seen = || format!("owed {owed}, listed {events:?}");
    let expected = "what is owed after an edit is listed by its event";
    scene.expect(OWED_LISTED, events.contains(&owed), expected, seen, &[offer.event(), &owed]);
    let before = scene.length(&room).await?;
    scene.stir(&room).await;
    scene.house.ask(&ann.token, "PATCH", &path, &patch).await.given()?;
    let after = scene.length(&room).await?;
    let again = agent.offer(Duration::from_millis(700)).await;
    let seen = || format!("seq {before}, then {after}; offered again: {}", again.is_some());
    let same = before == after && again.is_none();
    scene.expect(SAME_EDIT, same, "the same edit again is no event", seen, &[&owed]);
    let replied = agent.reply(&edit, "Both are fine.").await;
    let settled = scene.receipt(&owed, &bot).await?;
    let seen = || format!("{}: {settled}", brief(&replied));
    let done = settled["disposition"] == "responded";
    scene.expect(OWED_LISTED, done, "an answer to the edit settles it", seen, &[&owed]);
    Ok(())
}

/// Pages say that there is more when there is. What there is, each event's own page says.
pub(super) async fn has_more(scene: &mut Scene) -> Result<(), String> {
    let (ann, eve) = (scene.person().await?, scene.person().await?);
    let (bot, agent) = scene.online().await?;
    let room = scene.house.room(&[&ann, &eve, &bot], json!({})).await?;
    let (mut open, mut must) = (0, 0);
    for _ in 0..scene.chance.within(3..7) {
        for _ in 0..scene.chance.within(0..3) {
            scene.say(&eve, &room, "For the record, the build went through.").await?;
        }
        let event = scene.ask(&ann, &room, &[&bot]).await?;
        let offer = agent.take(&event, SOON).await?;
        if scene.chance.one_in(4) {
            agent.reply(&offer, "It is fine.").await.given()?;
        }
    }
    for _ in 0..scene.chance.within(0..4) {
        scene.say(&eve, &room, "For the record, the build went through.").await?;
    }
    for entry in scene.house.log(&room).await? {
        let event = text(&entry, "event_id")?;
        if entry["type"] != "message_posted" || entry["actor"]["id"] == json!(bot.id) {
            continue;
        }
        let told = scene.house.told(&event, &bot.id).await?;
        must += usize::from(told["policy"] == "must_respond");
        let state = told["receipt"]["state"].as_str().unwrap_or("settled");
        open += usize::from(state != "settled");
    }
    let filters = [
        (json!({ "unsettled": true }), open),
        (json!({ "unsettled": true, "conversation": room }), open),
        (json!({ "policy": "must_respond", "conversation": room }), must),
    ];
    for (filter, there) in filters {
        for limit in [there.saturating_sub(1).max(1), there.max(1), there + 1] {
            let mut args = filter.clone();
            args["limit"] = json!(limit);
            let page = agent.tool("chat.list_events", args.clone()).await.given()?;
            let (count, more) = (ids(&page).len(), page["hasMore"] == true);
            let right = count == limit.min(there) && more == (limit < there);
            let seen = || format!("{args}: {count} of {there}, hasMore {more}");
            scene.expect(HAS_MORE, right, "a page says whether there is more", seen, &[]);
        }
    }
    Ok(())
}

fn ids(listed: &Value) -> Vec<String> {
    let events = listed["events"].as_array().into_iter().flatten();
    events.filter_map(|event| event["eventId"].as_str().map(str::to_owned)).collect()
}

//! Turns: who has one, who waits, and how one ends.

use std::time::Duration;

use serde_json::{Value, json};

use super::scene::{SOON, Scene, brief};
use crate::referee::agent::{Agent, Offer};
use crate::referee::house::Said;
use crate::referee::rules::{BAD_ASSET, CANCELLED, NO_FREE_PLACE, PARALLEL, PASSED, PEOPLE};

/// A turn passes at once: two seconds, and as long again for a busy machine.
const PASSES: Duration = Duration::from_secs(4);

/// How a run may end without a word.
const ENDS: [&str; 11] = [
    "react agree",
    "react seen",
    "react done",
    "react declined",
    "react queued",
    "channel reaction",
    "ignored",
    "acknowledged",
    "failed",
    "resolve",
    "defer",
];

/// The holder ends without a word, and the next is offered the question at once.
pub(super) async fn passed(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (bot, agent) = scene.online().await?;
    let (aide, other) = scene.online().await?;
    let room = scene.turn_room(&[&ann, &bot, &aide]).await?;
    let mut ends = ENDS.to_vec();
    for _ in 0..4 {
        let end = ends.remove(scene.chance.index(ends.len()));
        let event = scene.ask(&ann, &room, &[&bot, &aide]).await?;
        let (holder, waiter, offer) = holder(scene, &event, &agent, &other).await?;
        if scene.chance.one_in(2) {
            scene.stir(&room).await;
        }
        let said = ended(holder, &offer, end).await;
        if let Said::Refused(status, code, body) = &said {
            return Err(format!("{end}: HTTP {status} {code}: {body}"));
        }
        let began = std::time::Instant::now();
        let next = waiter.offer_of(&event, SOON).await;
        let took = began.elapsed();
        let soon = next.is_some() && took <= PASSES + scene.pulse.late_since(began);
        let seen = || match &next {
            Some(_) => format!("{end}: the next was asked {} ms later", took.as_millis()),
            None => format!("{end}: the next was not asked within {SOON:?}"),
        };
        scene.expect(
            PASSED,
            soon,
            "a turn that ends without words passes at once",
            seen,
            &[&event],
        );
        if let Some(next) = next {
            waiter.accept(&next).await;
            waiter.reply(&next, "It is fine.").await.given()?;
        }
    }
    Ok(())
}

/// Which of two agents was given the turn, which waits, and what the first was offered.
async fn holder<'a>(
    scene: &Scene,
    event: &str,
    one: &'a Agent,
    other: &'a Agent,
) -> Result<(&'a Agent, &'a Agent, Offer), String> {
    let limit = Duration::from_millis(60);
    let found = scene
        .until(SOON, async || {
            for (holder, waiter) in [(one, other), (other, one)] {
                if let Some(offer) = holder.offer_of(event, limit).await {
                    holder.accept(&offer).await;
                    return Ok(Some((holder, waiter, offer)));
                }
            }
            Ok(None)
        })
        .await?;
    found.ok_or_else(|| format!("nobody was offered {event}"))
}

async fn ended(holder: &Agent, offer: &Offer, end: &str) -> Said {
    let (event, turn) = (offer.event(), offer.turn());
    if let Some(signal) = end.strip_prefix("react ") {
        return holder.react(offer, signal).await;
    }
    match end {
        "channel reaction" => {
            let message = event.replace("evt_", "msg_");
            let nod = json!({ "message_id": message, "signal": "agree", "turn": turn });
            match holder.tool("set_channel_reaction", nod).await {
                // A run that has reacted goes on until it ends.
                Said::Given(_) => holder.dispose(offer, "acknowledged").await,
                refused => refused,
            }
        }
        "resolve" => {
            let args = json!({ "eventId": event, "note": "nothing to do", "turn": turn });
            holder.tool("chat.resolve", args).await
        }
        "defer" => {
            let args =
                json!({ "eventId": event, "reason": "after lunch", "until": "30m", "turn": turn });
            holder.tool("chat.defer", args).await
        }
        disposition => holder.dispose(offer, disposition).await,
    }
}

/// People who are named, asked or own a thread have no turn and wait for none.
pub(super) async fn people(scene: &mut Scene) -> Result<(), String> {
    let (ann, dan) = (scene.person().await?, scene.person().await?);
    let (bot, agent) = scene.online().await?;
    let room = scene.turn_room(&[&ann, &dan, &bot]).await?;
    let named: Vec<Vec<_>> = vec![vec![&dan, &bot], vec![&bot, &dan], vec![&dan]];
    let names = named[scene.chance.index(named.len())].clone();
    let event = scene.ask(&ann, &room, &names).await?;
    let people = vec![ann.id.clone(), dan.id.clone(), "operator".to_owned()];
    let mut look = 0;
    let mut wrong = None;
    while look < 12 && wrong.is_none() {
        look += 1;
        let subjects = scene.house.turns(&room).await?;
        wrong = with_a_person(&subjects, &people);
        if look == 4 && names.len() > 1 {
            let offer = agent.take(&event, SOON).await?;
            // Its answer asks the person, who owes it then, and holds nobody up.
            let words = format!("@{} do you know why it is red?", dan.id);
            agent.reply(&offer, &words).await.given()?;
        }
        if look == 8 {
            let message =
                json!({ "conversation": room, "in_reply_to": event, "text": "I am on it." });
            scene.post(&dan, message).await?;
        }
        scene.pass(Duration::from_millis(150)).await;
    }
    let seen = || wrong.clone().unwrap_or_default();
    scene.expect(
        PEOPLE,
        wrong.is_none(),
        "people hold nothing and wait for nothing",
        seen,
        &[&event],
    );
    Ok(())
}

/// The subject in which a person holds or waits.
pub(in crate::referee) fn with_a_person(subjects: &[Value], people: &[String]) -> Option<String> {
    let is_person = |member: &Value| people.iter().any(|person| *member == json!(person));
    let found = subjects.iter().find(|subject| {
        let of = |list: &str| subject[list].as_array().cloned().unwrap_or_default();
        of("holders").iter().chain(&of("waiting")).any(|place| is_person(&place["member"]))
    });
    found.map(Value::to_string)
}

/// With more than one place, each that becomes free is filled at once, and no more are filled.
pub(super) async fn places(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let mut members = Vec::new();
    let mut agents = Vec::new();
    for _ in 0..4 {
        let (member, agent) = scene.online().await?;
        members.push(member);
        agents.push(agent);
    }
    let places = 2;
    let all: Vec<_> = members.iter().chain([&ann]).collect();
    let patch = json!({ "replies": "thread", "turns": { "cooldown_ms": 0, "max_parallel_public_speakers": places } });
    let room = scene.house.room(&all, patch).await?;
    let event = scene.ask(&ann, &room, &members.iter().collect::<Vec<_>>()).await?;
    let mut left = agents.len();
    let mut ends = ENDS.to_vec();
    while left > 0 {
        let mut held = None;
        let mut shown = Vec::new();
        let filled = scene
            .until(PASSES, async || {
                shown = scene.house.turns(&room).await?;
                let now = shown.first().map_or((0, 0), count);
                held = Some(now);
                Ok((now.0 >= places.min(left)).then_some(()))
            })
            .await?;
        let seen = || format!("{left} are to speak; holders and waiting: {held:?}");
        let at_most = held.is_none_or(|(holders, _)| holders <= places);
        let of = [event.as_str()];
        scene.expect(PARALLEL, at_most, "no more than two hold a turn", seen, &of);
        scene.expect(NO_FREE_PLACE, filled.is_some(), "a free place is filled at once", seen, &of);
        let person = with_a_person(&shown, &[ann.id.clone(), "operator".to_owned()]);
        let seen = || person.clone().unwrap_or_default();
        let none = person.is_none();
        scene.expect(PEOPLE, none, "people hold nothing and wait for nothing", seen, &of);
        let mut taken = None;
        for agent in &agents {
            if let Some(offer) = agent.offer_of(&event, Duration::from_millis(300)).await {
                agent.accept(&offer).await;
                taken = Some((agent, offer));
                break;
            }
        }
        let Some((agent, offer)) = taken else {
            return Err(format!("{left} are to speak of {event}, and nobody is offered it"));
        };
        if scene.chance.one_in(3) {
            agent.reply(&offer, "It is fine.").await.given()?;
        } else {
            let end = ends.remove(scene.chance.index(ends.len()));
            ended(agent, &offer, end).await.given().map_err(|e| format!("{end}: {e}"))?;
        }
        left -= 1;
    }
    Ok(())
}

/// How many hold a turn of a subject, and how many wait.
fn count(subject: &Value) -> (usize, usize) {
    let of = |list: &str| subject[list].as_array().map_or(0, Vec::len);
    (of("holders"), of("waiting"))
}

/// A holder that loses its seat is told to stop, and the next speaks; so is one whose channel is archived.
pub(super) async fn cancelled(scene: &mut Scene) -> Result<(), String> {
    for by in ["unseated", "archived"] {
        let ann = scene.person().await?;
        let (bot, agent) = scene.online().await?;
        let (aide, other) = scene.online().await?;
        let room = scene.turn_room(&[&ann, &bot, &aide]).await?;
        let event = scene.ask(&ann, &room, &[&bot, &aide]).await?;
        let (holder, waiter, offer) = holder(scene, &event, &agent, &other).await?;
        scene.stir(&room).await;
        if by == "unseated" {
            let path = format!("/v1/channels/{room}/members/{}", holder.id);
            scene.house.op("DELETE", &path, Value::Null).await?;
        } else {
            let path = format!("/v1/channels/{room}");
            scene.house.op("PATCH", &path, json!({ "archived": true })).await?;
        }
        let told = holder.is_cancelled(&event, PASSES).await;
        let seen = || format!("{by}: the run was not told to stop");
        scene.expect(
            CANCELLED,
            told,
            "a run without a right to speak is cancelled",
            seen,
            &[&event],
        );
        let late = holder.reply(&offer, "Still here.").await;
        let refused = late.code().is_some();
        let seen = || format!("{by}: {}", brief(&late));
        scene.expect(CANCELLED, refused, "what it still says is refused", seen, &[&event]);
        if by == "unseated" {
            let next = waiter.offer_of(&event, SOON).await;
            let seen = || "the next was not asked".to_owned();
            scene.expect(
                PASSED,
                next.is_some(),
                "the turn of who lost its seat passes",
                seen,
                &[&event],
            );
        }
    }
    Ok(())
}

/// A file that there is not is refused at once, and what was put out before stands.
pub(super) async fn bad_asset(scene: &mut Scene) -> Result<(), String> {
    let ann = scene.person().await?;
    let (bot, agent) = scene.online().await?;
    let room = scene.turn_room(&[&ann, &bot]).await?;
    let offer = scene.asked(&ann, &room, &bot, &agent).await?;
    let first = json!({ "text": "It is green.", "turn": offer.turn() });
    agent.tool("emit_output", first).await.given()?;
    let asset = format!("ast_{:032x}", scene.chance.within(1..u64::MAX));
    let content =
        json!([{ "type": "text", "text": "see" }, { "type": "asset", "asset_id": asset }]);
    let said = agent.tool("emit_output", json!({ "content": content, "turn": offer.turn() })).await;
    let seen = || brief(&said);
    let refused = said.code().is_some();
    scene.expect(BAD_ASSET, refused, "a file that there is not is refused", seen, &[offer.event()]);
    if refused {
        // How the run ends is another rule's matter; what it puts out before is said.
        let _ = agent.dispose(&offer, "acknowledged").await;
        let words = scene.words(&room, &bot).await?;
        let seen = || format!("{words:?}");
        let stands = words == ["It is green."];
        scene.expect(BAD_ASSET, stands, "what was put out before stands", seen, &[offer.event()]);
    }
    Ok(())
}

//! The people: they ask, add, answer, edit, delete, react, and send again what they have sent.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Posted, Stage};
use crate::crash::chance::Chance;
use crate::referee::house::{Member, Said};
use crate::referee::ledger::Wrong;

pub(super) async fn live(stage: Arc<Stage>, person: Member, mut chance: Chance) {
    while !stage.is_over() {
        match chance.within(0..14) {
            0..=5 => ask(&stage, &person, &mut chance).await,
            6..=7 => remark(&stage, &person, &mut chance).await,
            8 => answer(&stage, &person, &mut chance).await,
            9..=10 => edit(&stage, &person, &mut chance).await,
            11 => finish(&stage, &person, &mut chance).await,
            _ => repeat(&stage, &person, &mut chance).await,
        }
        tokio::time::sleep(chance.millis(150..1_400)).await;
    }
}

/// Somewhere to speak: a room, and now and then a thread of it.
fn place(stage: &Stage, chance: &mut Chance) -> Value {
    match chance.within(0..5) {
        0 => json!({ "conversation": stage.line, "thread": stage.workflow }),
        1 | 2 => json!({ "conversation": stage.line }),
        _ => json!({ "conversation": stage.turns }),
    }
}

async fn ask(stage: &Stage, person: &Member, chance: &mut Chance) {
    let first = chance.index(stage.agents.len());
    let agent = &stage.agents[first].id;
    let other = &stage.agents[(first + 1) % stage.agents.len()].id;
    let number = stage.house.number();
    let words = match chance.within(0..6) {
        0 => format!("@{} could one of you look at item {number}?", stage.role),
        1 => format!("@{agent} and @{other}, what do you make of item {number}?"),
        2 => format!("@{agent} can you ask @{other} about item {number}?"),
        3 => format!("@{agent} this cannot wait: is item {number} down?"),
        _ => format!("@{agent} could you look at item {number}, please?"),
    };
    post(stage, person, place(stage, chance), words).await;
}

async fn remark(stage: &Stage, person: &Member, chance: &mut Chance) {
    let number = stage.house.number();
    let words = match chance.within(0..3) {
        0 => format!("For the record, item {number} went through."),
        1 => format!("Does anybody know about item {number}?"),
        _ => format!("thanks for item {number}!"),
    };
    post(stage, person, place(stage, chance), words).await;
}

/// Answers something that was said before.
async fn answer(stage: &Stage, person: &Member, chance: &mut Chance) {
    let Some(to) = some(stage, chance, |_| true) else { return };
    // It ends what was put off or is a dead letter, if another than whoever asked says it.
    stage.done().touched.insert(to.event.clone());
    let mut place = json!({ "conversation": to.room, "in_reply_to": to.event });
    if to.body["thread"].is_string() {
        place["thread"] = to.body["thread"].clone();
    }
    let words = format!("What of item {}, then?", stage.house.number());
    post(stage, person, place, words).await;
}

/// Says something else in place of what was said, or the same once more.
async fn edit(stage: &Stage, person: &Member, chance: &mut Chance) {
    let Some(posted) = some(stage, chance, |posted| posted.by == person.id) else { return };
    stage.done().touched.insert(posted.event.clone());
    let path = format!("/v1/messages/{}", posted.event.replace("evt_", "msg_"));
    let before = posted.body["text"].as_str().unwrap_or_default();
    let words = match chance.one_in(3) {
        true => before.to_owned(),
        false => format!("{before} And soon?"),
    };
    // One that was deleted meanwhile is refused; an edit has no key, so one whose answer is lost is left.
    let _ = stage.house.ask(&person.token, "PATCH", &path, &json!({ "text": words })).await;
}

/// Deletes something, or calls it done.
async fn finish(stage: &Stage, person: &Member, chance: &mut Chance) {
    let Some(posted) = some(stage, chance, |posted| posted.by == person.id) else { return };
    stage.done().touched.insert(posted.event.clone());
    let path = format!("/v1/messages/{}", posted.event.replace("evt_", "msg_"));
    let said = match chance.one_in(3) {
        true => stage.house.ask(&person.token, "DELETE", &path, &Value::Null).await,
        false => {
            let done = format!("{path}/reactions/done");
            stage.house.ask(&person.token, "PUT", &done, &Value::Null).await
        }
    };
    // It may be gone already.
    drop(said);
}

/// Sends what was acknowledged before: it must be the same message.
async fn repeat(stage: &Stage, person: &Member, chance: &mut Chance) {
    let Some(posted) = some(stage, chance, |posted| posted.by == person.id) else { return };
    let said = stage.house.ask_until(&person.token, "POST", "/v1/messages", &posted.body).await;
    let seen = match &said {
        Said::Given(again) if again["event_id"] == posted.event && again["duplicate"] == true => {
            return;
        }
        Said::Lost => return,
        other => format!("{other:?}"),
    };
    let expected = "the same message under the same key gives the first";
    stage.done().doubled.push(Wrong::new(expected, seen, &[&posted.event]));
}

/// Some message of the last that were acknowledged.
fn some(stage: &Stage, chance: &mut Chance, of: impl Fn(&Posted) -> bool) -> Option<Posted> {
    let done = stage.done();
    let all: Vec<_> = done.posted.iter().rev().filter(|posted| of(posted)).take(12).collect();
    (!all.is_empty()).then(|| all[chance.index(all.len())].clone())
}

/// Posts under a key of its own until there is an answer.
async fn post(stage: &Stage, by: &Member, mut body: Value, words: String) {
    body["text"] = json!(words);
    body["idempotency_key"] = json!(format!("{}-{}", by.id, stage.house.number()));
    match stage.house.ask_until(&by.token, "POST", "/v1/messages", &body).await {
        Said::Given(given) => stage.done().posted.push(Posted {
            event: given["event_id"].as_str().unwrap_or_default().to_owned(),
            seq: given["seq"].as_u64().unwrap_or_default(),
            room: given["conversation"].as_str().unwrap_or_default().to_owned(),
            by: by.id.clone(),
            body,
        }),
        Said::Refused(..) => drop(stage.done().refused.insert(words)),
        Said::Lost => {}
    }
}

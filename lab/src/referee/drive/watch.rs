//! Those who only look: one follows each room's log as it grows, one looks at who has turns.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::{Value, json};

use super::{DRIVE, PLACES, Stage};
use crate::referee::ledger::Wrong;
use crate::referee::rules::{FOLLOWED, NO_FREE_PLACE, PARALLEL, PEOPLE};
use crate::referee::scenes::with_a_person;

/// How long a place may be free while somebody waits who is paid for.
const FREE: Duration = Duration::from_secs(6);
const LOOK: Duration = Duration::from_millis(400);

/// Follows a room over every restart: each entry comes once, in order.
pub(super) async fn follow(stage: Arc<Stage>, room: String) {
    let mut last = 0;
    let http = reqwest::Client::new();
    while !stage.is_over() {
        let url = format!("{}/v1/events?conversation={room}&after={last}", stage.house.url);
        let request = http.get(url).bearer_auth(&stage.house.operator);
        let answer = request.header("accept", "text/event-stream").send().await;
        let Some(answer) = answer.ok().filter(|answer| answer.status().is_success()) else {
            tokio::time::sleep(LOOK).await;
            continue;
        };
        let (mut stream, mut rest) = (answer.bytes_stream(), Vec::new());
        while !stage.is_over() {
            let next = tokio::time::timeout(LOOK, stream.next()).await;
            let part = match next {
                Err(_) => continue,
                Ok(Some(Ok(part))) => part,
                Ok(_) => break,
            };
            rest.extend_from_slice(&part);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                let Some(seq) = seq(&line) else { continue };
                let expected = format!("after entry {last} of {room} comes the next");
                let verdict = match seq == last + 1 {
                    true => Ok(()),
                    false => Err(Wrong::new(expected, format!("entry {seq}"), &[])),
                };
                stage.ledger.judge(FOLLOWED, DRIVE, verdict);
                last = seq;
            }
        }
    }
}

/// The seq of the entry that a line carries.
fn seq(line: &[u8]) -> Option<u64> {
    let data: Value = serde_json::from_slice(line.strip_prefix(b"data:")?).ok()?;
    data["seq"].as_u64().filter(|_| data["event_id"].is_string())
}

/// Looks at who has turns and who waits.
pub(super) async fn turns(stage: Arc<Stage>) {
    let mut people: Vec<_> = stage.people.iter().map(|person| person.id.clone()).collect();
    people.push("operator".to_owned());
    // Since when a subject has had a free place while somebody waited, and in which life of the host.
    let mut free: HashMap<String, (Instant, u64)> = HashMap::new();
    while !stage.is_over() {
        tokio::time::sleep(LOOK).await;
        let life = stage.house.life();
        let path = format!("/v1/channels/{}/turns", stage.turns);
        let said = stage.house.ask(&stage.house.operator, "GET", &path, &Value::Null).await;
        let Ok(shown) = said.given() else { continue };
        if life != stage.house.life() {
            continue;
        }
        let subjects = shown["subjects"].as_array().cloned().unwrap_or_default();
        let person = with_a_person(&subjects, &people);
        note(&stage, PEOPLE, "people hold nothing and wait for nothing", person);
        let crowded = subjects.iter().find(|s| length(s, "holders") > PLACES);
        note(&stage, PARALLEL, "no more than two hold a turn", crowded.map(Value::to_string));
        free.retain(|root, _| subjects.iter().any(|s| s["root"] == *root && has_free_place(s)));
        for subject in subjects.iter().filter(|subject| has_free_place(subject)) {
            let root = subject["root"].as_str().unwrap_or_default().to_owned();
            let since = free.entry(root).or_insert((Instant::now(), life));
            let long = since.0.elapsed() > FREE + stage.pulse.late_since(since.0);
            if since.1 != life {
                *since = (Instant::now(), life);
            } else if long {
                let seen = format!("for {:?}: {subject}", since.0.elapsed());
                note(&stage, NO_FREE_PLACE, "a free place is filled at once", Some(seen));
                *since = (Instant::now() + Duration::from_secs(3_600), life);
            }
        }
        note(&stage, NO_FREE_PLACE, "a free place is filled at once", None);
    }
}

fn note(stage: &Stage, rule: crate::referee::rules::Rule, expected: &str, seen: Option<String>) {
    let verdict = seen.map_or(Ok(()), |seen| Err(Wrong::new(expected, seen, &[])));
    stage.ledger.judge(rule, DRIVE, verdict);
}

fn length(subject: &Value, list: &str) -> usize {
    subject[list].as_array().map_or(0, Vec::len)
}

/// Somebody waits who has no turn, there is room, and another turn is paid for. Nobody has two turns about one subject.
fn has_free_place(subject: &Value) -> bool {
    let all = |list: &str| subject[list].as_array().cloned().unwrap_or_default();
    let holders: Vec<Value> = all("holders").iter().map(|held| held["member"].clone()).collect();
    let owed = all("waiting")
        .iter()
        .any(|waiting| waiting["owed"] == json!(true) && !holders.contains(&waiting["member"]));
    let paid = subject["spent"].as_u64() < subject["budget"].as_u64();
    owed && paid && holders.len() < PLACES
}

//! How an agent behind a connection string is waited for, and what joins its runs: with the settings of a host that
//! nobody has configured.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{Remote, call, messages, nothing_owed, reached};
use crate::house::{House, PATIENCE};

/// The spec's own example of somebody who types in pieces.
const PIECES: [&str; 5] =
    ["when someone types", "in", "pieces", "like this", "the agent should wait"];

async fn open() -> (House, Remote, String, String) {
    let house = House::open().await;
    let remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let ann = house.token("ann").await;
    (house, remote, room, ann)
}

/// Says it, and waits until so much is held for the agent.
async fn say(house: &House, token: &str, room: &str, text: &str, held: u64) -> Value {
    let said = house.say(token, room, text).await;
    until(house, held).await;
    said
}

async fn until(house: &House, held: u64) {
    let began = std::time::Instant::now();
    while house.get(&house.operator(), "/v1/endpoints/weather").await.ok()["waiting"] != held {
        assert!(began.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn texts(delivery: &Value) -> Vec<String> {
    let earlier = delivery["chorus"]["earlier"].as_array().into_iter().flatten();
    let all = earlier.chain([&delivery["message"]]);
    all.map(|m| m["content"].as_str().unwrap().to_owned()).collect()
}

/// By a stranger, 1.5 s apart, in a direct conversation and in a channel.
// covers: ATT-49, ATT-50, ATT-300, WHK-34
#[tokio::test]
async fn the_pieces_of_the_example_are_one_delivery_two_seconds_after_the_last() {
    let (house, mut remote, room, ann) = open().await;
    let direct = json!({"kind": "dm", "members": ["weather"]});
    let direct = house.post(&ann, "/v1/channels", direct).await.ok();
    let direct = direct["id"].as_str().unwrap().to_owned();
    for (place, name) in [(room, "@weather "), (direct, "")] {
        for (n, piece) in PIECES.into_iter().enumerate() {
            if n > 0 {
                house.pass(1_500).await;
            }
            let name = if n == 0 { name } else { "" };
            say(&house, &ann, &place, &format!("{name}{piece}"), n as u64 + 1).await;
        }
        house.pass(1_999).await;
        remote.nothing().await;
        house.pass(1).await;
        let delivery = remote.take().await;
        assert_eq!(texts(&delivery).len(), 5, "{delivery}");
        call(&house, &delivery, json!({"type": "message", "content": "It did."})).await.ok();
        nothing_owed(&house).await;
        // She reads it herself: a direct conversation is nobody else's.
        let path = format!("/v1/messages?conversation={place}");
        let page = house.get(&ann, &path).await.ok();
        assert_eq!(page["messages"].as_array().unwrap().len(), 6, "one answer");
        house.pass(60_000).await;
        remote.nothing().await;
    }
}

// covers: ATT-300, ATT-302
#[tokio::test]
async fn a_brisk_conversation_waits_two_seconds_each_time_and_an_edit_no_longer_than_five() {
    let (house, mut remote, room, ann) = open().await;
    for n in 0..6 {
        let asked = format!("@weather is it raining in town {n}?");
        say(&house, &ann, &room, &asked, 1).await;
        house.pass(2_000).await;
        let delivery = remote.take().await;
        call(&house, &delivery, json!({"type": "message", "content": "No."})).await.ok();
        until(&house, 0).await;
        house.pass(1_000).await;
    }
    // Edited again and again.
    let asked = say(&house, &ann, &room, "@weather and what about the", 1).await;
    let event = asked["event_id"].as_str().unwrap();
    for n in 0..5 {
        house.pass(500).await;
        let path = format!("/v1/messages/{event}");
        let edit = json!({"text": format!("@weather and what about the snow in {n}")});
        house.send(&ann, Method::PATCH, &path, Some(edit)).await.ok();
        until(&house, 1).await;
    }
    // The last one has replaced the one before, too.
    remote.nothing().await;
    house.pass(5_000).await;
    assert_eq!(
        texts(&remote.take().await).last().unwrap(),
        "@weather and what about the snow in 4"
    );
}

// covers: ATT-51, ATT-304
#[tokio::test]
async fn typing_since_the_last_piece_holds_the_window() {
    let (house, mut remote, room, ann) = open().await;
    let types = |typing: bool| {
        let body = json!({"conversation": room, "typing": typing});
        async { assert_eq!(house.post(&ann, "/v1/typing", body).await.status, 204) }
    };
    // Before the piece, and at once after it: the second is news, however soon it comes.
    types(true).await;
    say(&house, &ann, &room, "@weather I am going to Oslo.", 1).await;
    types(true).await;
    remote.nothing().await;
    house.pass(20_000).await;
    remote.nothing().await;
    say(&house, &ann, &room, "Do I need an umbrella?", 2).await;
    house.pass(2_000).await;
    assert_eq!(texts(&remote.take().await).len(), 2);
    // It holds no longer than the cap.
    say(&house, &ann, &room, "@weather and a coat?", 1).await;
    types(true).await;
    remote.nothing().await;
    house.pass(30_000).await;
    remote.take().await;
}

// covers: ATT-55, WHK-100
#[tokio::test]
async fn what_comes_before_the_agent_has_said_anything_joins_its_run_twice_and_then_waits() {
    let (house, mut remote, room, ann) = open().await;
    let answer = |content: &str| json!({"type": "message", "content": content});
    let mut deliveries: Vec<Value> = Vec::new();
    for (n, text) in
        ["@weather I am going to Oslo.", "Do I need a coat?", "And boots?"].iter().enumerate()
    {
        say(&house, &ann, &room, text, 1).await;
        if let Some(before) = deliveries.last() {
            // From now on the answer to less than all of it is not taken.
            assert_eq!(call(&house, before, answer("No.")).await.refused(409), "STALE_TURN");
        }
        house.pass(2_000).await;
        let delivery = remote.take().await;
        until(&house, 0).await;
        assert_eq!(texts(&delivery).len(), n + 1, "{delivery}");
        let ids: Vec<Value> = deliveries.iter().map(|d| d["message"]["id"].clone()).collect();
        let known = delivery["chorus"].get("supersedes").cloned().unwrap_or(json!([]));
        assert_eq!(known, json!(ids));
        // That it works on it is nothing that anybody sees.
        let works = json!({"type": "lifecycle", "state": "processing"});
        call(&house, &delivery, works).await.ok();
        deliveries.push(delivery);
    }
    // The third time it waits for a turn of its own.
    say(&house, &ann, &room, "What about gloves?", 1).await;
    call(&house, &deliveries[2], answer("Yes, to all.")).await.ok();
    house.pass(2_000).await;
    let own = remote.take().await;
    assert_eq!(texts(&own), ["What about gloves?"]);
    assert_eq!(call(&house, &deliveries[0], answer("No.")).await.refused(409), "STALE_TURN");
    call(&house, &own, answer("Those, too.")).await.ok();
    nothing_owed(&house).await;
    assert_eq!(messages(&house, &room).await.len(), 6);
}

// covers: ATT-303, WHK-100
#[tokio::test]
async fn nothing_joins_a_run_of_which_something_was_seen_or_that_is_to_go_on_after_all() {
    let (house, mut remote, room, ann) = open().await;
    let answer = |content: &str| json!({"type": "message", "content": content});
    say(&house, &ann, &room, "@weather I am going to Oslo.", 1).await;
    house.pass(2_000).await;
    let first = remote.take().await;
    until(&house, 0).await;
    // What was to join it is deleted: the run goes on.
    let late = say(&house, &ann, &room, "No, to Bergen.", 1).await;
    assert_eq!(call(&house, &first, answer("Sun.")).await.refused(409), "STALE_TURN");
    let path = format!("/v1/messages/{}", late["event_id"].as_str().unwrap());
    house.send(&ann, Method::DELETE, &path, None).await.ok();
    until(&house, 0).await;
    // It shows what it does: what comes now is another turn.
    call(&house, &first, json!({"type": "status", "status": "looking it up"})).await.ok();
    say(&house, &ann, &room, "And tomorrow?", 1).await;
    call(&house, &first, answer("Sun.")).await.ok();
    house.pass(2_000).await;
    let next = remote.take().await;
    assert_eq!(texts(&next), ["And tomorrow?"]);
    assert!(next["chorus"].get("supersedes").is_none());
    call(&house, &next, answer("Rain.")).await.ok();
    nothing_owed(&house).await;
}

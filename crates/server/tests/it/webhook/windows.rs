//! How an agent behind a connection string is waited for, and what joins its runs: with the settings of a host that
//! nobody has configured.

use chorus_testing::eventually;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Remote, accepted, call, messages, nothing_owed, reached};
use crate::test_host::TestHost;

/// The spec's own example of somebody who types in pieces.
const PIECES: [&str; 5] =
    ["when someone types", "in", "pieces", "like this", "the agent should wait"];

async fn open() -> (TestHost, Remote, String, String) {
    let host = TestHost::open().await;
    let remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let ann = host.token("ann").await;
    (host, remote, room, ann)
}

/// Says it, and waits until so much is held for the agent.
async fn say(host: &TestHost, token: &str, room: &str, text: &str, held: u64) -> Value {
    let said = host.say(token, room, text).await;
    until(host, held).await;
    said
}

async fn until(host: &TestHost, held: u64) {
    eventually("so much is held for the agent", async || {
        let shown = host.get(&host.operator(), "/v1/endpoints/weather").await.ok();
        if shown["waiting"] == held { Ok(()) } else { Err(shown) }
    })
    .await;
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
    let (host, mut remote, room, ann) = open().await;
    let direct = json!({"kind": "dm", "members": ["weather"]});
    let direct = host.post(&ann, "/v1/channels", direct).await.ok();
    let direct = direct["id"].as_str().unwrap().to_owned();
    for (place, name) in [(room, "@weather "), (direct, "")] {
        for (n, piece) in PIECES.into_iter().enumerate() {
            if n > 0 {
                host.pass(1_500).await;
            }
            let name = if n == 0 { name } else { "" };
            say(&host, &ann, &place, &format!("{name}{piece}"), n as u64 + 1).await;
        }
        host.pass(1_999).await;
        remote.nothing().await;
        host.pass(1).await;
        let delivery = remote.take().await;
        assert_eq!(texts(&delivery).len(), 5, "{delivery}");
        call(&host, &delivery, json!({"type": "message", "content": "It did."})).await.ok();
        nothing_owed(&host).await;
        // She reads it herself: a direct conversation is nobody else's.
        let path = format!("/v1/messages?conversation={place}");
        let page = host.get(&ann, &path).await.ok();
        assert_eq!(page["messages"].as_array().unwrap().len(), 6, "one answer");
        host.pass(60_000).await;
        remote.nothing().await;
    }
}

// covers: ATT-300, ATT-302
#[tokio::test]
async fn a_brisk_conversation_waits_two_seconds_each_time_and_an_edit_no_longer_than_five() {
    let (host, mut remote, room, ann) = open().await;
    for n in 0..6 {
        let asked = format!("@weather is it raining in town {n}?");
        say(&host, &ann, &room, &asked, 1).await;
        host.pass(2_000).await;
        let delivery = remote.take().await;
        call(&host, &delivery, json!({"type": "message", "content": "No."})).await.ok();
        until(&host, 0).await;
        host.pass(1_000).await;
    }
    // Edited again and again.
    let asked = say(&host, &ann, &room, "@weather and what about the", 1).await;
    let event = asked["event_id"].as_str().unwrap();
    for n in 0..5 {
        host.pass(500).await;
        let path = format!("/v1/messages/{event}");
        let edit = json!({"text": format!("@weather and what about the snow in {n}")});
        host.send(&ann, Method::PATCH, &path, Some(edit)).await.ok();
        until(&host, 1).await;
    }
    // The last one has replaced the one before, too.
    remote.nothing().await;
    host.pass(5_000).await;
    assert_eq!(
        texts(&remote.take().await).last().unwrap(),
        "@weather and what about the snow in 4"
    );
}

// covers: ATT-51, ATT-304
#[tokio::test]
async fn typing_since_the_last_piece_holds_the_window() {
    let (host, mut remote, room, ann) = open().await;
    let types = |typing: bool| {
        let body = json!({"conversation": room, "typing": typing});
        async { assert_eq!(host.post(&ann, "/v1/typing", body).await.status, 204) }
    };
    // Before the piece, and at once after it: the second is news, however soon it comes.
    types(true).await;
    say(&host, &ann, &room, "@weather I am going to Oslo.", 1).await;
    types(true).await;
    remote.nothing().await;
    host.pass(20_000).await;
    remote.nothing().await;
    say(&host, &ann, &room, "Do I need an umbrella?", 2).await;
    host.pass(2_000).await;
    assert_eq!(texts(&remote.take().await).len(), 2);
    // It holds no longer than the cap.
    say(&host, &ann, &room, "@weather and a coat?", 1).await;
    types(true).await;
    remote.nothing().await;
    host.pass(30_000).await;
    remote.take().await;
}

// covers: ATT-55, WHK-100
#[tokio::test]
async fn follow_ups_join_a_silent_run_twice_and_then_wait() {
    let (host, mut remote, room, ann) = open().await;
    let answer = |content: &str| json!({"type": "message", "content": content});
    let mut deliveries: Vec<Value> = Vec::new();
    for (n, text) in
        ["@weather I am going to Oslo.", "Do I need a coat?", "And boots?"].iter().enumerate()
    {
        say(&host, &ann, &room, text, 1).await;
        if let Some(before) = deliveries.last() {
            // From now on the answer to less than all of it is not taken.
            assert_eq!(call(&host, before, answer("No.")).await.refused(409), "STALE_TURN");
        }
        host.pass(2_000).await;
        let delivery = remote.take().await;
        until(&host, 0).await;
        assert_eq!(texts(&delivery).len(), n + 1, "{delivery}");
        let ids: Vec<Value> = deliveries.iter().map(|d| d["message"]["id"].clone()).collect();
        let known = delivery["chorus"].get("supersedes").cloned().unwrap_or(json!([]));
        assert_eq!(known, json!(ids));
        // That it works on it is nothing that anybody sees.
        let works = json!({"type": "lifecycle", "state": "processing"});
        call(&host, &delivery, works).await.ok();
        deliveries.push(delivery);
    }
    // The third time it waits for a turn of its own.
    say(&host, &ann, &room, "What about gloves?", 1).await;
    call(&host, &deliveries[2], answer("Yes, to all.")).await.ok();
    host.pass(2_000).await;
    let own = remote.take().await;
    assert_eq!(texts(&own), ["What about gloves?"]);
    assert_eq!(call(&host, &deliveries[0], answer("No.")).await.refused(409), "STALE_TURN");
    call(&host, &own, answer("Those, too.")).await.ok();
    nothing_owed(&host).await;
    assert_eq!(messages(&host, &room).await.len(), 6);
}

// covers: ATT-303, WHK-100
#[tokio::test]
async fn no_follow_up_joins_a_run_that_has_shown_something() {
    let (host, mut remote, room, ann) = open().await;
    let answer = |content: &str| json!({"type": "message", "content": content});
    say(&host, &ann, &room, "@weather I am going to Oslo.", 1).await;
    host.pass(2_000).await;
    let first = remote.take().await;
    until(&host, 0).await;
    // What was to join it is deleted: the run goes on.
    let late = say(&host, &ann, &room, "No, to Bergen.", 1).await;
    assert_eq!(call(&host, &first, answer("Sun.")).await.refused(409), "STALE_TURN");
    let path = format!("/v1/messages/{}", late["event_id"].as_str().unwrap());
    host.send(&ann, Method::DELETE, &path, None).await.ok();
    until(&host, 0).await;
    // It shows what it does: what comes now is another turn.
    call(&host, &first, json!({"type": "status", "status": "looking it up"})).await.ok();
    say(&host, &ann, &room, "And tomorrow?", 1).await;
    call(&host, &first, answer("Sun.")).await.ok();
    host.pass(2_000).await;
    let next = remote.take().await;
    assert_eq!(texts(&next), ["And tomorrow?"]);
    assert!(next["chorus"].get("supersedes").is_none());
    call(&host, &next, answer("Rain.")).await.ok();
    nothing_owed(&host).await;
}

// covers: WHK-36, WHK-100
#[tokio::test]
async fn follow_ups_join_a_run_from_before_a_restart() {
    let answer = |content: &str| json!({"type": "message", "content": content});
    for said_before in [true, false] {
        let (host, mut remote, room, ann) = open().await;
        say(&host, &ann, &room, "@weather I am going to Oslo.", 1).await;
        host.pass(2_000).await;
        let first = remote.take().await;
        accepted(&host).await;
        if said_before {
            say(&host, &ann, &room, "Do I need a coat?", 1).await;
        }
        let now = host.clock_now();
        let TestHost { running, folder, .. } = host;
        let url = running.url.clone();
        running.stop().await;
        let host = TestHost::open_in(folder, now).await;
        if !said_before {
            host.say(&ann, &room, "Do I need a coat?").await;
        }
        until(&host, 1).await;
        let moved = first["callback"].as_str().unwrap().replace(&url, &host.running.url);
        let before = json!({"callback": moved});
        assert_eq!(call(&host, &before, answer("No.")).await.refused(409), "STALE_TURN");
        host.pass(2_000).await;
        let next = remote.take().await;
        assert_eq!(texts(&next), ["@weather I am going to Oslo.", "Do I need a coat?"]);
        assert_eq!(next["chorus"]["supersedes"], json!([first["message"]["id"]]));
        call(&host, &next, answer("Yes.")).await.ok();
        nothing_owed(&host).await;
        assert_eq!(call(&host, &before, answer("No.")).await.refused(409), "STALE_TURN");
    }
}

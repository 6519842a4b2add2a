//! Reading the same messages again and again: what is kept for speed shows what the log has, at once.

use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::TestHost;

/// Reads often enough for the answer to be kept, if it is kept at all.
async fn read(host: &TestHost, token: &str, path: &str) -> Value {
    let first = host.get(token, path).await.ok();
    for _ in 0..8 {
        assert_eq!(host.get(token, path).await.ok(), first, "{path}");
    }
    first
}

fn texts(page: &Value) -> Vec<&str> {
    let messages = page["messages"].as_array().unwrap();
    messages.iter().map(|m| m["text"].as_str().unwrap_or("-")).collect()
}

// covers: OPS-124
#[tokio::test]
async fn read_cache_shows_every_change_at_once() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let mut ids = Vec::new();
    for text in ["one", "two", "three", "four"] {
        ids.push(host.say(&ann, &room, text).await["event_id"].as_str().unwrap().to_owned());
    }
    let path = format!("/v1/messages?conversation={room}");
    let page = read(&host, &ann, &path).await;
    assert_eq!(texts(&page), ["one", "two", "three", "four"]);
    assert_eq!(page["has_more"], json!(false));
    let seq = page["messages"][1]["seq"].as_u64().unwrap();
    for (query, expected) in [
        (format!("after_seq={seq}&limit=1"), vec!["three"]),
        (format!("before_seq={seq}"), vec!["one"]),
        ("limit=2".to_owned(), vec!["three", "four"]),
    ] {
        assert_eq!(texts(&read(&host, &ann, &format!("{path}&{query}")).await), expected);
    }
    // Each change shows in the very next read, and in those after it.
    let message = |n: usize| format!("/v1/messages/{}", ids[n]);
    let new = json!({"text": "ONE"});
    host.send(&ann, Method::PATCH, &message(0), Some(new)).await.ok();
    assert_eq!(texts(&read(&host, &ann, &path).await), ["ONE", "two", "three", "four"]);
    host.send(&ann, Method::DELETE, &message(1), None).await.ok();
    assert_eq!(texts(&read(&host, &ann, &path).await), ["ONE", "-", "three", "four"]);
    let reason = json!({"reason": "secret"});
    host.post(&op, &format!("{}/erase", message(2)), reason).await.ok();
    assert_eq!(texts(&read(&host, &ann, &path).await), ["ONE", "-", "-", "four"]);
    let agree = format!("{}/reactions/agree", message(3));
    host.send(&op, Method::PUT, &agree, Some(json!({}))).await.ok();
    let page = read(&host, &ann, &path).await;
    assert_eq!(page["messages"][3]["reactions"][0]["members"], json!(["operator"]));
    host.say(&ann, &room, "five").await;
    assert_eq!(texts(&read(&host, &ann, &path).await).last(), Some(&"five"));
    let renamed = json!({"display_name": "Ann of Old"});
    host.send(&op, Method::PATCH, "/v1/members/ann", Some(renamed)).await.ok();
    let page = read(&host, &ann, &path).await;
    assert_eq!(page["messages"][0]["author"]["display_name"], "Ann of Old");
}

// covers: OPS-124
#[tokio::test]
async fn read_cache_respects_who_may_read() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let (ann, bot, op) = (host.token("ann").await, host.token("bot").await, host.operator());
    host.post(&op, "/v1/members", json!({"id": "other", "kind": "human"})).await.ok();
    let other = host.token("other").await;
    let new = json!({"title": "ours", "visibility": "private", "members": ["ann", "bot"]});
    let made = host.post(&op, "/v1/channels", new).await.ok();
    let room = made["id"].as_str().unwrap();
    host.say(&ann, room, "between us").await;
    let path = format!("/v1/messages?conversation={room}");
    assert_eq!(texts(&read(&host, &bot, &path).await), ["between us"]);
    assert_eq!(texts(&read(&host, &ann, &path).await), ["between us"]);
    assert_eq!(host.get(&other, &path).await.refused(404), "NOT_FOUND");
    // Who had a seat and has none any more reads nothing more.
    let seat = format!("/v1/channels/{room}/members/bot");
    host.send(&op, Method::DELETE, &seat, None).await.ok();
    assert_eq!(host.get(&bot, &path).await.refused(404), "NOT_FOUND");
    assert_eq!(texts(&read(&host, &ann, &path).await), ["between us"]);
    // What only some may see is kept for nobody.
    let new = json!({
        "conversation": room, "text": "for ann alone", "visibility": "ephemeral", "only": ["ann"],
        "idempotency_key": "alone",
    });
    let seat = format!("/v1/channels/{room}/members/other");
    host.send(&op, Method::PUT, &seat, Some(json!({}))).await.ok();
    host.post(&op, "/v1/messages", new).await.ok();
    assert_eq!(texts(&read(&host, &ann, &path).await), ["between us", "for ann alone"]);
    assert_eq!(texts(&read(&host, &other, &path).await), ["between us"]);
}

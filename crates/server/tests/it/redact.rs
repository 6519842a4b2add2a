//! A secret goes into no log, through no transport.

use reqwest::Method;
use serde_json::json;

use crate::test_host::{START, TestHost};

/// A key that looks real, put together here so that none stands in this file.
fn key() -> String {
    format!("ghp_{}", "aB3dE6gH9j".repeat(4).split_at(36).0)
}

// covers: OPS-110, OPS-113
#[tokio::test]
async fn a_secret_reaches_neither_the_disk_nor_anybody_by_any_door() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, ann, bot) = (host.operator(), host.token("ann").await, host.token("bot").await);
    let key = key();
    let text = format!("@bot use {key} please");
    let clean = "@bot use [redacted: github-token] please";
    let mut harness = host.connect(&bot).await;

    let new = json!({"conversation": room, "text": text, "idempotency_key": "k1",
        "metadata": {"env": {"token": key}}, "source": {"platform": "cli", "id": key}});
    let posted = host.post(&ann, "/v1/messages", new.clone()).await.ok();
    assert_eq!(posted["redacted"], 3);
    // The same message again is the same message.
    assert_eq!(host.post(&ann, "/v1/messages", new).await.ok()["duplicate"], true);
    let told = harness.take().await;
    assert_eq!(told["content"][0]["text"], clean);
    assert_eq!(told["metadata"]["env"]["token"], "[redacted: github-token]");
    let path = format!("/v1/messages/{}", posted["message_id"].as_str().unwrap());
    assert_eq!(host.get(&ann, &path).await.ok()["text"], clean);

    let sent = harness
        .tool("chat.send_message", json!({
            "target": {"conversation": room}, "inReplyTo": told["eventId"], "idempotencyKey": "r1",
            "visibility": "channel", "directedness": "to_other", "text": text, "turn": told["turn"]["token"],
        }))
        .await
        .unwrap();
    assert_eq!(sent["redacted"], 1);

    let parts = json!([{"type": "text", "text": text}, {"type": "text", "text": "more"}]);
    let edit = Some(json!({"content": parts}));
    let edited = host.send(&ann, Method::PATCH, &path, edit).await.ok();
    assert_eq!(edited["content"][0]["text"], clean);

    let line = format!("uses {key}");
    let member = json!({"id": "eve", "kind": "human", "display_name": line});
    host.post(&op, "/v1/members", member).await.ok();
    let room2 = json!({"title": line, "description": line, "purpose": line});
    let made = host.post(&op, "/v1/channels", room2).await.ok();
    assert_eq!(made["title"], "uses [redacted: github-token]");
    let thread = json!({"conversation": room, "title": line});
    let thread = host.post(&ann, "/v1/threads", thread).await.ok();
    let path = format!("/v1/threads/{}", thread["id"].as_str().unwrap());
    let change = Some(json!({"status": "resolved", "reason": line}));
    host.send(&ann, Method::PATCH, &path, change).await.ok();
    host.post(&op, "/v1/streams", json!({"name": line})).await.ok();
    let reaction =
        format!("/v1/messages/{}/reactions/working", posted["message_id"].as_str().unwrap());
    host.send(&ann, Method::PUT, &reaction, Some(json!({"eta": line}))).await.ok();

    let counted = host.get(&op, "/metrics").await.ok();
    let counted = counted.as_str().unwrap();
    assert!(!counted.contains("chorus_redactions_total 0"), "{counted}");

    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let mut files = vec![folder.path().to_owned()];
    let mut read = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes.windows(key.len()).any(|window| window == key.as_bytes());
        assert!(!found, "{} holds the key", path.display());
        read += 1;
    }
    assert!(read > 0);
}

// covers: OPS-112
#[tokio::test]
async fn redaction_can_be_turned_off() {
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        config.settings.redaction.enabled = false;
    })
    .await;
    let room = host.room(&[]).await;
    let ann = host.token("ann").await;
    let posted = host.say(&ann, &room, &key()).await;
    assert_eq!(posted.get("redacted"), None);
    let path = format!("/v1/messages/{}", posted["message_id"].as_str().unwrap());
    assert_eq!(host.get(&ann, &path).await.ok()["text"], key());
}

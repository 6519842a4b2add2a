//! A POST that is tried anew is an attempt of its own, and what the agent has is not posted again.

use chorus_testing::eventually;
use chorus_wire::webhook::IDEMPOTENCY_KEY;
use serde_json::{Value, json};

use super::{Post, Remote, accepted, at_once, call, messages, nothing_owed, open, reached, text};
use crate::test_host::TestHost;

fn attempt(delivery: &Value) -> u64 {
    delivery["chorus"]["attempt"].as_u64().unwrap()
}

fn key(post: &Post) -> String {
    post.headers[IDEMPOTENCY_KEY].to_str().unwrap().to_owned()
}

fn said(content: &str) -> Value {
    json!({"type": "message", "content": content})
}

async fn dead(host: &TestHost) -> usize {
    let path = "/v1/deliveries?state=dead&member=weather";
    host.get(&host.operator(), path).await.ok()["deliveries"].as_array().unwrap().len()
}

/// Waits until the host knows why the newest post was not taken.
async fn knows(host: &TestHost, why: &str) {
    eventually("the endpoint shows why its post failed", async || {
        let shown = host.get(&host.operator(), "/v1/endpoints/weather").await.ok();
        if shown["last_error"]["why"] == why { Ok(()) } else { Err(shown) }
    })
    .await;
}

// covers: WHK-14, WHK-32, WHK-404, WHK-418
#[tokio::test]
async fn only_the_first_attempt_that_answers_is_heard() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let ann = host.token("ann").await;
    for (question, heard) in [("one", 0), ("two", 1)] {
        remote.answers(&[503]);
        host.say(&ann, &room, &format!("@weather {question}?")).await;
        let posts = [remote.post().await, remote.post_later(&host).await];
        let [first, second] = posts.each_ref().map(Post::json);
        assert_eq!((attempt(&first), attempt(&second)), (1, 2));
        // An agent that knows messages by their ids sees one.
        assert_eq!(first["message"]["id"], second["message"]["id"]);
        assert_eq!(key(&posts[0]), key(&posts[1]));
        let (heard, late) = if heard == 0 { (first, second) } else { (second, first) };
        call(&host, &heard, said("Yes.")).await.ok();
        let again = call(&host, &late, said("Yes!")).await;
        assert_eq!(again.refused(409), "STALE_TURN");
        let status = json!({"type": "status", "status": "looking"});
        assert_eq!(call(&host, &late, status).await.refused(409), "STALE_TURN");
        let bearer = text(&late["mcp"]["headers"]["Authorization"]);
        let send = json!({
            "target": {"conversation": room}, "text": "Yes, by a tool.", "visibility": "channel",
            "directedness": "ambient", "idempotencyKey": question,
            "inReplyTo": late["message"]["id"],
        });
        let sent = host.tool(bearer.strip_prefix("Bearer ").unwrap(), "chat.send_message", send);
        assert_eq!(sent.await.unwrap_err(), "STALE_TURN");
        // Whoever was heard goes on.
        call(&host, &heard, said("And no.")).await.ok();
    }
    let all: Vec<_> = messages(&host, &room).await.into_iter().map(|(_, text)| text).collect();
    assert_eq!(all, ["@weather one?", "Yes.", "And no.", "@weather two?", "Yes.", "And no."]);
}

// covers: WHK-418
#[tokio::test]
async fn answered_delivery_is_not_posted_again_when_its_post_fails() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let ann = host.token("ann").await;
    remote.answers(&[500]);
    remote.hold(true);
    host.say(&ann, &room, "@weather one?").await;
    host.say(&ann, &room, "@weather two?").await;
    let first = remote.take().await;
    call(&host, &first, said("Yes.")).await.ok();
    remote.hold(false);
    knows(&host, "HTTP 500").await;
    // The next thing that is posted is what waits behind it.
    let next = remote.take_later(&host).await;
    assert_eq!(next["message"]["content"], "@weather two?");
    call(&host, &next, said("No.")).await.ok();
    nothing_owed(&host).await;
    assert_eq!(dead(&host).await, 0);
    remote.nothing().await;
}

// covers: WHK-418
#[tokio::test]
async fn run_that_was_heard_is_accepted_when_its_post_fails() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let ann = host.token("ann").await;
    for (status, why) in [(500, "HTTP 500"), (400, "HTTP 400")] {
        remote.answers(&[status]);
        remote.hold(true);
        host.say(&ann, &room, &format!("@weather {status}?")).await;
        let delivery = remote.take().await;
        let shown = json!({"type": "status", "status": "looking"});
        call(&host, &delivery, shown).await.ok();
        remote.hold(false);
        knows(&host, why).await;
        // After the wait that a failed post has.
        host.pass(2_000).await;
        accepted(&host).await;
        remote.nothing().await;
        call(&host, &delivery, said("Well.")).await.ok();
        nothing_owed(&host).await;
        assert_eq!(dead(&host).await, 0, "{why}");
    }
}

// covers: WHK-32, WHK-36, WHK-418
#[tokio::test]
async fn attempts_are_counted_over_a_restart() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let ann = host.token("ann").await;
    remote.answers(&[500, 500]);
    host.say(&ann, &room, "@weather one?").await;
    let first = remote.take().await;
    let second = remote.take_later(&host).await;
    let (now, url) = (host.clock_now().plus(60_000), host.running.url.clone());
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_with(folder, now, at_once).await;
    let third = remote.take_later(&host).await;
    assert_eq!((attempt(&first), attempt(&second)), (1, 2));
    assert!(attempt(&third) > 2, "{third}");
    let second = json!({"callback": text(&second["callback"]).replace(&url, &host.running.url)});
    call(&host, &second, said("Yes.")).await.ok();
    assert_eq!(call(&host, &third, said("Yes.")).await.refused(409), "STALE_TURN");
    assert_eq!(messages(&host, &room).await.len(), 2);
}

// covers: WHK-409, WHK-418
#[tokio::test]
async fn a_reminder_that_is_tried_anew_keeps_its_key_and_is_another_attempt() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    host.say(&host.token("ann").await, &room, "@weather hm?").await;
    let message = remote.take().await;
    accepted(&host).await;
    let status = json!({"type": "status", "status": "looking"});
    call(&host, &message, status).await.ok();
    remote.answers(&[503]);
    let posts = [remote.post_later(&host).await, remote.post_later(&host).await];
    let [first, second] = posts.each_ref().map(Post::json);
    assert_eq!((&first["kind"], &second["kind"]), (&json!("reminder"), &json!("reminder")));
    assert_eq!(key(&posts[0]), key(&posts[1]));
    assert_eq!(attempt(&second), attempt(&first) + 1);
    call(&host, &first, said("Hm.")).await.ok();
    assert_eq!(call(&host, &second, said("Hm.")).await.refused(409), "STALE_TURN");
}

//! What a service hears of a run beside its words: what the agent does, and that it cannot.

use reqwest::Method;
use serde_json::json;

use super::back::says;
use super::{deliver, minimal, with_inbox};
use crate::test_host::{PATIENCE, TestHost};
use crate::webhook::{Remote, call};

// covers: WHK-412
#[tokio::test]
async fn activity_of_an_endpoint_agent_is_sent_to_the_service() {
    let (host, mut service) = (TestHost::open().await, Remote::open().await);
    let mut agent = Remote::open().await;
    let (path, _) = with_inbox(&host, json!({})).await;
    let new = json!({"member": "bot", "url": agent.url()});
    host.post(&host.operator(), "/v1/endpoints", new).await.ok();
    let callback = service.at("/cb/C04/tok_1");
    deliver(&host, &path, &says("m1", "what broke the build?", &callback)).await.ok();
    let delivery = agent.take_later(&host).await;
    assert_eq!(service.take().await["state"], "processing");
    for event in [
        json!({"type": "status", "status": "looking"}),
        json!({"type": "tool_call", "name": "web_search", "args": {"q": "x"}, "id": "tc_1"}),
        json!({"type": "tool_result", "id": "tc_1", "content": "3°C"}),
        json!({"type": "error", "message": "no map", "code": "tool_error"}),
    ] {
        call(&host, &delivery, event.clone()).await.ok();
        let heard = service.take().await;
        assert_eq!(heard["type"], event["type"]);
        for field in ["status", "name", "args", "id", "content", "message", "code"] {
            assert_eq!(heard.get(field), event.get(field), "{heard}");
        }
    }
    call(&host, &delivery, json!({"type": "message", "content": "A semicolon."})).await.ok();
    assert_eq!(service.take().await["content"], "A semicolon.");
}

// covers: WHK-76
#[tokio::test]
async fn an_agent_behind_a_string_is_told_who_speaks_and_so_is_whoever_reads_it() {
    let (host, mut agent) = (TestHost::open().await, Remote::open().await);
    let (path, _) = with_inbox(&host, json!({})).await;
    let op = host.operator();
    host.post(&op, "/v1/endpoints", json!({"member": "bot", "url": agent.url()})).await.ok();
    let mut said = says("m1", "swordfish?", "https://slack-adapter.example.com/cb/C04/tok_1");
    said["message"]["sender"] = json!("Alice Smith");
    deliver(&host, &path, &said).await.ok();
    let delivery = agent.take_later(&host).await;
    assert_eq!(delivery["message"]["sender"], "Alice Smith");
    assert_ne!(delivery["chorus"]["sender"]["id"], "bot");
    let (room, bot) = (delivery["channel"]["id"].as_str().unwrap(), host.token("bot").await);
    let listed = host.get(&bot, &format!("/v1/events?conversation={room}")).await.ok();
    let said = listed["events"].as_array().unwrap().iter().find(|e| e["message"].is_object());
    assert_eq!(said.unwrap()["actor"]["display_name"], "Alice Smith", "{listed}");
    assert!(host.running.searchable(PATIENCE).await);
    let found = host.get(&bot, "/v1/search?q=swordfish").await.ok();
    assert_eq!(found["hits"][0]["author"]["display_name"], "Alice Smith", "{found}");
}

// covers: WHK-413
#[tokio::test]
async fn a_service_hears_that_no_answer_comes_and_the_operator_sees_why() {
    let (host, mut service) = (TestHost::open().await, Remote::open().await);
    let (path, _) = with_inbox(&host, json!({})).await;
    let callback = service.at("/cb/C04/tok_1");
    // Nobody is there.
    deliver(&host, &path, &says("m1", "what broke the build?", &callback)).await.ok();
    host.pass(301_000).await;
    let heard = loop {
        let heard = service.take_later(&host).await;
        if heard["type"] != "lifecycle" {
            break heard;
        }
    };
    assert_eq!((&heard["type"], &heard["code"]), (&json!("error"), &json!("answer_overdue")));
    let op = host.operator();
    let dead = host.get(&op, "/v1/deliveries?state=dead&member=bot").await.ok();
    assert_eq!(dead["deliveries"].as_array().unwrap().len(), 1, "{dead}");

    // It is there, and fails.
    let mut bot = host.connect(&host.token("bot").await).await;
    deliver(&host, &path, &says("m2", "what broke the build now?", &callback)).await.ok();
    let event = bot.take().await;
    let failed = json!({"eventId": event["eventId"], "disposition": "failed", "note": "no model"});
    bot.call("chat/disposition", failed).await.unwrap();
    let heard = loop {
        let heard = service.take_later(&host).await;
        if heard["type"] == "error" {
            break heard;
        }
    };
    assert_eq!(heard["code"], "run_failed");
    assert!(heard["message"].as_str().unwrap().contains("no model"), "{heard}");
    let dead = host.get(&op, "/v1/deliveries?state=dead&member=bot").await.ok();
    assert_eq!(dead["deliveries"].as_array().unwrap().len(), 2, "{dead}");
}

/// The agent gives members a seat in a conversation of its own; the token with which it may.
async fn seat(host: &TestHost, room: &str, members: &[&str]) -> String {
    let (orchestrator, op) = (host.token_of("bot", "orchestrator").await, host.operator());
    for member in members {
        let path = format!("/v1/channels/{room}/members/{member}");
        let seats = async || host.send(&orchestrator, Method::PUT, &path, Some(json!({}))).await;
        // What was said there before is read by whoever is seated: a person agrees to that.
        assert_eq!(seats().await.refused(403), "APPROVAL_REQUIRED");
        let waits = host.get(&op, "/v1/approvals").await.ok();
        let id = waits["approvals"][0]["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/approvals/{id}");
        host.post(&op, &path, json!({"approved": true})).await.ok();
        seats().await.ok();
    }
    orchestrator
}

// covers: WHK-413
#[tokio::test]
async fn a_service_hears_it_whoever_else_is_there() {
    let (host, mut service) = (TestHost::open().await, Remote::open().await);
    let (path, _) = with_inbox(&host, json!({})).await;
    let op = host.operator();
    host.room(&["boss"]).await;
    let callback = service.at("/cb/C04/tok_1");
    deliver(&host, &path, &says("m1", "thanks", &callback)).await.ok();
    let mut bot = host.connect(&host.token("bot").await).await;
    let told = bot.take().await;
    let room = told["conversation"]["id"].as_str().unwrap();
    let orchestrator = seat(&host, room, &["ann", "boss", "operator"]).await;
    let lead = Some(json!({"lead": "boss"}));
    host.send(&orchestrator, Method::PATCH, &format!("/v1/channels/{room}"), lead).await.ok();
    let params = json!({"eventId": told["eventId"], "disposition": "acknowledged"});
    bot.call("chat/disposition", params).await.unwrap();
    drop(bot);
    // Of these nobody could answer so that the service hears it.
    deliver(&host, &path, &says("m2", "what broke the build?", &callback)).await.ok();
    host.pass(301_000).await;
    let heard = loop {
        let heard = service.take_later(&host).await;
        if heard["type"] != "lifecycle" {
            break heard;
        }
    };
    assert_eq!((&heard["type"], &heard["code"]), (&json!("error"), &json!("answer_overdue")));
    let dead = host.get(&op, "/v1/deliveries?state=dead&member=bot").await.ok();
    assert_eq!(dead["deliveries"].as_array().unwrap().len(), 1, "{dead}");
    for member in ["ann", "operator"] {
        let path = format!("/v1/deliveries?member={member}");
        assert_eq!(host.get(&op, &path).await.ok()["deliveries"], json!([]), "{member}");
    }
}

// covers: WHK-412, WHK-417
#[tokio::test]
async fn activity_goes_to_the_callback_of_its_message() {
    let (host, mut service) = (crate::webhook::open().await, Remote::open().await);
    let (mut agent, mut other) = (Remote::open().await, Remote::open().await);
    let (path, _) = with_inbox(&host, json!({})).await;
    let op = host.operator();
    host.room(&["helper"]).await;
    for (member, remote) in [("bot", &agent), ("helper", &other)] {
        let new = json!({"member": member, "url": remote.url()});
        host.post(&op, "/v1/endpoints", new).await.ok();
    }
    let status = |what: &str| json!({"type": "status", "status": what});
    deliver(&host, &path, &says("m1", "what broke the build?", &service.at("/cb/1"))).await.ok();
    let first = agent.take().await;
    assert_eq!(service.post().await.path, "/cb/1");
    let room = first["channel"]["id"].as_str().unwrap();
    seat(&host, room, &["ann", "helper"]).await;
    let ann = host.token("ann").await;
    let whisper = json!({"conversation": room, "text": "@bot between us?",
        "visibility": "ephemeral", "only": ["bot"], "idempotency_key": "w"});
    host.post(&ann, "/v1/messages", whisper).await.ok();
    let whispered = agent.take().await;
    host.say(&ann, room, "@helper can you look?").await;
    let helped = other.take().await;
    deliver(&host, &path, &says("m2", "and what mended it?", &service.at("/cb/2"))).await.ok();
    let second = agent.take().await;
    assert_eq!(service.post().await.path, "/cb/2");

    // What is not about a message of the service's is none of its business, though it is done where one waits.
    for delivery in [&whispered, &helped] {
        call(&host, delivery, status("of others")).await.ok();
    }
    for (delivery, callback) in [(&first, "/cb/1"), (&second, "/cb/2"), (&first, "/cb/1")] {
        call(&host, delivery, status(callback)).await.ok();
        let heard = service.post().await;
        assert_eq!((&*heard.path, heard.json()), (callback, status(callback)));
    }
    // It has answered one, and goes on with it.
    call(&host, &second, json!({"type": "message", "content": "A semicolon."})).await.ok();
    assert_eq!(service.take().await["content"], "A semicolon.");
    call(&host, &second, status("more")).await.ok();
    assert_eq!(service.post().await.json(), status("more"));
    call(&host, &first, json!({"type": "lifecycle", "state": "idle"})).await.ok();
    let over = service.post().await;
    assert_eq!((&*over.path, over.json()["type"].as_str()), ("/cb/1", Some("error")));
}

// covers: WHK-411
#[tokio::test]
async fn words_that_are_not_known_here_are_tolerated() {
    let host = TestHost::open().await;
    let (path, _) = with_inbox(&host, json!({})).await;
    let mut bot = host.connect(&host.token("bot").await).await;
    let mut body = minimal("https://a.example/cb/tok_1");
    body["chorus"] = json!({
        "sender": {"id": "x", "kind": "workflow", "colour": "red"},
        "attention": {"directedness": "to_the_moon", "policy": "should_sing", "intent": "whim",
            "mode": "telepathy", "priority": "cosmic", "reason": "why not"},
        "parts": [{"type": "text", "text": "what broke the build?"}, {"type": "hologram", "url": "x"}],
        "weather": {"a": 1},
    });
    deliver(&host, &path, &body).await.ok();
    let told = bot.take().await;
    assert_eq!(told["author"]["kind"], "agent", "what is not known to be a person is none");
    assert_eq!(told["turn"]["hop"], 1);
    assert_eq!(told["content"][0]["text"], "what broke the build?");
    assert!(told["content"][1]["text"].as_str().unwrap().contains("hologram"), "{told}");
    assert_eq!(told["attention"]["policy"], "must_respond");
    // Nor is what is no word at all, which is how some services write that there is none.
    body["message"] = json!({"id": "msg_1b", "sender": "x", "content": "and what mended it?"});
    body["chorus"] = json!({"sender": {"id": null, "kind": null}, "attention": {"mode": 7}});
    body["mcp"] = json!({"url": "https://a.example/mcp", "headers": null});
    deliver(&host, &path, &body).await.ok();
    assert_eq!(bot.take().await["author"]["kind"], "agent");
    // What says less says nothing.
    body["message"]["id"] = "msg_2".into();
    body["chorus"] = json!({"sender": {"kind": "human"}, "attention": {"policy": "may_respond"}});
    deliver(&host, &path, &body).await.ok();
    assert_eq!(bot.take().await["attention"]["policy"], "may_respond");
    // Numbers too large are the largest there are, and what is no number or time says nothing.
    body["message"]["id"] = "msg_3".into();
    body["message"]["content"] = "what broke the build?".into();
    body["chorus"] = json!({"hop": -1, "attempt": 70_000, "audience_more": 1e300,
        "created_at": "yesterday", "thread": {"id": "th_1", "sequence": "seven"},
        "sender": {"kind": 3}, "attention": {"policy": ["x"], "deadline_ms": 5e9}});
    deliver(&host, &path, &body).await.ok();
    assert_eq!(bot.take().await["turn"]["hop"], 1);
    body["message"]["id"] = "msg_4".into();
    body["chorus"] = json!({"hop": 300});
    deliver(&host, &path, &body).await.ok();
    assert!(bot.is_quiet().await, "the chain is over");
    let path =
        format!("/v1/messages?conversation={}", told["conversation"]["id"].as_str().unwrap());
    let kept = host.get(&host.token("bot").await, &path).await.ok();
    assert_eq!(kept["messages"].as_array().map(Vec::len), Some(5), "{kept}");
}

// covers: WHK-415, WHK-416
#[tokio::test]
async fn a_reminder_is_taken_and_changes_nothing_and_a_message_keeps_its_words() {
    let host = TestHost::open().await;
    let (path, id) = with_inbox(&host, json!({})).await;
    let mut bot = host.connect(&host.token("bot").await).await;
    let callback = "https://a.example/cb/tok_1";
    deliver(&host, &path, &says("m1", "one?", callback)).await.ok();
    assert_eq!(bot.take().await["content"][0]["text"], "one?");
    let signal = json!({"kind": "reminder", "channel": {"id": "C04ABCDEF"}, "event_id": "m1",
        "callback": callback, "chorus": {"attempt": 2}});
    assert_eq!(deliver(&host, &path, &signal).await.ok(), json!({}));
    deliver(&host, &path, &says("m1", "something else?", callback)).await.ok();
    assert!(bot.is_quiet().await);
    let shown = host.get(&host.operator(), &format!("/v1/inboxes/{id}")).await.ok();
    assert_eq!(shown["channels"], 1);
    let other = json!({"kind": "song", "channel": {"id": "C04ABCDEF"}, "event_id": "m1",
        "callback": callback});
    assert_eq!(deliver(&host, &path, &other).await.refused(400), "VALIDATION_ERROR");
}

//! What a service hears of a run beside its words: what the agent does, and that it cannot.

use serde_json::json;

use super::back::says;
use super::{deliver, minimal, with_inbox};
use crate::house::{House, PATIENCE};
use crate::webhook::{Remote, call};

// covers: WHK-412
#[tokio::test]
async fn what_an_agent_behind_a_string_does_goes_back_to_the_service() {
    let (house, mut service) = (House::open().await, Remote::open().await);
    let mut agent = Remote::open().await;
    let (path, _) = with_inbox(&house, json!({})).await;
    let new = json!({"member": "bot", "url": agent.url()});
    house.post(&house.operator(), "/v1/endpoints", new).await.ok();
    let callback = service.at("/cb/C04/tok_1");
    deliver(&house, &path, &says("m1", "what broke the build?", &callback)).await.ok();
    let delivery = agent.take_later(&house).await;
    assert_eq!(service.take().await["state"], "processing");
    for event in [
        json!({"type": "status", "status": "looking"}),
        json!({"type": "tool_call", "name": "web_search", "args": {"q": "x"}, "id": "tc_1"}),
        json!({"type": "tool_result", "id": "tc_1", "content": "3°C"}),
        json!({"type": "error", "message": "no map", "code": "tool_error"}),
    ] {
        call(&house, &delivery, event.clone()).await.ok();
        let heard = service.take().await;
        assert_eq!(heard["type"], event["type"]);
        for field in ["status", "name", "args", "id", "content", "message", "code"] {
            assert_eq!(heard.get(field), event.get(field), "{heard}");
        }
    }
    call(&house, &delivery, json!({"type": "message", "content": "A semicolon."})).await.ok();
    assert_eq!(service.take().await["content"], "A semicolon.");
}

// covers: WHK-76
#[tokio::test]
async fn an_agent_behind_a_string_is_told_who_speaks_and_so_is_whoever_reads_it() {
    let (house, mut agent) = (House::open().await, Remote::open().await);
    let (path, _) = with_inbox(&house, json!({})).await;
    let op = house.operator();
    house.post(&op, "/v1/endpoints", json!({"member": "bot", "url": agent.url()})).await.ok();
    let mut said = says("m1", "swordfish?", "https://slack-adapter.example.com/cb/C04/tok_1");
    said["message"]["sender"] = json!("Alice Smith");
    deliver(&house, &path, &said).await.ok();
    let delivery = agent.take_later(&house).await;
    assert_eq!(delivery["message"]["sender"], "Alice Smith");
    assert_ne!(delivery["chorus"]["sender"]["id"], "bot");
    let (room, bot) = (delivery["channel"]["id"].as_str().unwrap(), house.token("bot").await);
    let listed = house.get(&bot, &format!("/v1/events?conversation={room}")).await.ok();
    let said = listed["events"].as_array().unwrap().iter().find(|e| e["message"].is_object());
    assert_eq!(said.unwrap()["actor"]["display_name"], "Alice Smith", "{listed}");
    assert!(house.running.searchable(PATIENCE).await);
    let found = house.get(&bot, "/v1/search?q=swordfish").await.ok();
    assert_eq!(found["hits"][0]["author"]["display_name"], "Alice Smith", "{found}");
}

// covers: WHK-413
#[tokio::test]
async fn a_service_hears_that_no_answer_comes_and_the_operator_sees_why() {
    let (house, mut service) = (House::open().await, Remote::open().await);
    let (path, _) = with_inbox(&house, json!({})).await;
    let callback = service.at("/cb/C04/tok_1");
    // Nobody is there.
    deliver(&house, &path, &says("m1", "what broke the build?", &callback)).await.ok();
    house.pass(301_000).await;
    let heard = loop {
        let heard = service.take_later(&house).await;
        if heard["type"] != "lifecycle" {
            break heard;
        }
    };
    assert_eq!((&heard["type"], &heard["code"]), (&json!("error"), &json!("answer_overdue")));
    let op = house.operator();
    let dead = house.get(&op, "/v1/deliveries?state=dead&member=bot").await.ok();
    assert_eq!(dead["deliveries"].as_array().unwrap().len(), 1, "{dead}");

    // It is there, and fails.
    let mut bot = house.connect(&house.token("bot").await).await;
    deliver(&house, &path, &says("m2", "what broke the build now?", &callback)).await.ok();
    let event = bot.take().await;
    let failed = json!({"eventId": event["eventId"], "disposition": "failed", "note": "no model"});
    bot.call("chat/disposition", failed).await.unwrap();
    let heard = loop {
        let heard = service.take_later(&house).await;
        if heard["type"] == "error" {
            break heard;
        }
    };
    assert_eq!(heard["code"], "run_failed");
    assert!(heard["message"].as_str().unwrap().contains("no model"), "{heard}");
    let dead = house.get(&op, "/v1/deliveries?state=dead&member=bot").await.ok();
    assert_eq!(dead["deliveries"].as_array().unwrap().len(), 2, "{dead}");
}

// covers: WHK-411
#[tokio::test]
async fn words_that_are_not_known_here_are_tolerated() {
    let house = House::open().await;
    let (path, _) = with_inbox(&house, json!({})).await;
    let mut bot = house.connect(&house.token("bot").await).await;
    let mut body = minimal("https://a.example/cb/tok_1");
    body["chorus"] = json!({
        "sender": {"id": "x", "kind": "workflow", "colour": "red"},
        "attention": {"directedness": "to_the_moon", "policy": "should_sing", "intent": "whim",
            "mode": "telepathy", "priority": "cosmic", "reason": "why not"},
        "parts": [{"type": "text", "text": "what broke the build?"}, {"type": "hologram", "url": "x"}],
        "weather": {"a": 1},
    });
    deliver(&house, &path, &body).await.ok();
    let told = bot.take().await;
    assert_eq!(told["author"]["kind"], "agent", "what is not known to be a person is none");
    assert_eq!(told["turn"]["hop"], 1);
    assert_eq!(told["content"][0]["text"], "what broke the build?");
    assert!(told["content"][1]["text"].as_str().unwrap().contains("hologram"), "{told}");
    assert_eq!(told["attention"]["policy"], "must_respond");
    // What says less says nothing.
    body["message"]["id"] = "msg_2".into();
    body["chorus"] = json!({"sender": {"kind": "human"}, "attention": {"policy": "may_respond"}});
    deliver(&house, &path, &body).await.ok();
    assert_eq!(bot.take().await["attention"]["policy"], "may_respond");
}

// covers: WHK-415, WHK-416
#[tokio::test]
async fn a_reminder_is_taken_and_changes_nothing_and_a_message_keeps_its_words() {
    let house = House::open().await;
    let (path, id) = with_inbox(&house, json!({})).await;
    let mut bot = house.connect(&house.token("bot").await).await;
    let callback = "https://a.example/cb/tok_1";
    deliver(&house, &path, &says("m1", "one?", callback)).await.ok();
    assert_eq!(bot.take().await["content"][0]["text"], "one?");
    let signal = json!({"kind": "reminder", "channel": {"id": "C04ABCDEF"}, "event_id": "m1",
        "callback": callback, "chorus": {"attempt": 2}});
    assert_eq!(deliver(&house, &path, &signal).await.ok(), json!({}));
    deliver(&house, &path, &says("m1", "something else?", callback)).await.ok();
    assert!(bot.is_quiet().await);
    let shown = house.get(&house.operator(), &format!("/v1/inboxes/{id}")).await.ok();
    assert_eq!(shown["channels"], 1);
    let other = json!({"kind": "song", "channel": {"id": "C04ABCDEF"}, "event_id": "m1",
        "callback": callback});
    assert_eq!(deliver(&house, &path, &other).await.refused(400), "VALIDATION_ERROR");
}

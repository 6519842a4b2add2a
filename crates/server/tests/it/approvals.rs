//! What waits for a person, over the transports.

use chorus_core::model::ids::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

use crate::house::{House, START};

const SECRET: &str = "the merger is off";

/// A direct conversation of ann and bot, in which she has asked it something; the message it is about to carry
/// into the channel `room`.
async fn carried(house: &House, room: &str, key: &str) -> Value {
    let ann = house.token("ann").await;
    let new = json!({"title": "pair", "kind": "dm", "members": ["bot"]});
    let pair = house.post(&ann, "/v1/channels", new).await.ok();
    let pair = pair["id"].as_str().unwrap();
    let asked = house.say(&ann, pair, &format!("{SECRET}, tell the others")).await;
    json!({
        "conversation": room, "text": SECRET, "in_reply_to": asked["event_id"],
        "idempotency_key": key,
    })
}

// covers: ATT-136, ATT-190, ATT-192
#[tokio::test]
async fn a_person_is_asked_before_what_was_private_is_said_to_others() {
    let house = House::open().await;
    let room = house.room(&["bot", "other"]).await;
    let (ann, op) = (house.token("ann").await, house.operator());
    let (bot, other) = (house.token("bot").await, house.token("other").await);
    let new = carried(&house, &room, "k1").await;
    let held = house.post(&bot, "/v1/messages", new.clone()).await;
    assert_eq!(held.body["error"]["code"], "APPROVAL_REQUIRED");
    let message = held.body["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(held.refused(403), "APPROVAL_REQUIRED");

    for who in [&ann, &op, &bot] {
        let waits = house.get(who, "/v1/approvals").await.ok();
        let one = &waits["approvals"][0];
        assert_eq!((&one["text"], &one["agent"]), (&json!(SECRET), &json!("bot")));
        assert_eq!((&one["state"], &one["conversation"]), (&json!("waiting"), &json!(room)));
        assert!(message.contains(one["id"].as_str().unwrap()));
    }
    // Who cannot read where it comes from is not shown it, nor asked.
    let waits = house.get(&other, "/v1/approvals?all=true").await.ok();
    assert_eq!(waits["approvals"], json!([]));
    let waits = house.get(&ann, "/v1/approvals").await.ok();
    let path = format!("/v1/approvals/{}", waits["approvals"][0]["id"].as_str().unwrap());
    let yes = json!({"approved": true});
    assert_eq!(house.post(&other, &path, yes.clone()).await.refused(404), "NOT_FOUND");
    assert_eq!(house.post(&bot, &path, yes.clone()).await.refused(403), "INSUFFICIENT_AUTHORITY");
    for (path, body, status, code) in [
        ("/v1/approvals/apr_1", yes.clone(), 404, "NOT_FOUND"),
        (&*path, json!({}), 400, "VALIDATION_ERROR"),
        (&*path, json!({"approved": "yes"}), 400, "VALIDATION_ERROR"),
        (&*path, json!({"approved": true, "reason": "x".repeat(5_000)}), 400, "VALIDATION_ERROR"),
    ] {
        assert_eq!(house.post(&ann, path, body).await.refused(status), code, "{path}");
    }
    let log = house.get(&op, &format!("/v1/messages?conversation={room}")).await.ok();
    assert!(!log.to_string().contains(SECRET), "{log}");

    let said = house.post(&ann, &path, yes.clone()).await.ok();
    assert_eq!((&said["state"], &said["decided_by"]), (&json!("approved"), &json!("ann")));
    assert!(said.get("text").is_none());
    let again = house.post(&bot, "/v1/messages", new).await.ok();
    assert_eq!((&again["event_id"], &again["duplicate"]), (&said["event_id"], &json!(true)));
    let log = house.get(&op, &format!("/v1/messages?conversation={room}")).await.ok();
    assert_eq!(log.to_string().matches(SECRET).count(), 1, "{log}");
    assert_eq!(house.post(&ann, &path, json!({"approved": false})).await.refused(409), "CONFLICT");
}

// covers: ATT-190, ATT-191
#[tokio::test]
async fn what_waits_outlives_the_host_and_can_be_refused() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let bot = house.token("bot").await;
    let new = carried(&house, &room, "k1").await;
    house.post(&bot, "/v1/messages", new.clone()).await.refused(403);
    let House { running, folder, .. } = house;
    running.stop().await;
    let house = House::open_in(folder, Timestamp(START.0 + 60_000)).await;
    let ann = house.token("ann").await;
    let waits = house.get(&ann, "/v1/approvals").await.ok();
    assert_eq!(waits["approvals"][0]["text"], SECRET);
    let path = format!("/v1/approvals/{}", waits["approvals"][0]["id"].as_str().unwrap());
    let no = json!({"approved": false, "reason": "not yet"});
    assert_eq!(house.post(&ann, &path, no).await.ok()["state"], "denied");
    let refused = house.post(&bot, "/v1/messages", new).await;
    assert!(refused.body["error"]["message"].as_str().unwrap().contains("not yet"));
    assert_eq!(refused.refused(403), "FORBIDDEN");
    assert_eq!(house.get(&ann, "/v1/approvals").await.ok()["approvals"], json!([]));
    let all = house.get(&ann, "/v1/approvals?all=true").await.ok();
    assert_eq!(
        (&all["approvals"][0]["state"], all["approvals"][0].get("text")),
        (&json!("denied"), None)
    );
}

// covers: ATT-193
#[tokio::test]
async fn a_sensitive_tool_waits_at_every_door() {
    let house = House::open_with(tempfile::tempdir().unwrap(), START, |config| {
        config.settings.approvals.sensitive_tools =
            vec!["chat.claim".to_owned(), "chat.send_message".to_owned()];
    })
    .await;
    let room = house.room(&["bot"]).await;
    let (ann, op) = (house.token("ann").await, house.operator());
    let token = house.token("bot").await;
    let said = house.say(&ann, &room, "anybody?").await;
    let event = said["event_id"].as_str().unwrap();
    let mut bot = house.connect(&token).await;
    let refused = bot.tool("chat.claim", json!({"eventId": event})).await.unwrap_err();
    assert_eq!(refused, "APPROVAL_REQUIRED");
    // The same by REST is the same request.
    let claim = json!({"event": event});
    house.post(&token, "/v1/claims", claim.clone()).await.refused(403);
    let waits = house.get(&op, "/v1/approvals").await.ok();
    assert_eq!(waits["approvals"].as_array().unwrap().len(), 1, "{waits}");
    let one = &waits["approvals"][0];
    assert_eq!(
        (&one["tool"], &one["arguments"]),
        (&json!("chat.claim"), &json!({"eventId": event}))
    );
    let path = format!("/v1/approvals/{}", one["id"].as_str().unwrap());
    house.post(&op, &path, json!({"approved": true})).await.ok();
    assert_ne!(
        house.post(&token, "/v1/claims", claim).await.body["error"]["code"],
        "APPROVAL_REQUIRED"
    );
    // People are not asked about what they do themselves.
    let new = json!({"conversation": room, "text": "mine", "idempotency_key": "k9"});
    house.post(&token, "/v1/messages", new.clone()).await.refused(403);
    house.post(&ann, "/v1/messages", new).await.ok();
}

// covers: ATT-193
#[tokio::test]
async fn where_every_message_waits_an_edit_and_a_stimulus_wait_too() {
    let house = House::open_with(tempfile::tempdir().unwrap(), START, |config| {
        config.settings.approvals.sensitive_tools = vec!["chat.send_message".to_owned()];
    })
    .await;
    let room = house.room(&["bot"]).await;
    let (op, token) = (house.operator(), house.token("bot").await);
    let agree = async |tool: &str| {
        let waits = house.get(&op, "/v1/approvals").await.ok();
        let mut waits = waits["approvals"].as_array().unwrap().iter();
        let one = waits.find(|one| one["tool"] == tool).unwrap();
        let path = format!("/v1/approvals/{}", one["id"].as_str().unwrap());
        house.post(&op, &path, json!({"approved": true})).await.ok()
    };
    let new = json!({"conversation": room, "text": "all is well", "idempotency_key": "k1"});
    house.post(&token, "/v1/messages", new).await.refused(403);
    let said = agree("chat.send_message").await["event_id"].as_str().unwrap().to_owned();
    let edit = json!({"text": "all is lost"});
    let path = format!("/v1/messages/{said}");
    let send =
        async |body: &Value| house.send(&token, Method::PATCH, &path, Some(body.clone())).await;
    assert_eq!(send(&edit).await.refused(403), "APPROVAL_REQUIRED");
    let idea = json!({"kind": "agent_idea", "text": "shall we go home?"});
    let stimuli = format!("/v1/channels/{room}/stimuli");
    let code = house.post(&token, &stimuli, idea).await.refused(403);
    assert_eq!(code, "APPROVAL_REQUIRED");
    assert_eq!(house.get(&op, &path).await.ok()["text"], "all is well");
    agree("edit_message").await;
    send(&edit).await.ok();
    assert_eq!(house.get(&op, &path).await.ok()["text"], "all is lost");
}

//! What waits for a person, over the transports.

use chorus_core::model::ids::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{START, TestHost};

const SECRET: &str = "the merger is off";

/// A direct conversation of ann and bot, in which she has asked it something; the message it is about to carry
/// into the channel `room`.
async fn carried(host: &TestHost, room: &str, key: &str) -> Value {
    let ann = host.token("ann").await;
    let new = json!({"title": "pair", "kind": "dm", "members": ["bot"]});
    let pair = host.post(&ann, "/v1/channels", new).await.ok();
    let pair = pair["id"].as_str().unwrap();
    let asked = host.say(&ann, pair, &format!("{SECRET}, tell the others")).await;
    json!({
        "conversation": room, "text": SECRET, "in_reply_to": asked["event_id"],
        "idempotency_key": key,
    })
}

// covers: ATT-136, ATT-190, ATT-192
#[tokio::test]
async fn a_person_is_asked_before_what_was_private_is_said_to_others() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other", "mate"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let (bot, other) = (host.token("bot").await, host.token("other").await);
    let mate = host.token("mate").await;
    let new = carried(&host, &room, "k1").await;
    let held = host.post(&bot, "/v1/messages", new.clone()).await;
    assert_eq!(held.body["error"]["code"], "APPROVAL_REQUIRED");
    let message = held.body["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(held.refused(403), "APPROVAL_REQUIRED");

    for who in [&ann, &op, &bot] {
        let waits = host.get(who, "/v1/approvals").await.ok();
        let one = &waits["approvals"][0];
        assert_eq!((&one["text"], &one["agent"]), (&json!(SECRET), &json!("bot")));
        assert_eq!((&one["state"], &one["conversation"]), (&json!("waiting"), &json!(room)));
        assert!(message.contains(one["id"].as_str().unwrap()));
    }
    // Who cannot read where it comes from is not shown it, nor asked, and other agents are not, whatever they read.
    for who in [&other, &mate] {
        let waits = host.get(who, "/v1/approvals?all=true").await.ok();
        assert_eq!(waits["approvals"], json!([]));
    }
    let waits = host.get(&ann, "/v1/approvals").await.ok();
    let path = format!("/v1/approvals/{}", waits["approvals"][0]["id"].as_str().unwrap());
    let yes = json!({"approved": true});
    assert_eq!(host.post(&other, &path, yes.clone()).await.refused(404), "NOT_FOUND");
    assert_eq!(host.post(&mate, &path, yes.clone()).await.refused(404), "NOT_FOUND");
    assert_eq!(host.post(&bot, &path, yes.clone()).await.refused(403), "INSUFFICIENT_AUTHORITY");
    for (path, body, status, code) in [
        ("/v1/approvals/apr_1", yes.clone(), 404, "NOT_FOUND"),
        (&*path, json!({}), 400, "VALIDATION_ERROR"),
        (&*path, json!({"approved": "yes"}), 400, "VALIDATION_ERROR"),
        (&*path, json!({"approved": true, "reason": "x".repeat(5_000)}), 400, "VALIDATION_ERROR"),
    ] {
        assert_eq!(host.post(&ann, path, body).await.refused(status), code, "{path}");
    }
    let log = host.get(&op, &format!("/v1/messages?conversation={room}")).await.ok();
    assert!(!log.to_string().contains(SECRET), "{log}");

    let said = host.post(&ann, &path, yes.clone()).await.ok();
    assert_eq!((&said["state"], &said["decided_by"]), (&json!("approved"), &json!("ann")));
    assert!(said.get("text").is_none());
    let again = host.post(&bot, "/v1/messages", new).await.ok();
    assert_eq!((&again["event_id"], &again["duplicate"]), (&said["event_id"], &json!(true)));
    let log = host.get(&op, &format!("/v1/messages?conversation={room}")).await.ok();
    assert_eq!(log.to_string().matches(SECRET).count(), 1, "{log}");
    assert_eq!(host.post(&ann, &path, json!({"approved": false})).await.refused(409), "CONFLICT");
}

// covers: ATT-192
#[tokio::test]
async fn what_an_agent_asked_that_is_gone_can_only_be_denied() {
    for gone in ["/v1/channels/{}/members/bot", "/v1/members/bot"] {
        let host = TestHost::open().await;
        let room = host.room(&["bot"]).await;
        let (ann, op, bot) = (host.token("ann").await, host.operator(), host.token("bot").await);
        let new = carried(&host, &room, "k1").await;
        host.post(&bot, "/v1/messages", new).await.refused(403);
        let gone = gone.replace("{}", &room);
        host.send(&op, Method::DELETE, &gone, None).await.ok();
        let waits = host.get(&ann, "/v1/approvals").await.ok();
        let path = format!("/v1/approvals/{}", waits["approvals"][0]["id"].as_str().unwrap());
        let refused = host.post(&ann, &path, json!({"approved": true})).await;
        assert_eq!(refused.refused(409), "CONFLICT", "{gone}");
        let denied = host.post(&ann, &path, json!({"approved": false})).await.ok();
        assert_eq!(denied["state"], "denied");
    }
}

// covers: ATT-190, ATT-191
#[tokio::test]
async fn pending_approval_survives_a_restart_and_can_be_refused() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let bot = host.token("bot").await;
    let new = carried(&host, &room, "k1").await;
    host.post(&bot, "/v1/messages", new.clone()).await.refused(403);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, Timestamp(START.0 + 60_000)).await;
    let ann = host.token("ann").await;
    let waits = host.get(&ann, "/v1/approvals").await.ok();
    assert_eq!(waits["approvals"][0]["text"], SECRET);
    let path = format!("/v1/approvals/{}", waits["approvals"][0]["id"].as_str().unwrap());
    let no = json!({"approved": false, "reason": "not yet"});
    assert_eq!(host.post(&ann, &path, no).await.ok()["state"], "denied");
    let refused = host.post(&bot, "/v1/messages", new).await;
    assert!(refused.body["error"]["message"].as_str().unwrap().contains("not yet"));
    assert_eq!(refused.refused(403), "FORBIDDEN");
    assert_eq!(host.get(&ann, "/v1/approvals").await.ok()["approvals"], json!([]));
    let all = host.get(&ann, "/v1/approvals?all=true").await.ok();
    assert_eq!(
        (&all["approvals"][0]["state"], all["approvals"][0].get("text")),
        (&json!("denied"), None)
    );
}

// covers: ATT-193
#[tokio::test]
async fn a_sensitive_tool_waits_at_every_door() {
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        config.settings.approvals.sensitive_tools =
            vec!["chat.claim".to_owned(), "chat.send_message".to_owned()];
    })
    .await;
    let room = host.room(&["bot"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let token = host.token("bot").await;
    let said = host.say(&ann, &room, "anybody?").await;
    let event = said["event_id"].as_str().unwrap();
    let mut bot = host.connect(&token).await;
    let refused = bot.tool("chat.claim", json!({"eventId": event})).await.unwrap_err();
    assert_eq!(refused, "APPROVAL_REQUIRED");
    // The same by REST is the same request.
    let claim = json!({"event": event});
    host.post(&token, "/v1/claims", claim.clone()).await.refused(403);
    let waits = host.get(&op, "/v1/approvals").await.ok();
    assert_eq!(waits["approvals"].as_array().unwrap().len(), 1, "{waits}");
    let one = &waits["approvals"][0];
    assert_eq!(
        (&one["tool"], &one["arguments"]),
        (&json!("chat.claim"), &json!({"eventId": event}))
    );
    let path = format!("/v1/approvals/{}", one["id"].as_str().unwrap());
    host.post(&op, &path, json!({"approved": true})).await.ok();
    assert_ne!(
        host.post(&token, "/v1/claims", claim).await.body["error"]["code"],
        "APPROVAL_REQUIRED"
    );
    // People are not asked about what they do themselves.
    let new = json!({"conversation": room, "text": "mine", "idempotency_key": "k9"});
    host.post(&token, "/v1/messages", new.clone()).await.refused(403);
    host.post(&ann, "/v1/messages", new).await.ok();
}

// covers: ATT-193
#[tokio::test]
async fn edits_and_stimuli_need_approval_where_messages_do() {
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        config.settings.approvals.sensitive_tools = vec!["chat.send_message".to_owned()];
    })
    .await;
    let room = host.room(&["bot"]).await;
    let (op, token) = (host.operator(), host.token("bot").await);
    let agree = async |tool: &str| {
        let waits = host.get(&op, "/v1/approvals").await.ok();
        let mut waits = waits["approvals"].as_array().unwrap().iter();
        let one = waits.find(|one| one["tool"] == tool).unwrap();
        let path = format!("/v1/approvals/{}", one["id"].as_str().unwrap());
        host.post(&op, &path, json!({"approved": true})).await.ok()
    };
    let new = json!({"conversation": room, "text": "all is well", "idempotency_key": "k1"});
    host.post(&token, "/v1/messages", new).await.refused(403);
    let said = agree("chat.send_message").await["event_id"].as_str().unwrap().to_owned();
    let edit = json!({"text": "all is lost"});
    let path = format!("/v1/messages/{said}");
    let send =
        async |body: &Value| host.send(&token, Method::PATCH, &path, Some(body.clone())).await;
    assert_eq!(send(&edit).await.refused(403), "APPROVAL_REQUIRED");
    let idea = json!({"kind": "agent_idea", "text": "shall we go home?"});
    let stimuli = format!("/v1/channels/{room}/stimuli");
    let code = host.post(&token, &stimuli, idea).await.refused(403);
    assert_eq!(code, "APPROVAL_REQUIRED");
    assert_eq!(host.get(&op, &path).await.ok()["text"], "all is well");
    agree("edit_message").await;
    send(&edit).await.ok();
    assert_eq!(host.get(&op, &path).await.ok()["text"], "all is lost");
}

//! Asking an agent to leave, over the transports.

use serde_json::json;

use crate::test_host::{START, TestHost};

// covers: ATT-154, ATT-155, ATT-156, ATT-157
#[tokio::test]
async fn an_agent_leaves_when_asked_and_comes_back_when_named() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let op = host.operator();
    let seat = json!({"participation": "always_listen"});
    let path = format!("/v1/channels/{room}/members/bot");
    host.send(&op, reqwest::Method::PUT, &path, Some(seat)).await.ok();
    let (ann, token, other) =
        (host.token("ann").await, host.token("bot").await, host.token("other").await);
    let mut bot = host.connect(&token).await;
    host.say(&ann, &room, "who has the rollback plan?").await;
    bot.take().await;
    let asked = host.say(&ann, &room, "@bot please leave this channel").await;
    let cancelled = bot.heard().await.unwrap();
    assert_eq!(cancelled["method"], "notifications/cancelled", "what it was told before");
    let last = bot.take().await;
    assert_eq!(
        (&last["eventId"], &last["attention"]["policy"]),
        (&asked["event_id"], &json!("ack_only"))
    );
    let seen = json!({"inReplyTo": last["eventId"], "signal": "seen"});
    assert_eq!(bot.tool("chat.react", seen).await.unwrap()["disposition"], "acknowledged");

    let log = host.get(&ann, &format!("/v1/events?conversation={room}")).await.ok();
    let kinds = log["events"].as_array().unwrap();
    let left = kinds.iter().find(|e| e["type"] == "member_withdrew").expect("a reader sees it");
    assert_eq!((&left["member"], &left["actor"]["id"]), (&json!("bot"), &json!("ann")));

    let now = START.plus(1_000);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, now).await;
    let mut bot = host.connect(&token).await;
    let said = host.say(&ann, &room, "anybody else with a plan?").await;
    assert!(bot.is_quiet().await, "told nothing, after a restart too");
    let id = said["event_id"].as_str().unwrap();
    let why = host.get(&ann, &format!("/v1/events/{id}/attention")).await.ok();
    assert_eq!(
        (&why["told"][0]["member"], &why["told"][0]["reason"]),
        (&json!("bot"), &json!("left"))
    );
    let report = crate::test_host::doctor(host.folder.path());
    assert!(report.is_clean(), "{:?}", report.problems);

    host.say(&ann, &room, "@bot can you come back?").await;
    bot.take().await;
    host.say(&ann, &room, "somebody ought to test it").await;
    bot.take().await;

    // By itself, or by others only if they are people.
    let leave = format!("/v1/channels/{room}/leave");
    assert_eq!(host.post(&other, &leave, json!({"member": "bot"})).await.refused(403), "FORBIDDEN");
    assert_eq!(
        host.post(&ann, &leave, json!({"member": "ann"})).await.refused(400),
        "VALIDATION_ERROR"
    );
    assert_eq!(
        host.post(&ann, &leave, json!({"member": "nobody"})).await.refused(404),
        "NOT_FOUND"
    );
    assert_eq!(
        host.post(&ann, &leave, json!({"who": "bot"})).await.refused(400),
        "VALIDATION_ERROR"
    );
    assert_eq!(host.post(&token, &leave, json!({})).await.status, 204);
    host.say(&ann, &room, "is it gone again?").await;
    assert!(bot.is_quiet().await);
}

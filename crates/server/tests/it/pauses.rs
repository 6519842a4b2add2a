//! Agents that have talked for as long as they may without a person: refused, held back, shown, and let go on.

use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::TestHost;

/// A conversation of two agents alone, which may say three messages without a person; its id.
async fn two_agents(host: &TestHost, bot: &str) -> String {
    let new = json!({"kind": "dm", "title": "two agents", "members": ["aide"]});
    let made = host.post(bot, "/v1/channels", new).await.ok();
    made["id"].as_str().unwrap().to_owned()
}

async fn say_until_refused(
    host: &TestHost,
    token: &str,
    room: &str,
    from: &str,
) -> (usize, String) {
    for n in 0..100 {
        let text = format!("{from} says number {n}, can you look?");
        let new = json!({"conversation": room, "text": text, "idempotency_key": text});
        let answer = host.post(token, "/v1/messages", new).await;
        if answer.status != 201 {
            let message = answer.body["error"]["message"].as_str().unwrap().to_owned();
            assert_eq!(answer.refused(429), "REPLY_BUDGET_SPENT");
            return (n, message);
        }
    }
    panic!("never refused");
}

// covers: ATT-170, ATT-171, ATT-172, ATT-173, ATT-176
#[tokio::test]
async fn a_direct_conversation_of_agents_pauses_after_fifty_and_a_person_lets_it_go_on() {
    let mut host = TestHost::open().await;
    host.room(&["bot", "aide"]).await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let (bot, aide) = (host.token("bot").await, host.token("aide").await);
    let dm = two_agents(&host, &bot).await;
    let (said, message) = say_until_refused(&host, &bot, &dm, "first").await;
    assert_eq!(said, 50);
    assert!(message.contains("chorus continue"), "{message}");
    // The lead learns that it waits, and not what was said: it has no seat there.
    let pauses = host.get(&op, "/v1/pauses").await.ok();
    assert_eq!(pauses["pauses"].as_array().unwrap().len(), 1);
    assert_eq!(pauses["pauses"][0]["conversation"], json!(dm));
    assert_eq!(pauses["pauses"][0]["title"], Value::Null);
    assert_eq!(host.get(&ann, "/v1/pauses").await.ok()["pauses"], json!([]));
    // It is shown where the conversation is, and why the last message waits.
    let shown = host.get(&bot, &format!("/v1/channels/{dm}")).await.ok();
    assert_eq!((&shown["paused"], &shown["unattended"]), (&json!(true), &json!(50)));
    let log = host.get(&bot, &format!("/v1/messages?conversation={dm}")).await.ok();
    let last = log["messages"].as_array().unwrap().last().unwrap()["event_id"].clone();
    let path = format!("/v1/events/{}/attention", last.as_str().unwrap());
    let why = host.get(&bot, &path).await.ok();
    assert_eq!(why["paused"], true);
    let told = |why: &Value, member: &str| {
        let all = why["told"].as_array().unwrap().clone();
        all.into_iter().find(|t| t["member"] == member).expect("told")
    };
    assert_eq!(told(&why, "operator")["reason"], "budget_spent");
    assert!(told(&why, "aide")["receipt"]["stands_still_since"].is_string(), "{why}");

    // A restart forgets nothing of it, and half a day moves nothing on.
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    host = TestHost::open_in(folder, crate::test_host::START.plus(12 * 3_600_000)).await;
    // Whoever is connected is offered nothing from there.
    let mut harness = host.connect(&aide).await;
    host.pass(3_600_000).await;
    let why = host.get(&bot, &path).await.ok();
    assert_eq!(told(&why, "aide")["receipt"]["state"], "waiting");
    let (more, _) = say_until_refused(&host, &bot, &dm, "again").await;
    assert_eq!(more, 0);

    // Neither an agent nor a person without a seat lets them go on; the lead does, over the transport.
    let go_on = format!("/v1/channels/{dm}/continue");
    assert_eq!(host.post(&bot, &go_on, json!({})).await.refused(403), "FORBIDDEN");
    assert_eq!(host.post(&ann, &go_on, json!({})).await.refused(404), "NOT_FOUND");
    let done = host.post(&op, &go_on, json!({})).await.ok();
    assert_eq!(done["was_paused"], true);
    let mut offered = Vec::new();
    for _ in 0..32 {
        offered.push(harness.take().await["eventId"].clone());
    }
    assert!(!offered.is_empty());
    let (more, _) = say_until_refused(&host, &bot, &dm, "once more").await;
    assert_eq!(more, 50);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let report = crate::test_host::doctor(folder.path());
    assert!(report.is_clean(), "{:?}", report.problems);
}

// covers: ATT-172, ATT-174, ATT-175
#[tokio::test]
async fn a_thread_goes_on_by_the_message_to_the_host_and_a_channel_has_a_budget_of_its_own() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, ann, bot) = (host.operator(), host.token("ann").await, host.token("bot").await);
    for bad in [json!(0), json!(10_001), json!(-1), json!("many")] {
        let patch = json!({"agent_budget": bad});
        let path = format!("/v1/channels/{room}");
        let answer = host.send(&op, Method::PATCH, &path, Some(patch)).await;
        assert_eq!(answer.refused(400), "VALIDATION_ERROR");
    }
    let patch = json!({"agent_budget": 2});
    let set = host.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(patch)).await;
    assert_eq!(set.ok()["agent_budget"], 2);
    let opened = json!({"conversation": room, "title": "deploy", "type": "workflow"});
    let thread = host.post(&op, "/v1/threads", opened).await.ok()["id"].clone();
    let say = |text: &'static str| json!({"conversation": room, "thread": thread, "text": text, "idempotency_key": text});
    host.post(&bot, "/v1/messages", say("one")).await.ok();
    host.post(&bot, "/v1/messages", say("two")).await.ok();
    let path = format!("/v1/threads/{}", thread.as_str().unwrap());
    assert_eq!(host.get(&ann, &path).await.ok()["paused"], true);
    let pauses = host.get(&ann, "/v1/pauses").await.ok();
    assert_eq!(pauses["pauses"][0]["title"], "deploy");
    let three = host.post(&bot, "/v1/messages", say("three")).await;
    assert_eq!(three.refused(429), "REPLY_BUDGET_SPENT");
    // Said to the host: a word that it does not know is explained, and nobody is told of one that it does.
    let before = host.length(&room).await;
    let dance = host.post(&ann, "/v1/messages", say("@chorus dance")).await;
    assert!(dance.body["error"]["message"].as_str().unwrap().contains("@chorus continue"));
    assert_eq!(dance.refused(400), "VALIDATION_ERROR");
    assert_eq!(host.length(&room).await, before);
    let word = host.post(&ann, "/v1/messages", say("@chorus continue")).await.ok();
    assert_eq!(word["told"], json!([]));
    assert_eq!(host.get(&ann, &path).await.ok()["paused"], false);
    host.post(&bot, "/v1/messages", say("three")).await.ok();
    host.post(&bot, "/v1/messages", say("four")).await.ok();
    let done = host.post(&ann, &format!("{path}/continue"), json!({})).await.ok();
    assert_eq!((&done["was_paused"], &done["thread_id"]), (&json!(true), &thread));
    let handle = json!({"id": "chorus", "kind": "agent"});
    assert_eq!(host.post(&op, "/v1/members", handle).await.refused(409), "CONFLICT");
}

//! What one workspace may take: requests and connections at one time, requests in a second, and storage. Others do not notice.

use chorus_testing::eventually;
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::{Below, host_with, made};
use crate::test_host::TestHost;

async fn ready(at: &Below<'_>) -> (StatusCode, String) {
    let url = at.host.url(&format!("/readyz?workspace={}", at.name));
    let answer = reqwest::get(url).await.unwrap();
    (answer.status(), answer.text().await.unwrap())
}

// covers: OPS-171
#[tokio::test]
async fn a_workspace_has_so_many_connections_at_one_time_and_others_have_theirs() {
    let host = host_with(|config| config.settings.workspaces.connections = 2).await;
    let (acme, globex) = (made(&host, "acme").await, made(&host, "globex").await);
    let (_, ann, bot) = acme.room().await;
    let harness = acme.connect(&bot).await;
    // One more beside the connection, and no third.
    acme.get(&ann, "/v1/whoami").await.ok();
    let second = acme.connect(&bot).await;
    let refused = acme.get(&ann, "/v1/whoami").await;
    assert!(refused.body["error"]["message"].as_str().unwrap().contains("connections"));
    assert_eq!(refused.refused(429), "RATE_LIMITED");
    assert_eq!(ready(&acme).await.0, 200);
    globex.get(&globex.operator(), "/v1/whoami").await.ok();
    drop((harness, second));
    eventually("there is room again", async || acme.get(&ann, "/v1/whoami").await.status == 200)
        .await;
    host.running.stop().await;
}

// covers: OPS-171
#[tokio::test]
async fn a_workspace_has_so_many_requests_in_a_second() {
    let host = host_with(|config| {
        config.settings.workspaces.requests_per_second = 1;
        config.settings.workspaces.requests_burst = 20;
    })
    .await;
    let (acme, globex) = (made(&host, "acme").await, made(&host, "globex").await);
    let operator = acme.operator();
    // Who has no token takes nothing from those who have one.
    for _ in 0..40 {
        acme.get("nobody", "/v1/whoami").await.refused(401);
    }
    let mut answered = 0;
    let refused = loop {
        let answer = acme.get(&operator, "/v1/whoami").await;
        if answer.status != 200 {
            break answer;
        }
        answered += 1;
        assert!(answered <= 20);
    };
    assert_eq!(refused.refused(429), "RATE_LIMITED");
    assert!(answered > 10, "{answered}");
    globex.get(&globex.operator(), "/v1/whoami").await.ok();
    host.get(&host.operator(), "/v1/whoami").await.ok();
    host.clock.advance(1_000);
    acme.get(&operator, "/v1/whoami").await.ok();
    acme.get(&operator, "/v1/whoami").await.refused(429);
    host.running.stop().await;
}

// covers: OPS-171
#[tokio::test]
async fn a_workspace_that_has_used_up_its_storage_takes_no_more_and_can_be_read() {
    let host = host_with(|config| config.settings.workspaces.storage_mib = 1).await;
    let (acme, globex) = (made(&host, "acme").await, made(&host, "globex").await);
    let (room, ann, _) = acme.room().await;
    let operator = acme.operator();
    let keep = async |n: u8| {
        let bytes = vec![b'a' + n; 512 * 1024];
        let path = format!("/w/acme/v1/assets?name={n}.txt");
        let request = host.request(Method::POST, &path).bearer_auth(&operator);
        TestHost::answer(request.body(bytes)).await
    };
    let said = acme.say(&ann, &room, "before").await;
    keep(0).await.ok();
    // What was kept a moment ago counts, and so does what is still to come.
    assert_eq!(keep(1).await.refused(429), "RATE_LIMITED");
    let path = format!("/w/acme/v1/messages/{}", said["message_id"].as_str().unwrap());
    let edit = async |n: usize| {
        let new = json!({"text": format!("{n} {}", "x".repeat(10_000))});
        host.send(&ann, Method::PATCH, &path, Some(new)).await
    };
    // An entry counts as 1 KiB, however long it is.
    let mut left = 0;
    while edit(left).await.status == 200 {
        left += 1;
        assert!(left <= 512);
    }
    assert!(left > 400, "{left}");
    eventually("it is full", async || ready(&acme).await.0 == 503).await;
    assert!(ready(&acme).await.1.contains("acme"), "{}", ready(&acme).await.1);
    assert!(acme.listed().await["trouble"].as_str().unwrap().contains("storage_mib"));
    let new = json!({"conversation": room, "text": "after", "idempotency_key": "after"});
    for token in [&ann, &operator] {
        let refused = acme.post(token, "/v1/messages", new.clone()).await;
        assert!(refused.body["error"]["message"].as_str().unwrap().contains("storage_mib"));
        assert_eq!(refused.refused(429), "RATE_LIMITED");
    }
    assert_eq!(keep(3).await.refused(429), "RATE_LIMITED");
    assert_eq!(edit(0).await.refused(429), "RATE_LIMITED");
    assert_eq!(acme.texts(&ann, &room).await.len(), 1);
    // The others, and the host's own, are not concerned.
    assert_eq!(ready(&globex).await.0, 200);
    let (room, ann, _) = globex.room().await;
    globex.say(&ann, &room, "hello").await;
    host.running.stop().await;
}

// covers: OPS-171
#[tokio::test]
async fn a_workspace_has_a_quota_of_its_own_from_the_moment_it_is_said() {
    let host = host_with(|config| config.settings.workspaces.connections = 2).await;
    let (acme, globex) = (made(&host, "acme").await, made(&host, "globex").await);
    let (_, ann, bot) = acme.room().await;
    let set = async |quota: serde_json::Value| {
        let path = "/v1/workspaces/acme/quota";
        host.send(&host.operator(), Method::PUT, path, Some(quota)).await
    };
    let two = [acme.connect(&bot).await, acme.connect(&bot).await];
    acme.get(&ann, "/v1/whoami").await.refused(429);
    let told = set(json!({"connections": 4, "storage_mib": 1})).await.ok();
    assert_eq!(told["quota"], json!({"connections": 4, "storage_mib": 1}));
    assert_eq!(acme.listed().await["quota"], told["quota"]);
    assert_eq!(globex.listed().await.get("quota"), None);
    // Whoever was connected connects anew.
    drop(two);
    let three = [acme.connect(&bot).await, acme.connect(&bot).await, acme.connect(&bot).await];
    acme.get(&ann, "/v1/whoami").await.ok();
    let bytes = vec![b'a'; 1024 * 1024 + 1];
    let request = host.request(Method::POST, "/w/acme/v1/assets?name=a.txt").bearer_auth(&ann);
    assert_eq!(TestHost::answer(request.body(bytes)).await.refused(429), "RATE_LIMITED");
    drop(three);
    let told = set(json!({})).await.ok();
    assert_eq!(told.get("quota"), None);
    let two = [acme.connect(&bot).await, acme.connect(&bot).await];
    acme.get(&ann, "/v1/whoami").await.refused(429);
    drop(two);
    for wrong in [
        json!({"connections": 0}),
        json!({"cpu_percent": 100_001}),
        json!({"storage_mib": u64::MAX}),
        json!({"storage_mib": -1}),
        json!({"storage": 1}),
    ] {
        assert_eq!(set(wrong).await.refused(400), "VALIDATION_ERROR");
    }
    assert_eq!(acme.listed().await.get("quota"), None);
    host.running.stop().await;
}

// covers: OPS-171
#[tokio::test]
async fn a_workspace_that_has_used_up_its_share_of_a_core_waits_and_others_do_not() {
    let host = host_with(|_| {}).await;
    let (acme, globex) = (made(&host, "acme").await, made(&host, "globex").await);
    let (room, ann, _) = acme.room().await;
    let path = "/v1/workspaces/acme/quota";
    let quota = Some(json!({"cpu_percent": 1}));
    host.send(&host.operator(), Method::PUT, path, quota).await.ok();
    // The host's clock stands still: there is the second that may be saved up, and no more.
    let mut answered = 0;
    let refused = loop {
        let long = "a word or two ".repeat(2_000);
        let new =
            json!({"conversation": room, "text": long, "idempotency_key": answered.to_string()});
        let answer = acme.post(&ann, "/v1/messages", new).await;
        if answer.status != 201 {
            break answer;
        }
        answered += 1;
    };
    let why = refused.body["error"]["message"].as_str().unwrap().to_owned();
    assert!(why.contains("cpu_percent"), "{why}");
    assert_eq!(refused.refused(429), "RATE_LIMITED");
    assert!(answered > 5, "{answered}");
    globex.get(&globex.operator(), "/v1/whoami").await.ok();
    // What was used is over after a hundred times as long.
    host.clock.advance(100_000);
    acme.get(&ann, "/v1/whoami").await.ok();
    host.running.stop().await;
}

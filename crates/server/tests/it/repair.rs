//! A host that starts on what was broken mends it, says so, and everything stands where it stood.

use serde_json::{Value, json};

use crate::test_host::{START, TestHost, damage, verify};

// covers: CHN-202, CHN-203, CHN-204, CHN-209
#[tokio::test]
async fn a_host_mends_what_is_open_and_counts_what_it_mended() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "aide"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let root = host.say(&ann, &room, "what of the deploy?").await;
    let opening = json!({"conversation": room, "root": root["event_id"], "title": "The deploy"});
    let thread = host.post(&op, "/v1/threads", opening).await.ok();
    let path = format!("/v1/threads/{}/work", thread["id"].as_str().unwrap());
    let work = json!({
        "status": "active", "topic_kind": "incident", "initiative_key": "deploy",
        "bind": [{"kind": "task", "id": "T-1"}], "progress": {"key": "build", "text": "half of it", "percent": 50},
    });
    host.send(&op, reqwest::Method::PATCH, &path, Some(work)).await.ok();
    host.say(&ann, &room, "@bot @aide who looks at it?").await;
    host.pass(2_000).await;
    let feed = format!("/v1/channels/{room}/feed");
    let turns = format!("/v1/channels/{room}/turns");
    let before = [host.get(&ann, &feed).await.ok(), host.get(&ann, &turns).await.ok()];
    assert_eq!(before[0]["entries"][1]["thread"]["work"]["bindings"][0]["id"], "T-1", "{before:?}");
    assert_eq!(host.metric(r#"chorus_repairs_total{part="thread_work"}"#).await, 0);
    let now = host.clock_now();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    damage(folder.path(), "UPDATE thread SET work = NULL, root = NULL WHERE workspace = 1");

    let host = TestHost::open_in(folder, now.plus(1_000)).await;
    let metric = |part: &str| format!(r#"chorus_repairs_total{{part="{part}"}}"#);
    assert_eq!(host.metric(&metric("thread_work")).await, 1);
    assert_eq!(host.metric(&metric("thread")).await, 1);
    assert_eq!(host.metric(&metric("stimulus")).await, 0);
    let after = [host.get(&ann, &feed).await.ok(), host.get(&ann, &turns).await.ok()];
    assert_eq!(after, before);
    let audit = host.get(&op, "/v1/audit?kind=repaired").await.ok();
    let named: Vec<&Value> =
        audit["entries"].as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
    assert_eq!(named, [&json!("thread"), &json!("thread_work")], "{audit}");
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    assert!(now > START);
}

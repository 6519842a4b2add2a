//! Silent threads over the transports: they are asked once, over restarts too, and bad numbers change nothing.

use chorus_server::history::{Signing, export, import};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{Answer, START, TestHost, place, verify};

const HOUR: i64 = 3_600_000;

async fn wait_for(host: &TestHost, room: &str, ms: Value) -> Answer {
    let patch = json!({"stimuli": {"idle_followup_ms": ms}});
    host.send(&host.operator(), Method::PATCH, &format!("/v1/channels/{room}"), Some(patch)).await
}

async fn followups(host: &TestHost, room: &str) -> Vec<Value> {
    let all = host.get(&host.operator(), &format!("/v1/channels/{room}/stimuli")).await.ok();
    let all = all["stimuli"].as_array().unwrap().iter();
    all.filter(|s| s["kind"] == "thread_idle_followup").cloned().collect()
}

/// Time goes on, and what is due then is made, claimed, and a moment later said.
async fn pass(host: &TestHost, ms: i64) {
    for ms in [ms, 2_000, 2_000] {
        host.pass(ms).await;
    }
}

// covers: CHN-150, CHN-152, CHN-153
#[tokio::test]
async fn a_thread_that_fell_silent_while_the_host_was_away_is_asked_once() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let path = format!("/v1/channels/{room}");
    host.send(&op, Method::PATCH, &path, Some(json!({"lead": "ann"}))).await.ok();
    let shown = wait_for(&host, &room, json!(HOUR)).await.ok();
    assert_eq!(shown["stimuli"]["idle_followup_ms"], HOUR);
    let thread = json!({"conversation": room, "title": "the cache", "owner": "bot"});
    let thread = host.post(&ann, "/v1/threads", thread).await.ok()["id"].clone();
    let said = json!({"conversation": room, "thread": thread, "text": "who looks at it?", "idempotency_key": "1"});
    host.post(&ann, "/v1/messages", said).await.ok();
    pass(&host, HOUR / 2).await;
    assert_eq!(followups(&host, &room).await, Vec::<Value>::new());

    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    let host = TestHost::open_in(folder, START.plus(10 * HOUR)).await;
    pass(&host, 1_000).await;
    let all = followups(&host, &room).await;
    assert_eq!(all.len(), 1, "nobody said anything to the host since it started");
    assert_eq!((&all[0]["state"], &all[0]["source"]), (&json!("dispatched"), &json!("ann")));
    assert_eq!((&all[0]["thread"], &all[0]["targets"]), (&thread, &json!(["bot"])));
    let log = host.get(&ann, &format!("/v1/events?conversation={room}&after=0")).await.ok();
    let asks = "Nothing was said about \\\"the cache\\\" for 10 hours. What became of it?";
    assert!(log.to_string().contains(asks), "{log}");
    pass(&host, 20 * HOUR).await;
    assert_eq!(followups(&host, &room).await.len(), 1);

    // Another host that is given the export waits for as long, and has nothing to ask again.
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    let sign = Signing::open(&folder.path().join("keys")).unwrap();
    let (now, mut lines) = (START.plus(40 * HOUR), Vec::new());
    export(&place(folder.path()), &sign, now, None, &mut lines).unwrap();
    let folders = tempfile::tempdir().unwrap();
    let imported = tempfile::TempDir::new_in(folders.path()).unwrap();
    std::fs::remove_dir(imported.path()).unwrap();
    import(&mut &lines[..], &place(imported.path()), None, now).unwrap();
    let moved = TestHost::open_in(imported, now).await;
    let shown = moved.get(&moved.operator(), &path).await.ok();
    assert_eq!(shown["stimuli"]["idle_followup_ms"], HOUR);
    pass(&moved, 5 * HOUR).await;
    assert_eq!(followups(&moved, &room).await, Vec::<Value>::new());
}

// covers: CHN-150
#[tokio::test]
async fn numbers_of_silence_are_bounded_and_taken_back() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let path = format!("/v1/channels/{room}");
    let before = host.get(&host.operator(), &path).await.ok();
    assert_eq!(before["stimuli"].get("idle_followup_ms"), None);
    for bad in [json!(59_999), json!(-1), json!(2_678_400_001_i64), json!("1h"), json!(1.5)] {
        let refused = wait_for(&host, &room, bad.clone()).await.refused(400);
        assert_eq!(refused, "VALIDATION_ERROR", "{bad}");
    }
    assert_eq!(host.get(&host.operator(), &path).await.ok(), before);
    wait_for(&host, &room, json!(60_000)).await.ok();
    let never = wait_for(&host, &room, Value::Null).await.ok();
    assert_eq!(never["stimuli"], before["stimuli"]);
    let worker = host.token("bot").await;
    let patch = json!({"stimuli": {"idle_followup_ms": 60_000}});
    let refused = host.send(&worker, Method::PATCH, &path, Some(patch)).await.refused(403);
    assert_eq!(refused, "INSUFFICIENT_AUTHORITY");
}

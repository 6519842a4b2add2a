//! Silent threads over the transports: they are asked once, over restarts too, and bad numbers change nothing.

use chorus_server::history::{Signing, export, import};
use reqwest::Method;
use serde_json::{Value, json};

use crate::house::{Answer, House, START, place, verify};

const HOUR: i64 = 3_600_000;

async fn wait_for(house: &House, room: &str, ms: Value) -> Answer {
    let patch = json!({"stimuli": {"idle_followup_ms": ms}});
    house.send(&house.operator(), Method::PATCH, &format!("/v1/channels/{room}"), Some(patch)).await
}

async fn followups(house: &House, room: &str) -> Vec<Value> {
    let all = house.get(&house.operator(), &format!("/v1/channels/{room}/stimuli")).await.ok();
    let all = all["stimuli"].as_array().unwrap().iter();
    all.filter(|s| s["kind"] == "thread_idle_followup").cloned().collect()
}

/// Time goes on, and what is due then is made, claimed, and a moment later said.
async fn pass(house: &House, ms: i64) {
    for ms in [ms, 2_000, 2_000] {
        house.pass(ms).await;
    }
}

// covers: CHN-150, CHN-152, CHN-153
#[tokio::test]
async fn a_thread_that_fell_silent_while_the_host_was_away_is_asked_once() {
    let house = House::open().await;
    let room = house.room(&["bot", "other"]).await;
    let (op, ann) = (house.operator(), house.token("ann").await);
    let path = format!("/v1/channels/{room}");
    house.send(&op, Method::PATCH, &path, Some(json!({"lead": "ann"}))).await.ok();
    let shown = wait_for(&house, &room, json!(HOUR)).await.ok();
    assert_eq!(shown["stimuli"]["idle_followup_ms"], HOUR);
    let thread = json!({"conversation": room, "title": "the cache", "owner": "bot"});
    let thread = house.post(&ann, "/v1/threads", thread).await.ok()["id"].clone();
    let said = json!({"conversation": room, "thread": thread, "text": "who looks at it?", "idempotency_key": "1"});
    house.post(&ann, "/v1/messages", said).await.ok();
    pass(&house, HOUR / 2).await;
    assert_eq!(followups(&house, &room).await, Vec::<Value>::new());

    let House { running, folder, .. } = house;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    let house = House::open_in(folder, START.plus(10 * HOUR)).await;
    pass(&house, 1_000).await;
    let all = followups(&house, &room).await;
    assert_eq!(all.len(), 1, "nobody said anything to the host since it started");
    assert_eq!((&all[0]["state"], &all[0]["source"]), (&json!("dispatched"), &json!("ann")));
    assert_eq!((&all[0]["thread"], &all[0]["targets"]), (&thread, &json!(["bot"])));
    let log = house.get(&ann, &format!("/v1/events?conversation={room}&after=0")).await.ok();
    let asks = "Nothing was said about \\\"the cache\\\" for 10 hours. What became of it?";
    assert!(log.to_string().contains(asks), "{log}");
    pass(&house, 20 * HOUR).await;
    assert_eq!(followups(&house, &room).await.len(), 1);

    // Another host that is given the export waits for as long, and has nothing to ask again.
    let House { running, folder, .. } = house;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    let sign = Signing::open(&folder.path().join("keys")).unwrap();
    let (now, mut lines) = (START.plus(40 * HOUR), Vec::new());
    export(&place(folder.path()), &sign, now, &mut lines).unwrap();
    let folders = tempfile::tempdir().unwrap();
    let imported = tempfile::TempDir::new_in(folders.path()).unwrap();
    std::fs::remove_dir(imported.path()).unwrap();
    import(&mut &lines[..], &place(imported.path()), None, now).unwrap();
    let moved = House::open_in(imported, now).await;
    let shown = moved.get(&moved.operator(), &path).await.ok();
    assert_eq!(shown["stimuli"]["idle_followup_ms"], HOUR);
    pass(&moved, 5 * HOUR).await;
    assert_eq!(followups(&moved, &room).await, Vec::<Value>::new());
}

// covers: CHN-150
#[tokio::test]
async fn numbers_of_silence_are_bounded_and_taken_back() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let path = format!("/v1/channels/{room}");
    let before = house.get(&house.operator(), &path).await.ok();
    assert_eq!(before["stimuli"].get("idle_followup_ms"), None);
    for bad in [json!(59_999), json!(-1), json!(2_678_400_001_i64), json!("1h"), json!(1.5)] {
        let refused = wait_for(&house, &room, bad.clone()).await.refused(400);
        assert_eq!(refused, "VALIDATION_ERROR", "{bad}");
    }
    assert_eq!(house.get(&house.operator(), &path).await.ok(), before);
    wait_for(&house, &room, json!(60_000)).await.ok();
    let never = wait_for(&house, &room, Value::Null).await.ok();
    assert_eq!(never["stimuli"], before["stimuli"]);
    let worker = house.token("bot").await;
    let patch = json!({"stimuli": {"idle_followup_ms": 60_000}});
    let refused = house.send(&worker, Method::PATCH, &path, Some(patch)).await.refused(403);
    assert_eq!(refused, "INSUFFICIENT_AUTHORITY");
}

//! Stimuli over the transports, over a restart, and against bad input.

use chorus_server::history::{Signing, export, import};
use serde_json::{Value, json};

use crate::test_host::{START, TestHost, place, verify};

async fn add(host: &TestHost, token: &str, room: &str, new: Value) -> crate::test_host::Answer {
    host.post(token, &format!("/v1/channels/{room}/stimuli"), new).await
}

async fn states(host: &TestHost, token: &str, room: &str) -> Vec<(String, String)> {
    let all = host.get(token, &format!("/v1/channels/{room}/stimuli")).await.ok();
    let word = |s: &Value, key: &str| s[key].as_str().unwrap().to_owned();
    let all = all["stimuli"].as_array().unwrap().iter();
    let mut all: Vec<_> = all.map(|s| (word(s, "kind"), word(s, "state"))).collect();
    all.sort();
    all
}

fn pairs(expect: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = expect.iter().map(|(kind, state)| ((*kind).to_owned(), (*state).to_owned()));
    let mut all: Vec<_> = owned.collect();
    all.sort();
    all
}

// covers: CHN-75, CHN-80, CHN-81, CHN-86, CHN-90, CHN-92, CHN-97
#[tokio::test]
async fn pending_stimulus_is_listed_changed_and_said_once_over_a_restart() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let (bot, other) = (host.token("bot").await, host.token("other").await);
    let new = json!({"kind": "agent_idea", "text": "Shall we look at the cache?", "targets": ["other"], "progress_key": "cache"});
    let first = add(&host, &bot, &room, new).await.ok();
    assert_eq!((&first["state"], &first["source"]), (&json!("pending"), &json!("bot")));
    // It is claimed, and a moment later said.
    host.pass(2_000).await;
    host.pass(2_000).await;
    assert_eq!(states(&host, &ann, &room).await, pairs(&[("agent_idea", "dispatched")]));
    let feed = host.get(&ann, &format!("/v1/channels/{room}/feed")).await.ok();
    assert_eq!(feed["entries"][0]["message"]["text"], "Shall we look at the cache?");
    assert_eq!(feed["entries"][0]["thread"]["work"]["stimulus"]["id"], first["id"]);
    assert_eq!(feed["entries"][0]["progress"]["event_id"], feed["entries"][0]["event_id"]);
    let path = format!("/v1/channels/{room}/stimuli/{}", first["id"].as_str().unwrap());
    let shown = host.get(&ann, &path).await.ok();
    assert_eq!(shown["event_id"], feed["entries"][0]["event_id"]);
    assert!(shown.get("text").is_none() && shown.get("due_at").is_none());

    // The second waits for the quiet to end, and a newer one takes its place.
    let fire = |text: &str| json!({"kind": "schedule_fire", "text": text, "dedupe_key": "nightly", "source": "bot"});
    assert_eq!(add(&host, &bot, &room, fire("no")).await.refused(403), "INSUFFICIENT_AUTHORITY");
    let second = add(&host, &op, &room, fire("The nightly build")).await.ok();
    let third = add(&host, &op, &room, fire("The nightly build, again")).await.ok();
    let called =
        add(&host, &bot, &room, json!({"kind": "agent_idea", "text": "never mind"})).await.ok();
    let steer = |s: &Value, how: &str| {
        format!("/v1/channels/{room}/stimuli/{}/{how}", s["id"].as_str().unwrap())
    };
    assert_eq!(
        host.post(&other, &steer(&called, "cancel"), json!({})).await.refused(403),
        "INSUFFICIENT_AUTHORITY"
    );
    assert_eq!(
        host.post(&bot, &steer(&called, "cancel"), json!({})).await.ok()["state"],
        "cancelled"
    );
    assert_eq!(host.post(&bot, &steer(&second, "retry"), json!({})).await.refused(409), "CONFLICT");
    let expect = [
        ("agent_idea", "dispatched"),
        ("schedule_fire", "superseded"),
        ("schedule_fire", "pending"),
        ("agent_idea", "cancelled"),
    ];
    assert_eq!(states(&host, &ann, &room).await, pairs(&expect));
    let by = host.get(&ann, &steer(&second, "")[..steer(&second, "").len() - 1]).await.ok();
    assert_eq!(by["superseded_by"], third["id"]);

    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    let host = TestHost::open_in(folder, START.plus(2 * 3_600_000)).await;
    let ann = host.token("ann").await;
    // It is claimed, and a moment later said.
    host.pass(2_000).await;
    host.pass(2_000).await;
    let feed = host.get(&ann, &format!("/v1/channels/{room}/feed")).await.ok();
    let entries = feed["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 2, "said once: {feed}");
    assert_eq!(entries[0]["message"]["text"], "The nightly build, again");
    assert_eq!(entries[0]["message"]["kind"], "event");
    assert_eq!(entries[0]["actor"]["id"], "bot");
    let log = host.get(&ann, &format!("/v1/events?conversation={room}&after=0")).await.ok();
    let posted = log["events"].as_array().unwrap().iter().filter(|e| e["type"] == "message_posted");
    assert_eq!(posted.count(), 2);
}

// covers: CHN-99
#[tokio::test]
async fn numbers_of_stimuli_are_set_kept_and_bounded() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, path) = (host.operator(), format!("/v1/channels/{room}"));
    let shown = host.get(&op, &path).await.ok()["stimuli"].clone();
    let usual =
        json!({"max_pending": 32, "roots_per_hour": 4, "max_active_roots": 1, "quiet_ms": 300_000});
    assert_eq!(shown, usual);
    let patch = async |host: &TestHost, stimuli: Value| {
        let patch = json!({"stimuli": stimuli, "purpose": "changed"});
        host.send(&host.operator(), reqwest::Method::PATCH, &path, Some(patch)).await
    };
    patch(&host, json!({"max_pending": 2, "quiet_ms": 0})).await.ok();
    let changed = host.get(&op, &path).await.ok();
    for bad in [
        json!({"max_pending": 0}),
        json!({"max_pending": 129}),
        json!({"roots_per_hour": 61}),
        json!({"max_active_roots": 17}),
        json!({"quiet_ms": 3_600_001}),
        json!({"quiet_ms": -1}),
        json!({"pending": 1}),
        json!("all"),
    ] {
        assert_eq!(patch(&host, bad.clone()).await.refused(400), "VALIDATION_ERROR", "{bad}");
    }
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    let now = START.plus(500);
    let sign = Signing::open(&folder.path().join("keys")).unwrap();
    let mut lines = Vec::new();
    export(&place(folder.path()), &sign, now, None, &mut lines).unwrap();
    let folders = tempfile::tempdir().unwrap();
    let imported = tempfile::TempDir::new_in(folders.path()).unwrap();
    std::fs::remove_dir(imported.path()).unwrap();
    import(&mut &lines[..], &place(imported.path()), None, now).unwrap();
    let moved = TestHost::open_in(imported, START.plus(1_000)).await;
    assert_eq!(moved.get(&moved.operator(), &path).await.ok()["stimuli"], changed["stimuli"]);
    let host = TestHost::open_in(folder, START.plus(1_000)).await;
    assert_eq!(host.get(&host.operator(), &path).await.ok(), changed);
    assert_eq!(
        changed["stimuli"],
        json!({"max_pending": 2, "roots_per_hour": 4, "max_active_roots": 1, "quiet_ms": 0})
    );
    let bot = host.token("bot").await;
    for n in 0..2 {
        add(&host, &bot, &room, json!({"kind": "agent_idea", "text": format!("{n}")})).await.ok();
    }
    let more = json!({"kind": "agent_idea", "text": "more"});
    assert_eq!(add(&host, &bot, &room, more).await.refused(429), "RATE_LIMITED");
}

// covers: CHN-96
#[tokio::test]
async fn bad_stimuli_get_the_envelope() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let bot = host.token("bot").await;
    for (new, status, code) in [
        (json!({"kind": "agent_idea"}), 400, "VALIDATION_ERROR"),
        (json!({"kind": "whim", "text": "x"}), 400, "VALIDATION_ERROR"),
        (json!({"kind": "agent_idea", "text": ""}), 400, "VALIDATION_ERROR"),
        (json!({"kind": "agent_idea", "text": "x", "scope": "thread"}), 400, "VALIDATION_ERROR"),
        (
            json!({"kind": "agent_idea", "text": "x", "visibility": "targets"}),
            400,
            "VALIDATION_ERROR",
        ),
        (json!({"kind": "agent_idea", "text": "x", "targets": ["nobody"]}), 404, "NOT_FOUND"),
        (json!({"kind": "agent_idea", "text": "x", "source": "nobody"}), 404, "NOT_FOUND"),
        (json!({"kind": "agent_idea", "text": "x", "more": 1}), 400, "VALIDATION_ERROR"),
    ] {
        assert_eq!(add(&host, &bot, &room, new.clone()).await.refused(status), code, "{new}");
    }
    for n in 0..32 {
        let text = format!("idea {n}");
        add(&host, &bot, &room, json!({"kind": "agent_idea", "text": text})).await.ok();
    }
    let more = json!({"kind": "agent_idea", "text": "one more"});
    assert_eq!(add(&host, &bot, &room, more).await.refused(429), "RATE_LIMITED");
    let none = format!("/v1/channels/{room}/stimuli/stm_00000000000070008000000000000001");
    assert_eq!(host.get(&bot, &none).await.refused(404), "NOT_FOUND");
}

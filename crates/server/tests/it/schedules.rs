//! Schedules over the transports: they fire at their times, once, over restarts too, and say what came of it.

use chorus_server::history::{Signing, export, import};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{START, TestHost, place, verify};

const HOUR: i64 = 3_600_000;

async fn schedule(host: &TestHost, token: &str, room: &str, id: &Value) -> Value {
    let path = format!("/v1/channels/{room}/schedules/{}", id.as_str().unwrap());
    host.get(token, &path).await.ok()
}

async fn feed(host: &TestHost, token: &str, room: &str) -> Vec<Value> {
    let feed = host.get(token, &format!("/v1/channels/{room}/feed")).await.ok();
    feed["entries"].as_array().unwrap().clone()
}

/// Time goes on, and what is due then is claimed, and a moment later said.
async fn pass(host: &TestHost, ms: i64) {
    host.pass(ms).await;
    host.pass(2_000).await;
    host.pass(2_000).await;
}

// covers: CHN-155, CHN-157, CHN-158, CHN-159, CHN-160
#[tokio::test]
async fn a_schedule_fires_once_at_its_time_and_says_what_came_of_it() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let mut other = host.connect(&host.token("other").await).await;
    let path = format!("/v1/channels/{room}/schedules");
    // It is 14:13:20 in UTC, and 16:13:20 in Oslo.
    let new = json!({"cron": "0 17 * * *", "time_zone": "Europe/Oslo", "text": "What changed today?",
        "source": "bot", "targets": ["other"]});
    assert_eq!(
        host.post(&host.token("other").await, &path, new.clone()).await.refused(403),
        "INSUFFICIENT_AUTHORITY"
    );
    let made = host.post(&op, &path, new).await.ok();
    assert_eq!(made["next_at"], "2026-09-21T15:00:00.000Z");
    pass(&host, 10 * 60_000).await;
    assert!(feed(&host, &ann, &room).await.is_empty(), "not before its time");
    pass(&host, 37 * 60_000).await;
    let entries = feed(&host, &ann, &room).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["message"]["text"], "What changed today?");
    let bound = &entries[0]["thread"]["work"]["bindings"];
    assert_eq!(*bound, json!([{"kind": "schedule", "id": made["id"]}]));
    let now = schedule(&host, &ann, &room, &made["id"]).await;
    assert_eq!((&now["fired"], &now["last"]["result"]), (&json!(1), &json!("open")));
    assert_eq!(now["next_at"], "2026-09-22T15:00:00.000Z");

    let offer = other.take().await;
    other.reply(&offer, "Nothing.").await.unwrap();
    let now = schedule(&host, &ann, &room, &made["id"]).await;
    assert_eq!(now["last"]["result"], "answered");
    pass(&host, 2_000).await;
    let queue = host.get(&ann, &format!("/v1/channels/{room}/stimuli")).await.ok();
    let result =
        queue["stimuli"].as_array().unwrap().iter().find(|s| s["kind"] == "schedule_result");
    assert_eq!(result.unwrap()["state"], "dispatched", "{queue}");

    // The host is away for three days: what it missed comes once.
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    let host = TestHost::open_in(folder, START.plus(72 * HOUR)).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let bot_token = host.token("bot").await;
    pass(&host, 2_000).await;
    let now = schedule(&host, &ann, &room, &made["id"]).await;
    assert_eq!((&now["fired"], &now["next_at"]), (&json!(2), &json!("2026-09-24T15:00:00.000Z")));
    assert_eq!(feed(&host, &ann, &room).await.len(), 2);

    // It rests while it is paused, and goes when it is removed.
    let one = format!("{path}/{}", made["id"].as_str().unwrap());
    let rests =
        host.send(&bot_token, Method::PATCH, &one, Some(json!({"paused": true}))).await.ok();
    assert_eq!((&rests["paused"], &rests["next_at"]), (&json!(true), &Value::Null));
    pass(&host, 25 * HOUR).await;
    assert_eq!(schedule(&host, &op, &room, &made["id"]).await["fired"], 2);
    let again = json!({"paused": false, "every_ms": 60_000});
    host.send(&op, Method::PATCH, &one, Some(again)).await.ok();
    pass(&host, 61_000).await;
    assert_eq!(schedule(&host, &op, &room, &made["id"]).await["fired"], 3);
    // The next waits for the quiet after that one. It is called off, and the schedule knows.
    pass(&host, 61_000).await;
    let now = schedule(&host, &op, &room, &made["id"]).await;
    assert_eq!((&now["fired"], &now["last"]["result"]), (&json!(4), &json!("open")));
    let fire = now["last"]["stimulus"].as_str().unwrap();
    let cancel = format!("/v1/channels/{room}/stimuli/{fire}/cancel");
    assert_eq!(host.post(&op, &cancel, json!({})).await.ok()["state"], "cancelled");
    let now = schedule(&host, &op, &room, &made["id"]).await;
    assert_eq!(now["last"]["result"], "failed");
    assert_eq!(host.send(&op, Method::DELETE, &one, None).await.status, 204);
    assert_eq!(host.send(&op, Method::DELETE, &one, None).await.refused(404), "NOT_FOUND");
    assert_eq!(host.get(&op, &path).await.ok()["schedules"], json!([]));
}

// covers: CHN-155
#[tokio::test]
async fn bad_schedules_get_the_envelope_and_change_nothing() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    let elsewhere = json!({"title": "elsewhere", "members": ["bot"]});
    let elsewhere = host.post(&op, "/v1/channels", elsewhere).await.ok()["id"].clone();
    let path = format!("/v1/channels/{room}/schedules");
    let thread = json!({"conversation": elsewhere, "title": "elsewhere"});
    let thread = host.post(&op, "/v1/threads", thread).await.ok()["id"].clone();
    for (new, status, code) in [
        (json!({"text": "x"}), 400, "VALIDATION_ERROR"),
        (json!({"text": "", "every_ms": 60_000}), 400, "VALIDATION_ERROR"),
        (json!({"text": "x", "every_ms": 59_999}), 400, "VALIDATION_ERROR"),
        (json!({"text": "x", "every_ms": i64::MAX}), 400, "VALIDATION_ERROR"),
        (json!({"text": "x", "every_ms": 60_000, "cron": "* * * * *"}), 400, "VALIDATION_ERROR"),
        (json!({"text": "x", "every_ms": 60_000, "time_zone": "UTC"}), 400, "VALIDATION_ERROR"),
        (json!({"text": "x", "cron": "* * * *"}), 400, "VALIDATION_ERROR"),
        (json!({"text": "x", "cron": "0 0 30 2 *"}), 400, "VALIDATION_ERROR"),
        (json!({"text": "x", "cron": "* ".repeat(300)}), 400, "VALIDATION_ERROR"),
        (
            json!({"text": "x", "cron": "0 9 * * *", "time_zone": "Mars/Olympus"}),
            400,
            "VALIDATION_ERROR",
        ),
        (json!({"text": "x", "every_ms": 60_000, "targets": ["nobody"]}), 404, "NOT_FOUND"),
        (json!({"text": "x", "every_ms": 60_000, "thread": thread}), 400, "VALIDATION_ERROR"),
        (json!({"text": "x", "every_ms": 60_000, "often": true}), 400, "VALIDATION_ERROR"),
        (json!({"text": "x".repeat(70_000), "every_ms": 60_000}), 413, "PAYLOAD_TOO_LARGE"),
    ] {
        let shown = format!("{new}").chars().take(120).collect::<String>();
        assert_eq!(host.post(&op, &path, new).await.refused(status), code, "{shown}");
    }
    assert_eq!(host.get(&op, &path).await.ok()["schedules"], json!([]));
    let unknown = format!("{path}/sch_0192f0c1a2b37c4d8e5f60718293a4c1");
    let patch = Some(json!({"paused": true}));
    assert_eq!(host.send(&op, Method::PATCH, &unknown, patch).await.refused(404), "NOT_FOUND");
    for n in 0..64 {
        let new = json!({"text": format!("number {n}"), "every_ms": 60_000});
        host.post(&op, &path, new).await.ok();
    }
    let one_more = json!({"text": "one more", "every_ms": 60_000});
    assert_eq!(host.post(&op, &path, one_more).await.refused(429), "RATE_LIMITED");
}

// covers: CHN-160
#[tokio::test]
async fn an_export_has_schedules_which_rest_where_they_are_imported() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    let path = format!("/v1/channels/{room}/schedules");
    let new = json!({"cron": "0 9 * * *", "text": "What changed?", "source": "bot"});
    let made = host.post(&op, &path, new).await.ok();
    let now = host.clock_now();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let sign = Signing::open(&folder.path().join("keys")).unwrap();
    let mut lines = Vec::new();
    export(&place(folder.path()), &sign, now, None, &mut lines).unwrap();
    let folders = tempfile::tempdir().unwrap();
    let imported = tempfile::TempDir::new_in(folders.path()).unwrap();
    let data = imported.path().to_owned();
    std::fs::remove_dir(&data).unwrap();
    import(&mut &lines[..], &place(&data), None, now).unwrap();
    assert_eq!(verify(&data).problems, []);
    let host = TestHost::open_in(imported, now).await;
    let op = host.operator();
    let mut expected = made.clone();
    expected["paused"] = json!(true);
    expected.as_object_mut().unwrap().remove("next_at");
    assert_eq!(schedule(&host, &op, &room, &made["id"]).await, expected);
    let one = format!("{path}/{}", made["id"].as_str().unwrap());
    let goes_on = host.send(&op, Method::PATCH, &one, Some(json!({"paused": false}))).await.ok();
    assert_eq!(goes_on, made);
}

// covers: CHN-345
#[tokio::test]
async fn a_new_cron_expression_goes_by_the_clocks_that_the_old_one_went_by() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    let path = format!("/v1/channels/{room}/schedules");
    // It is 14:13:20 in UTC.
    let new = json!({"cron": "0 17 * * *", "time_zone": "Europe/Oslo", "text": "What changed?"});
    let made = host.post(&op, &path, new).await.ok();
    let one = format!("{path}/{}", made["id"].as_str().unwrap());
    let patch = async |patch: Value| host.send(&op, Method::PATCH, &one, Some(patch)).await;
    let oslo = json!(["0 18 * * *", "Europe/Oslo", "2026-09-21T16:00:00.000Z", null]);
    let utc = json!(["0 18 * * *", "UTC", "2026-09-21T18:00:00.000Z", null]);
    for (change, expect) in [
        (json!({"cron": "0 18 * * *"}), &oslo),
        (json!({"text": "And what changed today?"}), &oslo),
        (json!({"time_zone": "UTC"}), &utc),
        (json!({"cron": "0 18 * * *", "time_zone": "Europe/Oslo"}), &oslo),
        (json!({"every_ms": 60_000}), &json!([null, null, "2026-09-21T14:14:20.000Z", 60_000])),
        // An interval has no zone that it could be of.
        (json!({"cron": "0 18 * * *"}), &utc),
    ] {
        let now = patch(change.clone()).await.ok();
        let when = json!([now["cron"], now["time_zone"], now["next_at"], now["every_ms"]]);
        assert_eq!(when, *expect, "{change}");
    }
    patch(json!({"every_ms": 60_000})).await.ok();
    for bad in [
        json!({"time_zone": "UTC"}),
        json!({"time_zone": "UTC", "every_ms": 60_000}),
        json!({"cron": "0 18 * * *", "every_ms": 60_000}),
        json!({"cron": "0 18 * * *", "time_zone": "Mars/Olympus"}),
    ] {
        assert_eq!(patch(bad.clone()).await.refused(400), "VALIDATION_ERROR", "{bad}");
    }
    assert_eq!(host.get(&op, &one).await.ok()["every_ms"], 60_000);
}

// covers: CHN-346
#[tokio::test]
async fn a_schedule_that_is_removed_leaves_no_binding_and_says_nothing_more() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let path = format!("/v1/channels/{room}/schedules");
    let new = json!({"every_ms": 60_000, "text": "Is all well?", "source": "bot"});
    let made = host.post(&op, &path, new).await.ok();
    pass(&host, 60_000).await;
    let entry = feed(&host, &ann, &room).await[0].clone();
    let thread = entry["thread"]["id"].as_str().unwrap().to_owned();
    let bindings = async |kinds: Value| {
        let shown = host.get(&ann, &format!("/v1/threads/{thread}")).await.ok();
        let bound = shown["work"]["bindings"].as_array().cloned().unwrap_or_default();
        let bound: Vec<_> = bound.iter().map(|b| b["kind"].clone()).collect();
        assert_eq!(json!(bound), kinds, "{shown}");
    };
    let ci = json!({"bind": [{"kind": "run", "id": "ci/4711"}]});
    let work = format!("/v1/threads/{thread}/work");
    host.send(&op, Method::PATCH, &work, Some(ci)).await.ok();
    bindings(json!(["schedule", "run"])).await;
    // The next firing waits for the quiet after the first.
    pass(&host, 60_000).await;
    let queue = host.get(&op, &format!("/v1/channels/{room}/stimuli?state=pending")).await.ok();
    assert_eq!(queue["stimuli"].as_array().unwrap().len(), 1);
    let one = format!("{path}/{}", made["id"].as_str().unwrap());
    assert_eq!(host.send(&op, Method::DELETE, &one, None).await.status, 204);
    bindings(json!(["run"])).await;
    let id = queue["stimuli"][0]["id"].as_str().unwrap();
    let fire = format!("/v1/channels/{room}/stimuli/{id}");
    let shown = host.get(&op, &fire).await.ok();
    assert_eq!(shown["state"], "cancelled");
    assert_eq!(shown["reason"], "its schedule was removed");
    // Who wants that word all the same has it, and it is bound to nothing that is no more.
    host.post(&op, &format!("{fire}/retry"), json!({})).await.ok();
    pass(&host, 2 * HOUR).await;
    let entries = feed(&host, &ann, &room).await;
    assert_eq!(entries.len(), 2);
    assert!(entries.iter().all(|e| e["thread"]["work"]["bindings"] != json!([made["id"]])));
    let second = &entries[0]["thread"]["work"]["bindings"];
    assert!(second.as_array().is_none_or(Vec::is_empty), "{second}");
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
}

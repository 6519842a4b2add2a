//! The work of threads and the feed of a channel, over the transports and over restarts.

use std::fs;

use chorus_server::history::{Signing, export, import};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{START, TestHost, place, verify};

async fn thread(host: &TestHost, token: &str, room: &str, root: Option<&Value>) -> String {
    let mut new = json!({"conversation": room, "title": "the deploy"});
    if let Some(root) = root {
        new["root"] = root["event_id"].clone();
    }
    let made = host.post(token, "/v1/threads", new).await.ok();
    made["id"].as_str().unwrap().to_owned()
}

async fn say(host: &TestHost, token: &str, room: &str, more: Value) -> Value {
    let mut new = json!({"conversation": room, "idempotency_key": more["text"]});
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    host.post(token, "/v1/messages", new).await.ok()
}

async fn feed(host: &TestHost, token: &str, room: &str, query: &str) -> Value {
    host.get(token, &format!("/v1/channels/{room}/feed{query}")).await.ok()
}

fn kinds(feed: &Value) -> Vec<String> {
    let entries = feed["entries"].as_array().unwrap().iter();
    let text = |e: &Value| {
        let said = e["text"].as_str().or(e["message"]["text"].as_str());
        said.or(e["thread"]["title"].as_str()).unwrap_or_default().to_owned()
    };
    entries.map(|e| format!("{}: {}", e["kind"].as_str().unwrap(), text(e))).collect()
}

async fn work(
    host: &TestHost,
    token: &str,
    thread: &str,
    patch: Value,
) -> crate::test_host::Answer {
    host.send(token, Method::PATCH, &format!("/v1/threads/{thread}/work"), Some(patch)).await
}

// covers: CHN-60, CHN-65, CHN-68, CHN-69, CHN-70, CHN-71, CHN-72
#[tokio::test]
async fn the_feed_has_subjects_results_and_promotions_and_outlives_the_host_and_an_export() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, ann, bot) = (host.operator(), host.token("ann").await, host.token("bot").await);
    let root = say(&host, &ann, &room, json!({"text": "Release 2.4 goes out today."})).await;
    let deploy = thread(&host, &ann, &room, Some(&root)).await;
    let silent = thread(&host, &ann, &room, None).await;
    // None of these is a subject: a reply in the thread, one beside it, what only some are shown, progress.
    let reply = say(&host, &bot, &room, json!({"text": "built", "thread": deploy})).await;
    let reply_id = reply["message_id"].as_str().unwrap().to_owned();
    say(&host, &ann, &room, json!({"text": "yes, @bot, go on", "in_reply_to": root["event_id"]}))
        .await;
    say(
        &host,
        &ann,
        &room,
        json!({"text": "psst", "visibility": "ephemeral", "only": ["operator"]}),
    )
    .await;
    for percent in [10, 60] {
        let progress = json!({"key": "build", "text": format!("at {percent}"), "percent": percent});
        let bind = json!([{"kind": "run", "id": "ci/4711"}]);
        work(&host, &bot, &deploy, json!({"status": "active", "progress": progress, "bind": bind}))
            .await
            .ok();
    }
    let agree = format!("/v1/messages/{}/reactions/agree", root["message_id"].as_str().unwrap());
    host.send(&op, Method::PUT, &agree, Some(json!({}))).await.ok();
    let promote = format!("/v1/messages/{reply_id}/promote");
    host.post(&ann, &promote, json!({"note": "look here"})).await.ok();
    host.post(&ann, &promote, json!({"note": "twice"})).await.ok();
    let done = json!({"status": "resolved", "summary": "2.4 is out"});
    host.send(&ann, Method::PATCH, &format!("/v1/threads/{deploy}"), Some(done)).await.ok();

    let shown = feed(&host, &ann, &room, "").await;
    let expect = [
        "result_summary: 2.4 is out",
        "promotion: look here",
        "subject: the deploy",
        "subject: Release 2.4 goes out today.",
    ];
    assert_eq!(kinds(&shown), expect);
    let subject = &shown["entries"][3];
    assert_eq!(subject["replies"], 1);
    assert_eq!(subject["progress"]["text"], "at 60");
    assert_eq!(subject["thread"]["work"]["progress"].as_array().unwrap().len(), 1);
    assert_eq!(subject["thread"]["work"]["bindings"], json!([{"kind": "run", "id": "ci/4711"}]));
    assert_eq!(subject["thread"]["status"], "resolved");
    assert_eq!(subject["message"]["reactions"][0]["members"], json!(["operator"]));
    assert_eq!(shown["entries"][2]["thread"]["id"], json!(silent));
    for entry in [&shown["entries"][0], &shown["entries"][1]] {
        assert_eq!(entry["thread"]["id"], json!(deploy), "each is linked to its thread");
        assert_eq!(entry["thread"]["root"], root["event_id"]);
    }
    assert_eq!(shown["entries"][1]["message"]["message_id"], json!(reply_id));
    let log = host.get(&ann, &format!("/v1/events?conversation={room}&after=0")).await.ok();
    let of = |kind: &str| {
        let all = log["events"].as_array().unwrap().iter();
        all.filter(|e| e["type"] == kind).cloned().collect::<Vec<_>>()
    };
    assert_eq!(of("thread_work_changed")[1]["work"]["progress"]["percent"], 60);
    assert_eq!(of("promoted").len(), 2);

    let now = host.clock_now();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    let sign = Signing::open(&folder.path().join("keys")).unwrap();
    let mut lines = Vec::new();
    export(&place(folder.path()), &sign, now, None, &mut lines).unwrap();
    let folders = tempfile::tempdir().unwrap();
    let imported = tempfile::TempDir::new_in(folders.path()).unwrap();
    let data = imported.path().to_owned();
    fs::remove_dir(&data).unwrap();
    import(&mut &lines[..], &place(&data), None, now).unwrap();
    assert_eq!(verify(&data).problems, []);
    let host = TestHost::open_in(imported, START.plus(5_000)).await;
    let ann = host.token("ann").await;
    assert_eq!(feed(&host, &ann, &room, "").await, shown);
}

// covers: CHN-73
#[tokio::test]
async fn the_feed_is_read_page_by_page_and_each_entry_comes_once() {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    let ann = host.token("ann").await;
    let mut expect = Vec::new();
    for n in 0..9 {
        let root = say(&host, &ann, &room, json!({"text": format!("subject {n}")})).await;
        let deploy = thread(&host, &ann, &room, Some(&root)).await;
        for m in 0..n {
            say(&host, &ann, &room, json!({"text": format!("reply {n}.{m}"), "thread": deploy}))
                .await;
        }
        expect.insert(0, format!("subject: subject {n}"));
    }
    for limit in [1, 2, 3, 9, 50] {
        let (mut read, mut query) = (Vec::new(), format!("?limit={limit}"));
        loop {
            let page = feed(&host, &ann, &room, &query).await;
            let entries = kinds(&page);
            assert!(entries.len() <= limit);
            read.extend(entries);
            let Some(next) = page.get("next") else { break };
            query = format!("?limit={limit}&before={next}");
        }
        assert_eq!(read, expect, "{limit} at a time");
    }
    let path = format!("/v1/channels/{room}/feed");
    assert_eq!(host.get(&ann, &format!("{path}?limit=0")).await.refused(400), "VALIDATION_ERROR");
    assert_eq!(host.get(&ann, &format!("{path}?before=x")).await.refused(400), "VALIDATION_ERROR");
    let none = "/v1/channels/ch_00000000000070008000000000000001/feed";
    assert_eq!(host.get(&ann, none).await.refused(404), "NOT_FOUND");
}

// covers: CHN-61, CHN-64
#[tokio::test]
async fn bad_work_gets_the_envelope_and_changes_nothing() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let deploy = thread(&host, &ann, &room, None).await;
    work(&host, &bot, &deploy, json!({"status": "completed", "initiative_key": "release"}))
        .await
        .ok();
    let before = host.length(&room).await;
    for (patch, status, code) in [
        (json!({"status": "active"}), 409, "CONFLICT"),
        (json!({"status": "done"}), 400, "VALIDATION_ERROR"),
        (json!({"progress": {"key": "b", "text": "x", "percent": 101}}), 400, "VALIDATION_ERROR"),
        (json!({"progress": {"key": "", "text": "x"}}), 400, "VALIDATION_ERROR"),
        (json!({"bind": [{"kind": "house", "id": "1"}]}), 400, "VALIDATION_ERROR"),
        (json!({"owner_session": "sess_1"}), 400, "VALIDATION_ERROR"),
        (json!({"unknown": 1}), 400, "VALIDATION_ERROR"),
    ] {
        let answer = work(&host, &ann, &deploy, patch.clone()).await;
        assert_eq!(answer.refused(status), code, "{patch}");
    }
    let none = "th_00000000000070008000000000000001";
    assert_eq!(work(&host, &ann, none, json!({})).await.refused(404), "NOT_FOUND");
    assert_eq!(host.length(&room).await, before);
    work(&host, &ann, &deploy, json!({"initiative_key": null})).await.ok();
}

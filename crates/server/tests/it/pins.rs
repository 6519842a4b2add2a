//! Files that are pinned to a channel: shown, seen by whoever sees the channel, and kept as long as they are pinned.

use chorus_server::history::{Signing, export, import};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{Answer, START, TestHost, damage, doctor, place, verify};

const DAY: i64 = 24 * 3_600_000;

async fn bring(host: &TestHost, token: &str, name: &str) -> String {
    let request = host.request(Method::POST, &format!("/v1/assets?name={name}"));
    let request = request.bearer_auth(token).header("content-type", "text/plain");
    let kept = TestHost::answer(request.body(format!("this is {name}"))).await.ok();
    kept["asset_id"].as_str().unwrap().to_owned()
}

async fn status(host: &TestHost, token: &str, asset: &str) -> u16 {
    host.get(token, &format!("/v1/assets/{asset}")).await.status
}

async fn pin(host: &TestHost, room: &str, pins: Value) -> Answer {
    let patch = json!({"pinned_assets": pins, "purpose": "changed"});
    let path = format!("/v1/channels/{room}");
    host.send(&host.operator(), Method::PATCH, &path, Some(patch)).await
}

async fn pinned(host: &TestHost, room: &str) -> Vec<String> {
    let shown = host.get(&host.operator(), &format!("/v1/channels/{room}")).await.ok();
    let pins = shown["pinned_assets"].as_array().cloned().unwrap_or_default();
    pins.iter().map(|pin| pin["name"].as_str().unwrap().to_owned()).collect()
}

// covers: CHN-230, CHN-231
#[tokio::test]
async fn a_pinned_file_is_shown_and_seen_by_whoever_sees_the_channel() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    host.post(&op, "/v1/members", json!({"id": "carl", "kind": "human"})).await.ok();
    let (bot, carl) = (host.token("bot").await, host.token("carl").await);
    let rules = bring(&host, &op, "rules.txt").await;
    let plan = bring(&host, &op, "plan.txt").await;
    assert_eq!(status(&host, &carl, &rules).await, 404);
    let shown = pin(&host, &room, json!([plan, rules, plan])).await.ok();
    let first = &shown["pinned_assets"][0];
    assert_eq!((&first["asset_id"], &first["name"]), (&json!(plan), &json!("plan.txt")));
    assert_eq!(
        (&first["media_type"], &first["bytes"]),
        (&json!("text/plain; charset=utf-8"), &json!(16))
    );
    assert_eq!(pinned(&host, &room).await, ["plan.txt", "rules.txt"], "each once, in order");
    for token in [&bot, &carl] {
        assert_eq!(status(&host, token, &rules).await, 200, "whoever sees the channel");
    }
    let private = json!({"visibility": "private"});
    host.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(private)).await.ok();
    assert_eq!((status(&host, &bot, &rules).await, status(&host, &carl, &rules).await), (200, 404));
    pin(&host, &room, json!([plan])).await.ok();
    assert_eq!((status(&host, &bot, &rules).await, status(&host, &bot, &plan).await), (404, 200));

    // What is refused changes nothing.
    let before = host.get(&op, &format!("/v1/channels/{room}")).await.ok();
    let hidden = bring(&host, &carl, "hidden.txt").await;
    let mut many = Vec::new();
    for n in 0..33 {
        many.push(bring(&host, &op, &format!("{n}.txt")).await);
    }
    for (bad, status, code) in [
        (json!(["../x"]), 404, "NOT_FOUND"),
        (json!(["ast_0192f0c1a2b37c4d8e5f60718293a4b5"]), 404, "NOT_FOUND"),
        (json!([plan, hidden]), 404, "NOT_FOUND"),
        (json!("plan.txt"), 400, "VALIDATION_ERROR"),
        (json!(many), 429, "RATE_LIMITED"),
    ] {
        assert_eq!(pin(&host, &room, bad.clone()).await.refused(status), code, "{bad}");
    }
    let patch = json!({"pinned_assets": []});
    let refused =
        host.send(&bot, Method::PATCH, &format!("/v1/channels/{room}"), Some(patch)).await;
    assert_eq!(refused.refused(403), "INSUFFICIENT_AUTHORITY");
    assert_eq!(host.get(&op, &format!("/v1/channels/{room}")).await.ok(), before);
    pin(&host, &room, json!([])).await.ok();
    assert_eq!(pinned(&host, &room).await, Vec::<String>::new());
}

// covers: ATT-424, CHN-230
#[tokio::test]
async fn a_file_that_an_agent_has_from_a_private_place_waits_before_more_see_it() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, boss) = (host.token("ann").await, host.token_of("bot", "orchestrator").await);
    let new = json!({"title": "pair", "kind": "dm", "members": ["bot"]});
    let pair = host.post(&ann, "/v1/channels", new).await.ok()["id"].clone();
    let refers = |conversation: &Value, file: &str| {
        let content = json!([{"type": "text", "text": "see"}, {"type": "asset", "asset_id": file}]);
        json!({"conversation": conversation, "content": content, "idempotency_key": file})
    };
    let plan = bring(&host, &ann, "plan.txt").await;
    host.post(&ann, "/v1/messages", refers(&pair, &plan)).await.ok();
    let own = bring(&host, &boss, "own.txt").await;
    let here = json!(room);
    let said = host.post(&boss, "/v1/messages", refers(&here, &own)).await.ok();
    let said = said["message_id"].as_str().unwrap().to_owned();

    // Pinned, in a message of the open channel, in an edit of one: each waits, and nothing is shown.
    let channel = format!("/v1/channels/{room}");
    let pin = async |pins: Value| {
        host.send(&boss, Method::PATCH, &channel, Some(json!({"pinned_assets": pins}))).await
    };
    assert_eq!(pin(json!([own, plan])).await.refused(403), "APPROVAL_REQUIRED");
    let sent = host.post(&boss, "/v1/messages", refers(&here, &plan)).await;
    assert_eq!(sent.refused(403), "APPROVAL_REQUIRED");
    let mut edit = refers(&here, &plan);
    edit.as_object_mut().unwrap().retain(|name, _| name == "content");
    let path = format!("/v1/messages/{said}");
    let edited = host.send(&boss, Method::PATCH, &path, Some(edit)).await;
    assert_eq!(edited.refused(403), "APPROVAL_REQUIRED");
    assert_eq!(status(&host, &host.operator(), &plan).await, 404);
    // Its own is its own.
    pin(json!([own])).await.ok();

    // Who could read it there agrees to just that.
    let waits = host.get(&ann, "/v1/approvals").await.ok();
    let mut waits = waits["approvals"].as_array().unwrap().iter();
    let one = waits.find(|one| one["tool"] == "change_channel").unwrap();
    assert_eq!(one["arguments"]["pinned_assets"], format!("{own}, {plan}"));
    let path = format!("/v1/approvals/{}", one["id"].as_str().unwrap());
    host.post(&ann, &path, json!({"approved": true})).await.ok();
    pin(json!([])).await.ok();
    pin(json!([own, plan])).await.ok();
    assert_eq!(status(&host, &host.operator(), &plan).await, 200);
    // Where it came from it may be referred to.
    let mut again = refers(&pair, &plan);
    again["idempotency_key"] = json!("again");
    host.post(&boss, "/v1/messages", again).await.ok();
}

// covers: CHN-231, CHN-232
#[tokio::test]
async fn pinned_message_survives_retention_and_an_export() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    let (stays, goes) = (bring(&host, &op, "stays.txt").await, bring(&host, &op, "goes.txt").await);
    let keep = json!({"keep": "1d", "pinned_assets": [stays, goes]});
    host.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(keep)).await.ok();
    pin(&host, &room, json!([stays])).await.ok();
    host.say(&op, &room, "long ago").await;
    host.clock.advance(3 * DAY);
    host.running.drop_old().await;
    host.running.drop_old().await;
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);

    let now = START.plus(3 * DAY + 1_000);
    let host = TestHost::open_in(folder, now).await;
    let (op, bot) = (host.operator(), host.token("bot").await);
    let shown = host.get(&op, &format!("/v1/channels/{room}")).await.ok();
    assert!(shown["base_seq"].as_u64().unwrap() > 0, "the log was trimmed: {shown}");
    assert_eq!(pinned(&host, &room).await, ["stays.txt"]);
    assert_eq!((status(&host, &bot, &stays).await, status(&host, &op, &goes).await), (200, 404));
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let sign = Signing::open(&folder.path().join("keys")).unwrap();
    let mut lines = Vec::new();
    export(&place(folder.path()), &sign, now, None, &mut lines).unwrap();
    let folders = tempfile::tempdir().unwrap();
    let imported = tempfile::TempDir::new_in(folders.path()).unwrap();
    std::fs::remove_dir(imported.path()).unwrap();
    import(&mut &lines[..], &place(imported.path()), None, now).unwrap();
    assert_eq!(verify(imported.path()).problems, []);
    let moved = TestHost::open_in(imported, now).await;
    let bot = moved.token("bot").await;
    assert_eq!(pinned(&moved, &room).await, ["stays.txt"]);
    assert_eq!(status(&moved, &bot, &stays).await, 200);

    // What a disk lost of it is noticed, and made again from the log.
    damage(folder.path(), "DELETE FROM asset_ref WHERE workspace = 1 AND seq = 0");
    assert_eq!(doctor(folder.path()).problems.len(), 1);
    let place = place(folder.path());
    chorus_store::repair(&place, folder.path()).unwrap();
    assert_eq!(doctor(folder.path()).problems, []);
}

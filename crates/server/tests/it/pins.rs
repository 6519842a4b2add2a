//! Files that are pinned to a channel: shown, seen by whoever sees the channel, and kept as long as they are pinned.

use chorus_server::history::{Signing, export, import};
use reqwest::Method;
use serde_json::{Value, json};

use crate::house::{Answer, House, START, damage, doctor, place, verify};

const DAY: i64 = 24 * 3_600_000;

async fn bring(house: &House, token: &str, name: &str) -> String {
    let request = house.request(Method::POST, &format!("/v1/assets?name={name}"));
    let request = request.bearer_auth(token).header("content-type", "text/plain");
    let kept = House::answer(request.body(format!("this is {name}"))).await.ok();
    kept["asset_id"].as_str().unwrap().to_owned()
}

async fn status(house: &House, token: &str, asset: &str) -> u16 {
    house.get(token, &format!("/v1/assets/{asset}")).await.status
}

async fn pin(house: &House, room: &str, pins: Value) -> Answer {
    let patch = json!({"pinned_assets": pins, "purpose": "changed"});
    let path = format!("/v1/channels/{room}");
    house.send(&house.operator(), Method::PATCH, &path, Some(patch)).await
}

async fn pinned(house: &House, room: &str) -> Vec<String> {
    let shown = house.get(&house.operator(), &format!("/v1/channels/{room}")).await.ok();
    let pins = shown["pinned_assets"].as_array().cloned().unwrap_or_default();
    pins.iter().map(|pin| pin["name"].as_str().unwrap().to_owned()).collect()
}

// covers: CHN-230, CHN-231
#[tokio::test]
async fn a_pinned_file_is_shown_and_seen_by_whoever_sees_the_channel() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let op = house.operator();
    house.post(&op, "/v1/members", json!({"id": "carl", "kind": "human"})).await.ok();
    let (bot, carl) = (house.token("bot").await, house.token("carl").await);
    let rules = bring(&house, &op, "rules.txt").await;
    let plan = bring(&house, &op, "plan.txt").await;
    assert_eq!(status(&house, &carl, &rules).await, 404);
    let shown = pin(&house, &room, json!([plan, rules, plan])).await.ok();
    let first = &shown["pinned_assets"][0];
    assert_eq!((&first["asset_id"], &first["name"]), (&json!(plan), &json!("plan.txt")));
    assert_eq!(
        (&first["media_type"], &first["bytes"]),
        (&json!("text/plain; charset=utf-8"), &json!(16))
    );
    assert_eq!(pinned(&house, &room).await, ["plan.txt", "rules.txt"], "each once, in order");
    for token in [&bot, &carl] {
        assert_eq!(status(&house, token, &rules).await, 200, "whoever sees the channel");
    }
    let private = json!({"visibility": "private"});
    house.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(private)).await.ok();
    assert_eq!(
        (status(&house, &bot, &rules).await, status(&house, &carl, &rules).await),
        (200, 404)
    );
    pin(&house, &room, json!([plan])).await.ok();
    assert_eq!((status(&house, &bot, &rules).await, status(&house, &bot, &plan).await), (404, 200));

    // What is refused changes nothing.
    let before = house.get(&op, &format!("/v1/channels/{room}")).await.ok();
    let hidden = bring(&house, &carl, "hidden.txt").await;
    let mut many = Vec::new();
    for n in 0..33 {
        many.push(bring(&house, &op, &format!("{n}.txt")).await);
    }
    for (bad, status, code) in [
        (json!(["../x"]), 404, "NOT_FOUND"),
        (json!(["ast_0192f0c1a2b37c4d8e5f60718293a4b5"]), 404, "NOT_FOUND"),
        (json!([plan, hidden]), 404, "NOT_FOUND"),
        (json!("plan.txt"), 400, "VALIDATION_ERROR"),
        (json!(many), 429, "RATE_LIMITED"),
    ] {
        assert_eq!(pin(&house, &room, bad.clone()).await.refused(status), code, "{bad}");
    }
    let patch = json!({"pinned_assets": []});
    let refused =
        house.send(&bot, Method::PATCH, &format!("/v1/channels/{room}"), Some(patch)).await;
    assert_eq!(refused.refused(403), "INSUFFICIENT_AUTHORITY");
    assert_eq!(house.get(&op, &format!("/v1/channels/{room}")).await.ok(), before);
    pin(&house, &room, json!([])).await.ok();
    assert_eq!(pinned(&house, &room).await, Vec::<String>::new());
}

// covers: ATT-424, CHN-230
#[tokio::test]
async fn a_file_that_an_agent_has_from_a_private_place_waits_before_more_see_it() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let (ann, boss) = (house.token("ann").await, house.token_of("bot", "orchestrator").await);
    let new = json!({"title": "pair", "kind": "dm", "members": ["bot"]});
    let pair = house.post(&ann, "/v1/channels", new).await.ok()["id"].clone();
    let refers = |conversation: &Value, file: &str| {
        let content = json!([{"type": "text", "text": "see"}, {"type": "asset", "asset_id": file}]);
        json!({"conversation": conversation, "content": content, "idempotency_key": file})
    };
    let plan = bring(&house, &ann, "plan.txt").await;
    house.post(&ann, "/v1/messages", refers(&pair, &plan)).await.ok();
    let own = bring(&house, &boss, "own.txt").await;
    let here = json!(room);
    let said = house.post(&boss, "/v1/messages", refers(&here, &own)).await.ok();
    let said = said["message_id"].as_str().unwrap().to_owned();

    // Pinned, in a message of the open channel, in an edit of one: each waits, and nothing is shown.
    let channel = format!("/v1/channels/{room}");
    let pin = async |pins: Value| {
        house.send(&boss, Method::PATCH, &channel, Some(json!({"pinned_assets": pins}))).await
    };
    assert_eq!(pin(json!([own, plan])).await.refused(403), "APPROVAL_REQUIRED");
    let sent = house.post(&boss, "/v1/messages", refers(&here, &plan)).await;
    assert_eq!(sent.refused(403), "APPROVAL_REQUIRED");
    let mut edit = refers(&here, &plan);
    edit.as_object_mut().unwrap().retain(|name, _| name == "content");
    let path = format!("/v1/messages/{said}");
    let edited = house.send(&boss, Method::PATCH, &path, Some(edit)).await;
    assert_eq!(edited.refused(403), "APPROVAL_REQUIRED");
    assert_eq!(status(&house, &house.operator(), &plan).await, 404);
    // Its own is its own.
    pin(json!([own])).await.ok();

    // Who could read it there agrees to just that.
    let waits = house.get(&ann, "/v1/approvals").await.ok();
    let mut waits = waits["approvals"].as_array().unwrap().iter();
    let one = waits.find(|one| one["tool"] == "change_channel").unwrap();
    assert_eq!(one["arguments"]["pinned_assets"], format!("{own}, {plan}"));
    let path = format!("/v1/approvals/{}", one["id"].as_str().unwrap());
    house.post(&ann, &path, json!({"approved": true})).await.ok();
    pin(json!([])).await.ok();
    pin(json!([own, plan])).await.ok();
    assert_eq!(status(&house, &house.operator(), &plan).await, 200);
    // Where it came from it may be referred to.
    let mut again = refers(&pair, &plan);
    again["idempotency_key"] = json!("again");
    house.post(&boss, "/v1/messages", again).await.ok();
}

// covers: CHN-231, CHN-232
#[tokio::test]
async fn what_is_pinned_stays_over_days_a_trimmed_log_and_an_export() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let op = house.operator();
    let (stays, goes) =
        (bring(&house, &op, "stays.txt").await, bring(&house, &op, "goes.txt").await);
    let keep = json!({"keep": "1d", "pinned_assets": [stays, goes]});
    house.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(keep)).await.ok();
    pin(&house, &room, json!([stays])).await.ok();
    house.say(&op, &room, "long ago").await;
    house.clock.advance(3 * DAY);
    house.running.drop_old().await;
    house.running.drop_old().await;
    let House { running, folder, .. } = house;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);

    let now = START.plus(3 * DAY + 1_000);
    let house = House::open_in(folder, now).await;
    let (op, bot) = (house.operator(), house.token("bot").await);
    let shown = house.get(&op, &format!("/v1/channels/{room}")).await.ok();
    assert!(shown["base_seq"].as_u64().unwrap() > 0, "the log was trimmed: {shown}");
    assert_eq!(pinned(&house, &room).await, ["stays.txt"]);
    assert_eq!((status(&house, &bot, &stays).await, status(&house, &op, &goes).await), (200, 404));
    let House { running, folder, .. } = house;
    running.stop().await;
    let sign = Signing::open(&folder.path().join("keys")).unwrap();
    let mut lines = Vec::new();
    export(&place(folder.path()), &sign, now, &mut lines).unwrap();
    let folders = tempfile::tempdir().unwrap();
    let imported = tempfile::TempDir::new_in(folders.path()).unwrap();
    std::fs::remove_dir(imported.path()).unwrap();
    import(&mut &lines[..], &place(imported.path()), None, now).unwrap();
    assert_eq!(verify(imported.path()).problems, []);
    let moved = House::open_in(imported, now).await;
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

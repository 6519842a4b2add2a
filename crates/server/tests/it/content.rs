//! What messages are made of, beyond text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{Answer, PATIENCE, START, TestHost, damage, doctor};

const DAY: i64 = 24 * 3_600_000;
/// A picture of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async fn bring(host: &TestHost, token: &str, name: &str, kind: &str, data: Vec<u8>) -> Answer {
    let request = host.request(Method::POST, &format!("/v1/assets?name={name}"));
    TestHost::answer(request.bearer_auth(token).header("content-type", kind).body(data)).await
}

async fn text(host: &TestHost, token: &str, name: &str, data: &str) -> String {
    let kept = bring(host, token, name, "text/plain", data.into()).await.ok();
    kept["asset_id"].as_str().unwrap().to_owned()
}

async fn attach(host: &TestHost, token: &str, room: &str, asset: &str, more: Value) -> Answer {
    let mut new = json!({
        "conversation": room, "idempotency_key": format!("{asset}{more}"),
        "content": [{"type": "text", "text": "see"}, {"type": "asset", "asset_id": asset}],
    });
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    host.post(token, "/v1/messages", new).await
}

async fn status(host: &TestHost, token: &str, asset: &str) -> u16 {
    host.get(token, &format!("/v1/assets/{asset}")).await.status
}

// covers: CHN-141, CHN-144
#[tokio::test]
async fn a_file_is_served_safely_to_those_who_may_see_a_message_with_it() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (ann, bot, op) = (host.token("ann").await, host.token("bot").await, host.operator());
    let side = json!({"title": "side", "visibility": "private", "members": ["ann", "bot"]});
    let side = host.post(&op, "/v1/channels", side).await.ok()["id"].as_str().unwrap().to_owned();
    let png = BASE64.decode(PNG).unwrap();
    let kept = bring(&host, &ann, "a%20%22b%22%C3%BC.png", "image/png", png.clone()).await.ok();
    assert_eq!((&kept["media_type"], &kept["name"]), (&json!("image/png"), &json!("a \"b\"ü.png")));
    let asset = kept["asset_id"].as_str().unwrap();
    // The same file again is the same file.
    let again = bring(&host, &ann, "a%20%22b%22%C3%BC.png", "image/png", png.clone()).await.ok();
    assert_eq!(again["asset_id"], *asset);

    // Until it is referred to it is for who brought it.
    assert_eq!(status(&host, &ann, asset).await, 200);
    assert_eq!(host.get(&bot, &format!("/v1/assets/{asset}")).await.refused(404), "NOT_FOUND");
    // And nobody refers to what it may not see.
    assert_eq!(attach(&host, &bot, &side, asset, json!({})).await.refused(404), "NOT_FOUND");
    attach(&host, &ann, &side, asset, json!({})).await.ok();
    let other = host.token("other").await;
    for (token, seen) in [(&ann, 200), (&bot, 200), (&other, 404), (&op, 200)] {
        assert_eq!(status(&host, token, asset).await, seen);
    }
    assert_eq!(status(&host, &host.token_of("other", "auditor").await, asset).await, 200);
    // Who sees it may pass it on, and then others see it.
    attach(&host, &ann, &room, asset, json!({})).await.ok();
    assert_eq!(status(&host, &other, asset).await, 200);
    // A message for some is for them alone.
    let secret = text(&host, &ann, "for-bot.txt", "only bot").await;
    let only = json!({"visibility": "ephemeral", "only": ["bot"]});
    attach(&host, &ann, &room, &secret, only).await.ok();
    assert_eq!(
        (status(&host, &bot, &secret).await, status(&host, &other, &secret).await),
        (200, 404)
    );

    let header = |answer: &reqwest::Response, name: &str| {
        answer.headers()[name].to_str().unwrap().to_owned()
    };
    let path = format!("/v1/assets/{asset}");
    let answer = host.request(Method::GET, &path).bearer_auth(&ann).send().await.unwrap();
    assert_eq!(header(&answer, "content-type"), "image/png");
    assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
    assert!(header(&answer, "content-security-policy").contains("sandbox"));
    let disposition = "inline; filename*=UTF-8''a%20%22b%22%C3%BC.png";
    assert_eq!(header(&answer, "content-disposition"), disposition);
    assert_eq!(answer.bytes().await.unwrap(), png);
    // What a browser would run is a text to be downloaded.
    for (name, page) in [("x.html", "<script>alert(1)</script>"), ("x.svg", "<svg onload='x()'/>")]
    {
        let page = text(&host, &ann, name, page).await;
        let request = host.request(Method::GET, &format!("/v1/assets/{page}"));
        let answer = request.bearer_auth(&ann).send().await.unwrap();
        assert_eq!(header(&answer, "content-type"), "text/plain; charset=utf-8");
        assert!(header(&answer, "content-disposition").starts_with("attachment"));
    }
    let thumbnail = format!("/v1/assets/{asset}/thumbnail");
    let answer = host.request(Method::GET, &thumbnail).bearer_auth(&ann).send().await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), header(&answer, "content-type")),
        (200, "image/jpeg".into())
    );
    let none = host.get(&bot, &format!("/v1/assets/{secret}/thumbnail")).await;
    assert_eq!(none.refused(404), "NOT_FOUND");
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(doctor(folder.path()).problems, []);
}

// covers: CHN-142, CHN-143
#[tokio::test]
async fn unsupported_file_is_refused() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let png = || BASE64.decode(PNG).unwrap();
    let large = vec![b'x'; 4 * 1024 * 1024 + 1];
    for (name, kind, data, status, code) in [
        ("..%2Fx", "text/plain", b"x".to_vec(), 400, "VALIDATION_ERROR"),
        ("%2Fetc%2Fpasswd", "text/plain", b"x".to_vec(), 400, "VALIDATION_ERROR"),
        ("a%00b", "text/plain", b"x".to_vec(), 400, "VALIDATION_ERROR"),
        ("", "text/plain", b"x".to_vec(), 400, "VALIDATION_ERROR"),
        ("x.png", "image/png", b"no picture".to_vec(), 400, "VALIDATION_ERROR"),
        ("x.jpg", "image/jpeg", png(), 400, "VALIDATION_ERROR"),
        ("x.txt", "text/plain", png(), 400, "VALIDATION_ERROR"),
        ("x", "application/octet-stream", b"\x7fELF\x02".to_vec(), 400, "VALIDATION_ERROR"),
        ("x", "text/plain", Vec::new(), 400, "VALIDATION_ERROR"),
        ("x.txt", "text/plain", large, 413, "PAYLOAD_TOO_LARGE"),
    ] {
        assert_eq!(
            bring(&host, &ann, name, kind, data).await.refused(status),
            code,
            "{name} {kind}"
        );
    }
    let auditor = host.token_of("bot", "auditor").await;
    let refused = bring(&host, &auditor, "x.txt", "text/plain", b"x".to_vec()).await;
    assert_eq!(refused.refused(403), "FORBIDDEN");
    for asset in ["ast_1", "../x", "ast_0192f0c1a2b37c4d8e5f60718293a4b5", ""] {
        assert_eq!(attach(&host, &ann, &room, asset, json!({})).await.refused(404), "NOT_FOUND");
    }
    assert_eq!(host.get(&ann, "/v1/assets/ast_1").await.refused(404), "NOT_FOUND");
    for (name, kind, data) in [
        ("../x", "text/plain", "eA=="),
        ("x", "text/plain", "no base64!"),
        ("x.png", "image/png", "eA=="),
    ] {
        let upload = json!([{"type": "upload", "name": name, "media_type": kind, "data": data}]);
        let new = json!({"conversation": room, "content": upload, "idempotency_key": "k"});
        let refused = host.post(&ann, "/v1/messages", new).await;
        assert_eq!(refused.refused(400), "VALIDATION_ERROR", "{name}");
    }
    assert_eq!(host.length(&room).await, 4);
}

// covers: CHN-145
#[tokio::test]
async fn an_upload_in_a_message_becomes_a_file_once() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let upload = json!({"type": "upload", "name": "log.txt", "media_type": "text/plain", "data": "aGVsbG8="});
    let new = json!({
        "conversation": room, "idempotency_key": "k",
        "content": [{"type": "text", "text": "the log"}, upload],
    });
    let posted = host.post(&ann, "/v1/messages", new.clone()).await.ok();
    // A retry is the same message, not a conflict.
    let again = host.post(&ann, "/v1/messages", new).await.ok();
    assert_eq!((&again["duplicate"], &again["event_id"]), (&json!(true), &posted["event_id"]));
    let path = format!("/v1/messages/{}", posted["message_id"].as_str().unwrap());
    let shown = host.get(&bot, &path).await.ok();
    assert_eq!(shown["content"][1]["type"], "asset");
    let asset = shown["content"][1]["asset_id"].as_str().unwrap();
    let data = host.get(&bot, &format!("/v1/assets/{asset}")).await.ok();
    assert_eq!(data, json!("hello"));
}

// covers: CHN-147
#[tokio::test]
async fn unreferenced_file_is_dropped_after_a_day() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let (unused, deleted) =
        (text(&host, &ann, "a", "unused").await, text(&host, &ann, "b", "deleted").await);
    let (erased, edited) =
        (text(&host, &ann, "c", "erased-bytes").await, text(&host, &ann, "d", "edited").await);
    let stays = text(&host, &ann, "e", "stays").await;
    let mut paths = Vec::new();
    for asset in [&deleted, &erased, &edited, &stays] {
        let posted = attach(&host, &ann, &room, asset, json!({})).await.ok();
        paths.push(format!("/v1/messages/{}", posted["message_id"].as_str().unwrap()));
    }
    host.send(&ann, Method::DELETE, &paths[0], None).await.ok();
    host.post(&ann, &format!("{}/erase", paths[1]), json!({"reason": "secret"})).await.ok();
    host.send(&ann, Method::PATCH, &paths[2], Some(json!({"text": "without"}))).await.ok();
    // To others they are gone at once; who brought them has a day, unless they were erased.
    let gone = [(&deleted, 200, 404), (&erased, 404, 404), (&edited, 200, 404), (&stays, 200, 200)];
    for (asset, ann_sees, bot_sees) in gone {
        assert_eq!(
            (status(&host, &ann, asset).await, status(&host, &bot, asset).await),
            (ann_sees, bot_sees)
        );
    }
    host.clock.advance(DAY - 60_000);
    host.running.drop_old().await;
    assert_eq!(status(&host, &ann, &unused).await, 200);
    let ann = host.token("ann").await;
    host.clock.advance(120_000);
    host.running.drop_old().await;
    let ann = match status(&host, &ann, &stays).await {
        200 => ann,
        _ => host.token("ann").await,
    };
    for asset in [&unused, &deleted, &erased, &edited] {
        assert_eq!(status(&host, &ann, asset).await, 404);
    }
    assert_eq!(status(&host, &ann, &stays).await, 200);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(doctor(folder.path()).problems, []);
    let host =
        TestHost::open_in(folder, chorus_core::model::ids::Timestamp(START.0 + 2 * DAY)).await;
    let bot = host.token("bot").await;
    assert_eq!(status(&host, &bot, &stays).await, 200);
}

// covers: CHN-149
#[tokio::test]
async fn all_text_of_a_message_is_one() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let mut bot = host.connect(&bot).await;
    let asset = text(&host, &ann, "notes.txt", "notes").await;
    let parts = json!([
        {"type": "text", "text": "about the kestrel"},
        {"type": "asset", "asset_id": asset},
        {"type": "text", "text": "@bot can you look?"},
    ]);
    let new = json!({"conversation": room, "content": parts, "idempotency_key": "a"});
    let said = host.post(&ann, "/v1/messages", new).await.ok();
    // Decided on: the last part names and asks. Read: the first is in what the agent is given.
    let offer = bot.take().await;
    assert_eq!(offer["target"]["directedness"], "to_me");
    let whole = "about the kestrel\n@bot can you look?";
    let path = format!("/v1/messages/{}", said["message_id"].as_str().unwrap());
    assert_eq!(host.get(&ann, &path).await.ok()["text"], whole);
    assert!(host.running.searchable(PATIENCE).await);
    let found = host.get(&ann, "/v1/search?q=kestrel%20look").await.ok();
    assert_eq!(found["hits"][0]["message_id"], said["message_id"]);
}

// covers: CHN-140
#[tokio::test]
async fn a_board_reference_needs_a_session() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let board = json!([
        {"type": "text", "text": "see the board"},
        {"type": "board_reference", "board_id": "plan", "item_id": "7"},
    ]);
    let new = json!({"conversation": room, "content": board, "idempotency_key": "a"});
    for token in [&ann, &host.operator(), &bot] {
        let refused = host.post(token, "/v1/messages", new.clone()).await;
        assert_eq!(refused.refused(400), "VALIDATION_ERROR");
    }
    let said = host.say(&ann, &room, "plain").await;
    let path = format!("/v1/messages/{}", said["message_id"].as_str().unwrap());
    let edit = host.send(&ann, Method::PATCH, &path, Some(json!({"content": board}))).await;
    assert_eq!(edit.refused(400), "VALIDATION_ERROR");
    assert_eq!(host.get(&ann, &path).await.ok()["text"], "plain");

    let mut harness = host.connect(&bot).await;
    let send = |content, key: &str| {
        json!({
            "target": {"conversation": room}, "content": content, "idempotencyKey": key,
            "visibility": "channel", "directedness": "ambient",
        })
    };
    for id in ["", "two\nlines", &"x".repeat(257)] {
        let bad = json!([{"type": "board_reference", "board_id": id}]);
        let refused = harness.tool("chat.send_message", send(bad, "bad")).await;
        assert_eq!(refused.unwrap_err(), "VALIDATION_ERROR");
    }
    let sent = harness.tool("chat.send_message", send(board.clone(), "good")).await.unwrap();
    let id = sent["eventId"].as_str().unwrap();
    let shown = host.get(&ann, &format!("/v1/messages/{id}")).await.ok();
    assert_eq!((&shown["content"], &shown["text"]), (&board, &json!("see the board")));
}

// covers: OPS-448
#[tokio::test]
async fn a_small_picture_that_cannot_be_kept_is_served_all_the_same() {
    let host = TestHost::open().await;
    host.room(&[]).await;
    let ann = host.token("ann").await;
    let png = BASE64.decode(PNG).unwrap();
    let request = host.request(Method::POST, "/v1/assets?name=x.png").bearer_auth(&ann);
    let made = TestHost::answer(request.header("content-type", "image/png").body(png)).await.ok();
    let path = format!("/v1/assets/{}/thumbnail", made["asset_id"].as_str().unwrap());
    host.get(&ann, &path).await.ok();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    damage(folder.path(), "UPDATE blob SET thumbnail = NULL WHERE workspace = 1");
    let host = TestHost::open_in(folder, START).await;
    // Nothing can be written any more.
    host.running.serving().unwrap().writer.stop();
    for _ in 0..2 {
        let small = host.request(Method::GET, &path).bearer_auth(&ann).send().await.unwrap();
        let kind = small.headers()["content-type"].to_str().unwrap();
        assert_eq!((small.status().as_u16(), kind), (200, "image/jpeg"));
    }
}

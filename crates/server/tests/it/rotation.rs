//! Other keys for the host: whoever has a copy of the old ones can do nothing with it, and what runs goes on.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::test_host::{START, TestHost};
use crate::webhook::{self, Remote, accepted, call, messages, nothing_owed, reached, text};

async fn rotate(host: &TestHost) -> Value {
    host.post(&host.operator(), "/v1/tokens/rotate", json!({})).await.ok()
}

fn key(host: &TestHost, name: &str) -> Vec<u8> {
    std::fs::read(host.folder.path().join("keys").join(name)).unwrap()
}

/// A turn's token as whoever has its key can make it of another: for a token that nobody was given.
fn forged(host: &TestHost, turn: &str, key: &[u8], issued: i64) -> String {
    let token = BASE64.decode(turn.strip_prefix("turn_").unwrap()).unwrap();
    let (signed, mac) = token.split_at(token.len() - 32);
    let workspace = host.running.workspace_id.strip_prefix("wk_").unwrap();
    let workspace = u128::from_str_radix(workspace, 16).unwrap().to_be_bytes();
    let sign = |signed: &[u8]| {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(&workspace);
        mac.update(signed);
        mac.finalize().into_bytes()
    };
    let mut signed = signed.to_vec();
    if key == self::key(host, "turn.key") {
        assert_eq!(&sign(&signed)[..], mac, "this is how it is made");
    }
    // Kind, id and time of what it stems from.
    let stem = signed.len() - 25;
    signed[stem + 1..stem + 17].fill(7);
    signed[stem + 17..].copy_from_slice(&issued.to_be_bytes());
    let mac = sign(&signed);
    format!("turn_{}", BASE64.encode([&signed[..], &mac].concat()))
}

// covers: OPS-431, OPS-426
#[tokio::test]
async fn turns_of_the_old_key_end_and_are_offered_again() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut bot = host.connect(&token).await;
    host.say(&ann, &room, "@bot are you there?").await;
    let event = bot.take().await;
    let turn = text(&event["turn"]["token"]);
    let copied = key(&host, "turn.key");
    let messages = format!("/v1/messages?conversation={room}");
    host.get(&turn, &messages).await.ok();
    host.get(&forged(&host, &turn, &copied, START.0), &messages).await.ok();

    rotate(&host).await;
    assert_ne!(key(&host, "turn.key"), copied);
    for old in [&turn, &forged(&host, &turn, &copied, START.0)] {
        assert_eq!(host.get(old, &messages).await.refused(401), "UNAUTHORIZED");
    }

    // The same connection has the same turn, with a token of the new key.
    let refused = bot.reply(&event, "with the old one").await.unwrap_err();
    assert_eq!(refused, "UNAUTHORIZED");
    let again = bot.take().await;
    assert_eq!(again["eventId"], event["eventId"]);
    assert_ne!(again["turn"]["token"], event["turn"]["token"]);
    assert_eq!(again["turn"]["fence"], event["turn"]["fence"]);
    bot.reply(&again, "I am").await.unwrap();
    let page = host.get(&ann, &messages).await.ok();
    assert_eq!(page["messages"][1]["text"], "I am");
}

// covers: OPS-431, OPS-426
#[tokio::test]
async fn callbacks_of_the_old_key_end_and_the_agent_is_told_where_to_answer() {
    let host = webhook::open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "@weather and now?").await;
    let first = remote.take().await;
    accepted(&host).await;
    let bearer = text(&first["mcp"]["headers"]["Authorization"]);
    let bearer = bearer.strip_prefix("Bearer ").unwrap();
    host.get(bearer, "/v1/whoami").await.ok();
    rotate(&host).await;
    let signal = remote.take().await;
    assert_eq!(
        (&signal["kind"], &signal["event_id"]),
        (&json!("reminder"), &first["message"]["id"])
    );
    let rain = json!({"type": "message", "content": "Rain."});
    assert_eq!(call(&host, &first, rain.clone()).await.refused(401), "UNAUTHORIZED");
    assert_eq!(host.get(bearer, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    call(&host, &signal, rain).await.ok();
    nothing_owed(&host).await;
    assert_eq!(messages(&host, &room).await.len(), 2);

    // What was sealed before opens after it, and after a start.
    rotate(&host).await;
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_with(folder, START.plus(1_000), webhook::at_once).await;
    host.say(&host.token("ann").await, &room, "@weather and tomorrow?").await;
    let next = remote.take().await;
    assert_eq!(next["message"]["content"], "@weather and tomorrow?");
    call(&host, &next, json!({"type": "message", "content": "Sun."})).await.ok();
}

// covers: OPS-431
#[tokio::test]
async fn stream_with_a_turn_token_of_the_old_key_ends() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut bot = host.connect(&token).await;
    host.say(&ann, &room, "@bot are you there?").await;
    let turn = text(&bot.take().await["turn"]["token"]);
    let path = format!("/v1/events?conversation={room}");
    let follow = host.request(Method::GET, &path).bearer_auth(&turn);
    let mut follow = follow.header("accept", "text/event-stream").send().await.unwrap();
    assert_eq!(follow.status(), 200);
    rotate(&host).await;
    host.say(&ann, &room, "a secret").await;
    let mut heard = Vec::new();
    while let Some(bytes) = follow.chunk().await.unwrap() {
        heard.extend_from_slice(&bytes);
    }
    assert!(!String::from_utf8_lossy(&heard).contains("a secret"));
}

// covers: OPS-427
#[tokio::test]
async fn a_turn_stems_from_nothing_that_is_yet_to_come() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut bot = host.connect(&token).await;
    host.say(&ann, &room, "@bot are you there?").await;
    let event = bot.take().await;
    let turn = text(&event["turn"]["token"]);
    let make = |issued| forged(&host, &turn, &key(&host, "turn.key"), issued);
    host.get(&make(START.0), "/v1/whoami").await.ok();
    let to_come = make(START.0 + 3_600_000);
    let refused = host.get(&to_come, "/v1/whoami").await;
    assert!(refused.body.to_string().contains("in the future"), "{refused:?}");
    assert_eq!(refused.refused(401), "UNAUTHORIZED");
    let args = json!({"target": {"conversation": room}, "idempotencyKey": "z", "visibility": "channel",
        "directedness": "to_other", "text": "yes", "turn": to_come});
    let refused = host.tool(&token, "chat.send_message", args).await.unwrap_err();
    assert_eq!(refused, "STALE_TURN");
}

// covers: OPS-408
#[tokio::test]
async fn a_token_is_signed_with_the_key_that_it_is_listed_with() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let op = host.operator();
    let new = json!({"agent": "bot", "role": "worker"});
    for _ in 0..20 {
        let issue = async || {
            let mut made = Vec::new();
            for _ in 0..4 {
                made.push(host.post(&op, "/v1/tokens", new.clone()).await.ok());
            }
            made
        };
        let (mut made, more, others, _) =
            tokio::join!(issue(), issue(), issue(), async { rotate(&host).await });
        made.extend(more.into_iter().chain(others));
        let listed = host.get(&op, "/v1/tokens?member=bot").await.ok();
        let listed = listed["tokens"].as_array().unwrap();
        for token in made {
            let header = text(&token["token"]);
            let header = BASE64.decode(header.split('.').next().unwrap()).unwrap();
            let header: Value = serde_json::from_slice(&header).unwrap();
            let found = listed.iter().find(|t| t["jti"] == token["jti"]).unwrap();
            assert_eq!(found["kid"], header["kid"]);
        }
        let all = "/v1/members/bot/tokens";
        host.send(&op, Method::DELETE, all, None).await.ok();
        host.clock.advance(60_000);
    }
}

/// How many rows of the table there are, in a folder that no host has.
fn rows(folder: &Path, table: &str) -> usize {
    match chorus_cluster::under_test(folder).unwrap() {
        None => {
            let db = chorus_store::sqlite::Sqlite::alone(&folder.join("chorus.db")).unwrap();
            let all = format!("UPDATE {table} SET jti = jti WHERE workspace = 1");
            chorus_store::db::Db::execute(&db, &all, &[]).unwrap()
        }
        Some(url) => {
            let all = format!("SELECT count(*) FROM {table} WHERE workspace = 1");
            chorus_cluster::sql_at(&url, &all).unwrap().parse().unwrap()
        }
    }
}

// covers: OPS-428
#[tokio::test]
async fn tokens_that_are_over_are_forgotten_whoever_had_them() {
    const DAY_MS: i64 = 24 * 3_600_000;
    let host = TestHost::open().await;
    host.room(&["bot", "other"]).await;
    host.token("ann").await;
    for _ in 0..3 {
        host.token("bot").await;
    }
    let op = host.operator();
    host.send(&op, Method::DELETE, "/v1/members/bot/tokens", None).await.ok();
    // One that is over before the host starts again.
    let short = json!({"agent": "other", "role": "worker", "ttl_s": 60});
    host.post(&op, "/v1/tokens", short).await.ok();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!((rows(folder.path(), "issued"), rows(folder.path(), "token")), (6, 3));
    let host = TestHost::open_in(folder, START.plus(3_600_000)).await;
    host.pass(2 * DAY_MS).await;
    host.running.drop_old().await;
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    // The operator's, and those that were ended, which stay so whatever the clock says later.
    assert_eq!((rows(folder.path(), "issued"), rows(folder.path(), "token")), (4, 0));
    let host = TestHost::open_in(folder, START.plus(3 * DAY_MS)).await;
    host.pass(60 * DAY_MS).await;
    host.running.drop_old().await;
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    // The operator's may be a new one.
    assert!(rows(folder.path(), "issued") <= 1);
}

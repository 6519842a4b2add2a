//! Digests over the transports: told, stored, read again, written by a command, and gone with their words.

use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{START, TestHost};

const QUARTER: i64 = 15 * 60_000;

async fn follow(host: &TestHost, room: &str, member: &str) {
    let path = format!("/v1/channels/{room}/members/{member}");
    let seat = Some(json!({"participation": "always_listen"}));
    host.send(&host.operator(), Method::PUT, &path, seat).await.ok();
}

async fn digests(host: &TestHost, token: &str, query: &str) -> Vec<Value> {
    let listed = host.get(token, &format!("/v1/digests{query}")).await.ok();
    listed["digests"].as_array().unwrap().clone()
}

// covers: ATT-137, ATT-149, ATT-150
#[tokio::test]
async fn a_follower_is_told_and_can_read_it_again() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    follow(&host, &room, "bot").await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let (token, other) = (host.token("bot").await, host.token("other").await);
    let mut bot = host.connect(&token).await;
    host.say(&ann, &room, "deploy is at 40 percent").await;
    let gone = host.say(&ann, &room, "who has the secret plan?").await;
    assert_eq!(digests(&host, &token, "").await, Vec::<Value>::new(), "none yet");
    host.pass(QUARTER).await;
    let told = loop {
        let frame = bot.heard().await.unwrap();
        if frame["method"] == "notifications/digest" {
            break frame["params"].clone();
        }
    };
    assert_eq!(told["attention"]["policy"], "must_not_respond");
    assert_eq!((&told["messages"], &told["calls"]), (&json!(2), &json!([])));
    assert!(told["text"].as_str().unwrap().contains("who has the secret plan?"), "{told}");

    let mine = digests(&host, &token, "").await;
    assert_eq!((mine.len(), &mine[0]["id"]), (1, &told["digestId"]));
    assert_eq!(mine[0]["text"], told["text"], "the same again");
    assert_eq!(mine[0]["authors"], json!([{"id": "ann", "messages": 2}]));
    assert_eq!(digests(&host, &op, "?member=bot").await, mine);
    assert_eq!(digests(&host, &other, "").await, Vec::<Value>::new(), "it does not follow");
    let foreign = host.get(&other, "/v1/digests?member=bot").await;
    assert_eq!(foreign.refused(403), "INSUFFICIENT_AUTHORITY");
    let unknown = host.get(&op, "/v1/digests?member=nobody").await;
    assert_eq!(unknown.refused(404), "NOT_FOUND", "unknown is not empty");
    assert_eq!(host.get(&op, "/v1/digests?before=4").await.refused(400), "VALIDATION_ERROR");

    // Words are read off the log: what is deleted is not shown, and the digest stands.
    let path = format!("/v1/messages/{}", gone["event_id"].as_str().unwrap());
    host.send(&ann, Method::DELETE, &path, None).await;
    let now = START.plus(QUARTER + 1);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, now).await;
    let again = digests(&host, &token, &format!("?conversation={room}")).await;
    assert_eq!((again.len(), &again[0]["messages"]), (1, &json!(2)));
    assert!(!again[0].to_string().contains("secret"), "{again:?}");
}

// covers: ATT-152, ATT-153
#[tokio::test]
async fn digest_of_a_command_is_kept_until_its_source_goes() {
    let command = "echo written from; grep -o 'secret plan' | head -1";
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        config.settings.digest.command = Some(command.into());
    })
    .await;
    let room = host.room(&["bot"]).await;
    follow(&host, &room, "bot").await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let gone = host.say(&ann, &room, "who has the secret plan?").await;
    let mut bot = host.connect(&token).await;
    host.pass(QUARTER).await;
    let told = loop {
        let frame = bot.heard().await.unwrap();
        if frame["method"] == "notifications/digest" {
            break frame["params"].clone();
        }
    };
    assert_eq!(told["text"], "written from\nsecret plan");
    assert_eq!(digests(&host, &token, "").await[0]["written"], told["text"]);
    let path = format!("/v1/messages/{}", gone["event_id"].as_str().unwrap());
    host.send(&ann, Method::DELETE, &path, None).await;
    let after = digests(&host, &token, "").await;
    assert_eq!(after.len(), 1);
    assert!(!after[0].to_string().contains("secret"), "{after:?}");
    assert!(after[0].get("written").is_none());
}

//! Digests over the transports: told, stored, read again, written by a command, and gone with their words.

use reqwest::Method;
use serde_json::{Value, json};

use crate::house::{House, START};

const QUARTER: i64 = 15 * 60_000;

async fn follow(house: &House, room: &str, member: &str) {
    let path = format!("/v1/channels/{room}/members/{member}");
    let seat = Some(json!({"participation": "always_listen"}));
    house.send(&house.operator(), Method::PUT, &path, seat).await.ok();
}

async fn digests(house: &House, token: &str, query: &str) -> Vec<Value> {
    let listed = house.get(token, &format!("/v1/digests{query}")).await.ok();
    listed["digests"].as_array().unwrap().clone()
}

// covers: ATT-137, ATT-149, ATT-150
#[tokio::test]
async fn a_follower_is_told_and_can_read_it_again() {
    let house = House::open().await;
    let room = house.room(&["bot", "other"]).await;
    follow(&house, &room, "bot").await;
    let (op, ann) = (house.operator(), house.token("ann").await);
    let (token, other) = (house.token("bot").await, house.token("other").await);
    let mut bot = house.connect(&token).await;
    house.say(&ann, &room, "deploy is at 40 percent").await;
    let gone = house.say(&ann, &room, "who has the secret plan?").await;
    assert_eq!(digests(&house, &token, "").await, Vec::<Value>::new(), "none yet");
    house.pass(QUARTER).await;
    let told = loop {
        let frame = bot.heard().await.unwrap();
        if frame["method"] == "notifications/digest" {
            break frame["params"].clone();
        }
    };
    assert_eq!(told["attention"]["policy"], "must_not_respond");
    assert_eq!((&told["messages"], &told["calls"]), (&json!(2), &json!([])));
    assert!(told["text"].as_str().unwrap().contains("who has the secret plan?"), "{told}");

    let mine = digests(&house, &token, "").await;
    assert_eq!((mine.len(), &mine[0]["id"]), (1, &told["digestId"]));
    assert_eq!(mine[0]["text"], told["text"], "the same again");
    assert_eq!(mine[0]["authors"], json!([{"id": "ann", "messages": 2}]));
    assert_eq!(digests(&house, &op, "?member=bot").await, mine);
    assert_eq!(digests(&house, &other, "").await, Vec::<Value>::new(), "it does not follow");
    let foreign = house.get(&other, "/v1/digests?member=bot").await;
    assert_eq!(foreign.refused(403), "INSUFFICIENT_AUTHORITY");
    let unknown = house.get(&op, "/v1/digests?member=nobody").await;
    assert_eq!(unknown.refused(404), "NOT_FOUND", "unknown is not empty");
    assert_eq!(house.get(&op, "/v1/digests?before=4").await.refused(400), "VALIDATION_ERROR");

    // Words are read off the log: what is deleted is not shown, and the digest stands.
    let path = format!("/v1/messages/{}", gone["event_id"].as_str().unwrap());
    house.send(&ann, Method::DELETE, &path, None).await;
    let now = START.plus(QUARTER + 1);
    let House { running, folder, .. } = house;
    running.stop().await;
    let house = House::open_in(folder, now).await;
    let again = digests(&house, &token, &format!("?conversation={room}")).await;
    assert_eq!((again.len(), &again[0]["messages"]), (1, &json!(2)));
    assert!(!again[0].to_string().contains("secret"), "{again:?}");
}

// covers: ATT-152, ATT-153
#[tokio::test]
async fn what_a_command_writes_is_kept_and_goes_with_what_it_was_made_of() {
    let command = "echo written from; grep -o 'secret plan' | head -1";
    let house = House::open_with(tempfile::tempdir().unwrap(), START, |config| {
        config.settings.digest.command = Some(command.into());
    })
    .await;
    let room = house.room(&["bot"]).await;
    follow(&house, &room, "bot").await;
    let (ann, token) = (house.token("ann").await, house.token("bot").await);
    let gone = house.say(&ann, &room, "who has the secret plan?").await;
    let mut bot = house.connect(&token).await;
    house.pass(QUARTER).await;
    let told = loop {
        let frame = bot.heard().await.unwrap();
        if frame["method"] == "notifications/digest" {
            break frame["params"].clone();
        }
    };
    assert_eq!(told["text"], "written from\nsecret plan");
    assert_eq!(digests(&house, &token, "").await[0]["written"], told["text"]);
    let path = format!("/v1/messages/{}", gone["event_id"].as_str().unwrap());
    house.send(&ann, Method::DELETE, &path, None).await;
    let after = digests(&house, &token, "").await;
    assert_eq!(after.len(), 1);
    assert!(!after[0].to_string().contains("secret"), "{after:?}");
    assert!(after[0].get("written").is_none());
}

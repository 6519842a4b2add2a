//! The index of a member: what it is in and has not read; and mail, which is apart from channels everywhere.

use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{PATIENCE, START, TestHost};

async fn make(host: &TestHost, token: &str, new: Value) -> String {
    host.post(token, "/v1/channels", new).await.ok()["id"].as_str().unwrap().to_owned()
}

async fn index(host: &TestHost, token: &str, query: &str) -> Vec<(String, u64, u64, bool)> {
    let index = host.get(token, &format!("/v1/index{query}")).await.ok();
    let entry = |entry: &Value| {
        let count = |name| entry[name].as_u64().unwrap();
        let title = entry["title"].as_str().unwrap().to_owned();
        (title, count("unread"), count("mentions"), entry["more"] == true)
    };
    index["channels"].as_array().unwrap().iter().map(entry).collect()
}

fn entry(title: &str, unread: u64, mentions: u64, more: bool) -> (String, u64, u64, bool) {
    (title.to_owned(), unread, mentions, more)
}

// covers: CHN-130, CHN-131
#[tokio::test]
async fn the_index_counts_what_a_member_has_not_read() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (ann, bot, op) = (host.token("ann").await, host.token("bot").await, host.operator());
    make(&host, &op, json!({"title": "quiet", "members": ["bot"]})).await;
    make(&host, &op, json!({"title": "not mine", "members": ["ann"]})).await;
    host.post(&op, "/v1/roles", json!({"name": "crew", "members": ["bot"]})).await;
    host.clock.advance(1_000);
    for text in ["hello all", "@bot look", "@other look"] {
        host.say(&ann, &room, text).await;
    }
    let gone = host.say(&ann, &room, "@bot never mind").await;
    host.say(&bot, &room, "I said something").await;
    let hidden = json!({
        "conversation": room, "text": "@other only you", "idempotency_key": "e",
        "visibility": "ephemeral", "only": ["other"],
    });
    host.post(&ann, "/v1/messages", hidden).await.ok();
    let path = format!("/v1/messages/{}", gone["message_id"].as_str().unwrap());
    host.send(&ann, Method::DELETE, &path, None).await.ok();

    let both = [entry("room", 3, 1, false), entry("quiet", 0, 0, false)];
    assert_eq!(index(&host, &bot, "").await, both);
    assert_eq!(index(&host, &bot, "?unread=true").await, both[..1]);
    // What was read is no longer counted.
    let read = json!({"last_read_seq": host.length(&room).await});
    host.send(&bot, Method::PUT, &format!("/v1/cursors/{room}"), Some(read)).await.ok();
    assert_eq!(index(&host, &bot, "?unread=true").await, []);
    host.say(&ann, &room, "@bot again").await;
    assert_eq!(index(&host, &bot, "?unread=true").await, [entry("room", 1, 1, false)]);
    // Only so much is counted, and it is said that there is more.
    for n in 0..250 {
        host.say(&ann, &room, &format!("@other number {n}")).await;
    }
    assert_eq!(index(&host, &bot, "?unread=true").await, [entry("room", 200, 0, true)]);

    for (query, status) in [("?unread=perhaps", 400), ("?scope=everything", 400), ("?of=bot", 400)]
    {
        let refused = host.get(&bot, &format!("/v1/index{query}")).await.refused(status);
        assert_eq!(refused, "VALIDATION_ERROR");
    }
}

// covers: CHN-132, CHN-133, CHN-134
#[tokio::test]
async fn mail_between_agents_is_durable_and_apart_from_channels() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other", "third"]).await;
    let (ann, bot, op) = (host.token("ann").await, host.token("bot").await, host.operator());
    let public = json!({"kind": "dm", "visibility": "public", "members": ["other"]});
    assert_eq!(host.post(&bot, "/v1/channels", public).await.refused(400), "VALIDATION_ERROR");
    let dm = make(&host, &bot, json!({"kind": "dm", "members": ["other"]})).await;
    host.say(&bot, &dm, "the sealed envelope").await;
    host.say(&ann, &room, "an open envelope").await;

    let titles = |answer: Value| -> Vec<String> {
        let channels = answer["channels"].as_array().unwrap().clone();
        channels.iter().map(|channel| channel["kind"].as_str().unwrap().to_owned()).collect()
    };
    for (token, scope, kinds) in [
        (&bot, "?scope=channels", vec!["channel"]),
        (&bot, "?scope=mail", vec!["dm"]),
        (&bot, "?scope=all", vec!["channel", "dm"]),
        (&bot, "", vec!["channel", "dm"]),
        (&op, "?scope=mail", vec![]),
        (&op, "", vec!["channel"]),
        (&ann, "?scope=mail", vec![]),
    ] {
        let list = host.get(token, &format!("/v1/channels{scope}")).await.ok();
        assert_eq!(titles(list), kinds, "{scope}");
    }
    assert_eq!(titles(host.get(&bot, "/v1/index").await.ok()), ["channel"]);
    assert_eq!(titles(host.get(&bot, "/v1/index?scope=mail").await.ok()), ["dm"]);
    assert!(host.running.searchable(PATIENCE).await);
    for (token, query, count) in [
        (&bot, "q=envelope", 1),
        (&bot, "q=envelope&scope=mail", 1),
        (&bot, "q=sealed", 0),
        (&op, "q=envelope&scope=all", 1),
        (&ann, "q=sealed&scope=all", 0),
    ] {
        let found = host.get(token, &format!("/v1/search?{query}")).await.ok();
        assert_eq!(found["hits"].as_array().unwrap().len(), count, "{query}");
    }
    // By its id it is as unknown as one that does not exist, to read and to write.
    for token in [&ann, &op, &host.token("third").await] {
        for path in [
            format!("/v1/channels/{dm}"),
            format!("/v1/messages?conversation={dm}"),
            format!("/v1/events?conversation={dm}"),
            format!("/v1/search?q=sealed&conversation={dm}"),
            format!("/v1/cursors/{dm}"),
        ] {
            assert_eq!(host.get(token, &path).await.refused(404), "NOT_FOUND", "{path}");
        }
        let new = json!({"conversation": dm, "text": "me too", "idempotency_key": "k"});
        assert_eq!(host.post(token, "/v1/messages", new).await.refused(404), "NOT_FOUND");
    }

    // The other agent is away; it finds the mail when it comes, after a restart.
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, START).await;
    let other = host.token("other").await;
    assert_eq!(index(&host, &other, "?scope=mail").await, [entry("dm", 1, 1, false)]);
    let mut other = host.connect(&other).await;
    let offered = other.delivery().await;
    assert_eq!(offered["params"]["conversation"]["id"], *dm);
    assert_eq!(offered["params"]["attention"]["reason"], "direct_message");
}

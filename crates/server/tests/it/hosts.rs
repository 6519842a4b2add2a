//! Two hosts on one database, over their transports: whichever of them somebody comes to, it is the same room.

use std::path::Path;

use chorus_cluster::{Cluster, Durability};
use chorus_server::{Config, Host};
use chorus_testing::eventually;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::live::Tail;
use crate::test_host::{START, TestHost};

/// Two hosts with the same keys, the first of them there before the other.
pub(crate) async fn two() -> (TestHost, TestHost) {
    let url = chorus_cluster::schema().unwrap();
    let one = open(&url, None).await;
    let other = open(&url, Some(&one.folder.path().join("keys"))).await;
    (one, other)
}

async fn open(url: &str, keys: Option<&Path>) -> TestHost {
    let set = |config: &mut Config| {
        config.database = Some(url.to_owned());
        config.keys = keys.map(Path::to_owned);
    };
    TestHost::open_with(tempdir().unwrap(), START, set).await
}

async fn close(one: TestHost, other: TestHost) {
    other.running.stop().await;
    one.running.stop().await;
}

// covers: OPS-150, OPS-151, OPS-152
#[tokio::test]
async fn an_agent_at_one_host_answers_what_was_asked_at_the_other() {
    let (one, other) = two().await;
    let room = one.room(&["bot"]).await;
    let (ann, bot) = (one.token("ann").await, one.token("bot").await);
    let mut tail = Tail::of(&other, &ann, &format!("conversation={room}")).await;
    let mut harness = other.connect(&bot).await;
    let said = one.say(&ann, &room, "@bot what is the time?").await;
    let (name, shown) = tail.next().await.unwrap();
    assert_eq!((name.as_str(), &shown["event_id"]), ("message_posted", &said["event_id"]));
    let event = harness.take().await;
    assert_eq!(event["eventId"], said["event_id"]);
    let reply = harness.reply(&event, "It is noon.").await.unwrap();
    // Answered there, read here at once, time after time, from what is kept for reading too.
    let page = format!("/v1/messages?conversation={room}");
    for n in 0..20 {
        let text = format!("and {n}?");
        let (first, then) = if n % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let said = first.say(&ann, &room, &text).await;
        for _ in 0..3 {
            let read = then.get(&ann, &page).await.ok();
            let last = read["messages"].as_array().unwrap().last().unwrap().clone();
            assert_eq!(last["event_id"], said["event_id"], "{text}");
        }
    }
    let path = format!("/v1/events/{}/attention", said["event_id"].as_str().unwrap());
    for host in [&one, &other] {
        let why = host.get(&ann, &path).await.ok();
        assert_eq!(why["told"][0]["receipt"]["disposition"], "responded", "{why}");
    }
    let seq = reply["sequence"].as_u64().or(reply["seq"].as_u64());
    let (_, answer) = tail.next().await.unwrap();
    assert_eq!(answer["message"]["text"], "It is noon.");
    assert!(seq.is_none_or(|seq| answer["seq"] == seq));
    close(one, other).await;
}

// covers: OPS-151, OPS-152
#[tokio::test]
async fn token_revoked_at_one_host_is_refused_at_the_other() {
    let (one, other) = two().await;
    one.room(&["bot"]).await;
    let bot = one.token("bot").await;
    let mut first = one.connect_as(&bot, json!({"resumable": true})).await;
    let session = json!({"id": first.hello["session"]["id"], "resumable": true});
    let mut second = other.connect_as(&bot, session).await;
    // The newer connection wins.
    while first.frame().await.is_some() {}
    second.call("ping", json!({})).await.unwrap();
    let op = one.operator();
    let id = one.get(&bot, "/v1/whoami").await.ok()["jti"].as_str().unwrap().to_owned();
    one.send(&op, Method::DELETE, &format!("/v1/tokens/{id}"), None).await.ok();
    assert_eq!(one.get(&bot, "/v1/members").await.refused(401), "UNAUTHORIZED");
    let status = async || other.get(&bot, "/v1/members").await.status;
    eventually("the other host refuses the token", async || status().await == 401).await;
    // What it had open ends too.
    while second.frame().await.is_some() {}
    close(one, other).await;
}

// covers: OPS-153, WHK-418
#[tokio::test]
async fn an_offer_has_a_new_attempt_after_the_host_was_away_from_its_database() {
    let cluster = Cluster::start(Durability::Quick, &[]).unwrap();
    let url = cluster.url("postgres");
    let one = open(&url, None).await;
    let other = open(&url, Some(&one.folder.path().join("keys"))).await;
    let room = one.room(&["bot"]).await;
    let (ann, bot) = (one.token("ann").await, one.token("bot").await);
    let mut harness = one.connect(&bot).await;
    let said = one.say(&ann, &room, "@bot what is the time?").await;
    let attempt = |frame: &Value| {
        assert_eq!(frame["params"]["eventId"], said["event_id"], "{frame}");
        frame["params"]["reliability"]["attempt"].as_u64().unwrap()
    };
    assert_eq!(attempt(&harness.delivery().await), 1);

    // Both hosts lose their connection, and load their rooms anew when they have another.
    let cut = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity \
        WHERE application_name = 'chorus writer'";
    chorus_cluster::sql_at(&url, cut).unwrap();
    for host in [&one, &other] {
        let new = json!({"conversation": room, "text": "good morning", "idempotency_key": "key"});
        eventually("the host is back", async || {
            host.pass(500).await;
            let answer = host.post(&ann, "/v1/messages", new.clone()).await;
            if answer.status == 503 { Err(answer) } else { Ok(answer.ok()) }
        })
        .await;
    }
    assert_eq!(attempt(&harness.delivery().await), 2, "the agent may be at work on the first");
    close(one, other).await;
}

// covers: ATT-421
#[tokio::test]
async fn private_content_told_at_one_host_is_known_at_the_other() {
    let (one, other) = two().await;
    let room = one.room(&["bot", "other"]).await;
    let (ann, bot) = (one.token("ann").await, one.token("bot").await);
    // Its session began at the one, and goes on at the other.
    let first = one.connect_as(&bot, json!({"resumable": true})).await;
    let session = json!({"id": first.hello["session"]["id"], "resumable": true});
    let mut second = other.connect_as(&bot, session).await;
    let new = json!({"title": "pair", "kind": "dm", "members": ["bot"]});
    let pair = one.post(&ann, "/v1/channels", new).await.ok();
    one.say(&ann, pair["id"].as_str().unwrap(), "the merger is off, is that clear?").await;
    let event = second.take().await;
    second.reply(&event, "It is.").await.unwrap();
    for (n, host) in [&one, &other].into_iter().enumerate() {
        let new = json!({"conversation": room, "text": "off", "idempotency_key": format!("k{n}")});
        let refused = host.post(&bot, "/v1/messages", new).await.refused(403);
        assert_eq!(refused, "APPROVAL_REQUIRED");
    }
    drop((first, second));
    close(one, other).await;
}

// covers: OPS-155
#[tokio::test]
async fn a_host_with_other_keys_is_told_what_to_do() {
    let url = chorus_cluster::schema().unwrap();
    let one = open(&url, None).await;
    let room = one.room(&[]).await;
    let folder = tempdir().unwrap();
    let config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        database: Some(url.clone()),
        ..Config::on(folder.path())
    };
    let why = Host::start(config).await.err().unwrap().to_string();
    assert!(why.contains("sign with other keys") && why.contains("signing.pem"), "{why}");
    // Nobody who is there notices.
    let ann = one.token("ann").await;
    one.say(&ann, &room, "go on").await;
    one.running.stop().await;
}

// covers: CHN-174, CHN-183
#[tokio::test]
async fn a_project_of_one_host_is_the_same_at_the_other() {
    let (one, other) = two().await;
    let room = one.room(&["bot", "late"]).await;
    let (op, bot) = (one.operator(), one.token("bot").await);
    let new = json!({"title": "quiet"});
    let quiet = one.post(&op, "/v1/channels", new).await.ok()["id"].as_str().unwrap().to_owned();
    let new = json!({"title": "Move", "members": ["bot"], "channels": [
        {"channel": room}, {"channel": quiet, "mirror_members": true},
    ]});
    let project = one.post(&op, "/v1/projects", new).await.ok();
    let at = format!("/v1/projects/{}", project["id"].as_str().unwrap());
    assert_eq!(other.get(&bot, &at).await.ok()["title"], "Move");
    let tasks = format!("{at}/tasks");
    let task = other.post(&bot, &tasks, json!({"title": "a", "assignee": "bot"})).await.ok();
    let member = format!("{at}/members/late");
    other.send(&op, Method::PUT, &member, Some(json!({}))).await.ok();
    let path = format!("{tasks}/{}", task["id"].as_str().unwrap());
    for host in [&one, &other] {
        let done = Some(json!({"state": "done"}));
        host.send(&bot, Method::PATCH, &path, done).await.ok();
        assert_eq!(host.get(&bot, &path).await.ok()["state"], "done");
        assert_eq!(host.get(&op, &at).await.ok()["members"].as_array().unwrap().len(), 3);
        let seats = host.get(&op, &format!("/v1/channels/{quiet}")).await.ok();
        let seats = seats["members"].as_array().unwrap().clone();
        assert!(seats.iter().any(|s| s["member"] == "late" && s["by_mirror"] == true), "{seats:?}");
    }
    for host in [&one, &other] {
        let queue = host.get(&op, &format!("/v1/channels/{room}/stimuli")).await.ok();
        assert_eq!(queue["stimuli"].as_array().unwrap().len(), 1, "{queue}");
    }
    close(one, other).await;
}

//! Several hosts on one database, over their transports: whichever of them somebody comes to, it is the same room.

use std::path::Path;
use std::time::{Duration, Instant};

use chorus_cluster::{Cluster, Durability, Mode, Pooler};
use chorus_server::{Config, Host};
use chorus_testing::eventually;
use reqwest::Method;
use serde_json::json;
use tempfile::tempdir;

use crate::live::Tail;
use crate::test_host::{START, TestHost};

/// Two hosts with the same keys, of which the first serves the workspace.
async fn two_at(url: &str) -> (TestHost, TestHost) {
    let one = open(url, None).await;
    let other = open(url, Some(&one.folder.path().join("keys"))).await;
    assert_eq!(other.running.served_by.as_deref(), Some(one.running.url.as_str()));
    (one, other)
}

async fn two() -> (TestHost, TestHost) {
    two_at(&chorus_cluster::schema().unwrap()).await
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

async fn texts(host: &TestHost, token: &str, room: &str) -> Vec<String> {
    let page = host.get(token, &format!("/v1/messages?conversation={room}&limit=200")).await.ok();
    let texts = page["messages"].as_array().unwrap().iter();
    texts.map(|message| message["text"].as_str().unwrap().to_owned()).collect()
}

// covers: OPS-150, OPS-151, OPS-152
#[tokio::test]
async fn whichever_host_is_asked_it_is_the_same_room() {
    let (one, other) = two().await;
    // The host that serves nothing has a token for its operator, from the one that does.
    let room = other.room(&["bot"]).await;
    let (ann, bot) = (other.token("ann").await, other.token("bot").await);
    let mut tail = Tail::of(&other, &ann, &format!("conversation={room}")).await;
    let mut harness = other.connect(&bot).await;
    let said = one.say(&ann, &room, "@bot what is the time?").await;
    let (name, shown) = tail.next().await.unwrap();
    assert_eq!((name.as_str(), &shown["event_id"]), ("message_posted", &said["event_id"]));
    let event = harness.take().await;
    assert_eq!(event["eventId"], said["event_id"]);
    harness.reply(&event, "It is noon.").await.unwrap();
    let (_, answer) = tail.next().await.unwrap();
    assert_eq!(answer["message"]["text"], "It is noon.");
    for n in 0..20 {
        let text = format!("and {n}?");
        let (first, then) = if n % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let said = first.say(&ann, &room, &text).await;
        let page = format!("/v1/messages?conversation={room}");
        let read = then.get(&ann, &page).await.ok();
        let last = read["messages"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(last["event_id"], said["event_id"], "{text}");
    }
    // A key that comes to both is one message.
    let new = json!({"conversation": room, "text": "once", "idempotency_key": "key"});
    let first = one.post(&ann, "/v1/messages", new.clone()).await.ok();
    let again = other.post(&ann, "/v1/messages", new).await.ok();
    assert_eq!(
        (&first["event_id"], again["duplicate"].as_bool()),
        (&again["event_id"], Some(true))
    );
    // Refusals are those of the host that serves the workspace, with their envelope.
    let nowhere = other.get(&ann, "/v1/messages?conversation=nowhere").await;
    assert_eq!(nowhere.refused(404), "NOT_FOUND");
    assert_eq!(other.get("nobody", "/v1/members").await.refused(401), "UNAUTHORIZED");
    // A long body goes through as it comes.
    let text = "x".repeat(300_000);
    let new = json!({"conversation": room, "text": text, "idempotency_key": "long"});
    let long = other.post(&ann, "/v1/messages", new).await;
    assert!([200, 201, 400, 413].contains(&long.status), "{}", long.status);
    assert_eq!(reqwest::get(other.url("/readyz")).await.unwrap().status(), 200);
    close(one, other).await;
}

// covers: OPS-151
#[tokio::test]
async fn token_revoked_through_one_host_is_refused_by_the_other_at_once() {
    let (one, other) = two().await;
    one.room(&["bot"]).await;
    let bot = one.token("bot").await;
    let mut harness = other.connect(&bot).await;
    let id = one.get(&bot, "/v1/whoami").await.ok()["jti"].as_str().unwrap().to_owned();
    one.send(&one.operator(), Method::DELETE, &format!("/v1/tokens/{id}"), None).await.ok();
    for host in [&one, &other] {
        assert_eq!(host.get(&bot, "/v1/members").await.refused(401), "UNAUTHORIZED");
    }
    // What it had open ends too.
    while harness.frame().await.is_some() {}
    close(one, other).await;
}

// covers: OPS-153, OPS-154
#[tokio::test]
async fn host_that_stops_hands_over_and_nobody_is_refused() {
    let url = chorus_cluster::schema().unwrap();
    let (one, other) = two_at(&url).await;
    let room = one.room(&["bot"]).await;
    let (ann, bot) = (one.token("ann").await, one.token("bot").await);
    let harness = other.connect_as(&bot, json!({"resumable": true})).await;
    let session = harness.hello["session"]["id"].clone();
    let operator = one.operator();
    let said = one.say(&ann, &room, "@bot what is the time?").await;
    let TestHost { running, folder, .. } = one;
    let stopping = tokio::spawn(running.stop());
    let mut longest = Duration::ZERO;
    let mut posted = 0;
    while !stopping.is_finished() || posted < 5 {
        let began = Instant::now();
        let new = json!({"conversation": room, "text": format!("{posted}"), "idempotency_key": format!("k{posted}")});
        let answer = other.post(&ann, "/v1/messages", new).await;
        // A request that was under way at the moment of the stop may have to be repeated.
        if answer.status != 503 {
            answer.ok();
            posted += 1;
        }
        longest = longest.max(began.elapsed());
    }
    stopping.await.unwrap();
    assert!(longest < Duration::from_secs(5), "{longest:?}");
    assert!(other.running.serving().is_some());
    let all = texts(&other, &ann, &room).await;
    let expected = ["@bot what is the time?".to_owned()].into_iter();
    let expected: Vec<_> = expected.chain((0..posted).map(|n| n.to_string())).collect();
    assert_eq!(all, expected);
    // The agent's session goes on where it was, and what was asked is offered again.
    let again = json!({"id": session, "resumable": true});
    let mut harness = other.connect_as(&bot, again).await;
    assert_eq!(harness.take().await["eventId"], said["event_id"]);
    // The first one comes back, and serves nothing.
    let served_by = other.running.url.clone();
    let set = |config: &mut Config| config.database = Some(url);
    let back = TestHost::open_with(folder, START, set).await;
    assert_eq!(back.running.served_by, Some(served_by));
    let who = back.get(&operator, "/v1/whoami").await.ok();
    assert_eq!(who, other.get(&operator, "/v1/whoami").await.ok());
    close(other, back).await;
}

// covers: OPS-153
#[tokio::test]
async fn who_follows_a_log_keeps_the_connection_when_the_workspace_moves() {
    let (one, other) = two().await;
    let room = one.room(&[]).await;
    let ann = one.token("ann").await;
    let mut tail = Tail::of(&other, &ann, &format!("conversation={room}")).await;
    let mut shown = Vec::new();
    let mut next = async || {
        let (_, event) = tail.next().await.expect("the stream goes on");
        shown.push(event["message"]["text"].as_str().unwrap().to_owned());
        shown.clone()
    };
    one.say(&ann, &room, "before").await;
    assert_eq!(next().await, ["before"]);
    one.running.stop().await;
    other.say(&ann, &room, "after").await;
    assert_eq!(next().await, ["before", "after"]);
    other.say(&ann, &room, "and on").await;
    assert_eq!(next().await, ["before", "after", "and on"]);
    // What has no place to go on from ends, and its reader looks at everything anew.
    other.running.stop().await;
    assert_eq!(tail.next().await, None);
}

// covers: OPS-153
#[tokio::test]
async fn owner_whose_epoch_has_passed_writes_nothing_more() {
    let url = chorus_cluster::schema().unwrap();
    let one = open(&url, None).await;
    let room = one.room(&[]).await;
    let ann = one.token("ann").await;
    one.say(&ann, &room, "before").await;
    let serving = one.running.serving().unwrap();
    // As if another host had taken it, and was gone already.
    let take = "UPDATE workspace_owner SET host = 'hst_of_another', epoch = epoch + 1";
    chorus_cluster::sql_at(&url, take).unwrap();
    let new = json!({"conversation": room, "text": "after", "idempotency_key": "after"});
    let answer = one.post(&ann, "/v1/messages", new.clone()).await;
    assert!([200, 201, 503].contains(&answer.status), "{answer:?}");
    eventually("it takes the workspace again", async || {
        let now = one.running.serving();
        now.is_some_and(|now| !std::sync::Arc::ptr_eq(&now, &serving))
    })
    .await;
    eventually("it is said once", async || {
        one.post(&ann, "/v1/messages", new.clone()).await.status != 503
    })
    .await;
    assert_eq!(texts(&one, &ann, &room).await, ["before", "after"]);
    assert!(serving.writer.ended().is_some());
    one.running.stop().await;
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
    // While no host is up it would lock the right ones out.
    let config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        database: Some(url.clone()),
        ..Config::on(folder.path())
    };
    let why = Host::start(config).await.err().unwrap().to_string();
    assert!(why.contains("sign with other keys") && why.contains("chorus restore"), "{why}");
}

// covers: OPS-155
#[tokio::test]
async fn hosts_that_begin_at_once_in_one_folder_of_keys_have_the_same() {
    let url = chorus_cluster::schema().unwrap();
    let keys = tempdir().unwrap();
    let keys = keys.path().join("keys");
    let begin = || open(&url, Some(&keys));
    let (one, other, third) = tokio::join!(begin(), begin(), begin());
    let all = [one, other, third];
    assert_eq!(all.iter().filter(|host| host.running.serving().is_some()).count(), 1);
    let room = all[0].room(&[]).await;
    let ann = all[1].token("ann").await;
    for (n, host) in all.iter().enumerate() {
        host.say(&ann, &room, &format!("{n}")).await;
    }
    for host in all {
        host.running.stop().await;
    }
}

// covers: OPS-409
#[tokio::test]
async fn hosts_that_share_a_database_keep_their_key() {
    let (one, other) = two().await;
    for host in [&one, &other] {
        let refused = host.post(&one.operator(), "/v1/tokens/rotate", json!({})).await;
        assert_eq!(refused.refused(409), "CONFLICT");
    }
    other.running.stop().await;
    eventually("it knows that the other has left", async || {
        let answer = one.post(&one.operator(), "/v1/tokens/rotate", json!({})).await;
        answer.status != 409
    })
    .await;
    one.running.stop().await;
}

// covers: OPS-156
#[tokio::test]
async fn nobody_without_the_keys_gets_in_between_hosts() {
    let url = chorus_cluster::schema().unwrap();
    let one = open(&url, None).await;
    let peer = chorus_cluster::sql_at(&url, "SELECT peer FROM live_host").unwrap();
    let plain = reqwest::get(format!("http://{peer}/v1/members")).await;
    assert!(plain.is_err(), "{plain:?}");
    let client = reqwest::Client::builder().tls_danger_accept_invalid_certs(true).build().unwrap();
    let strange = client.get(format!("https://{peer}/v1/members")).send().await;
    assert!(strange.is_err(), "{strange:?}");
    // A client's word about where a request comes from is nobody's.
    let answer = reqwest::Client::new()
        .get(one.url("/v1/members"))
        .header("chorus-forwarded-from", "127.0.0.1:1")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 401);
    one.running.stop().await;
}

// covers: OPS-157
#[tokio::test]
async fn a_pooler_of_transactions_may_stand_in_between() {
    let cluster = Cluster::start(Durability::Quick, &[]).unwrap();
    let pooler = Pooler::start(&cluster, Mode::Transaction, 3).unwrap();
    let (one, other) = two_at(pooler.url()).await;
    let room = one.room(&["bot"]).await;
    let (ann, bot) = (one.token("ann").await, one.token("bot").await);
    let mut harness = other.connect(&bot).await;
    let said = other.say(&ann, &room, "@bot what is the time?").await;
    let event = harness.take().await;
    assert_eq!(event["eventId"], said["event_id"]);
    harness.reply(&event, "It is noon.").await.unwrap();
    // More than comes in one piece.
    for n in 0..30 {
        let text = format!("{n} {}", "x".repeat(2_000));
        let new = json!({"conversation": room, "text": text, "idempotency_key": format!("{n}")});
        one.post(&ann, "/v1/messages", new).await.ok();
    }
    assert_eq!(texts(&other, &ann, &room).await.len(), 32);
    let TestHost { running, .. } = one;
    running.stop().await;
    eventually("the other takes over", async || {
        let new = json!({"conversation": room, "text": "still", "idempotency_key": "still"});
        other.post(&ann, "/v1/messages", new).await.status < 300
    })
    .await;
    assert_eq!(texts(&other, &ann, &room).await.len(), 33);
    other.running.stop().await;
}

// covers: OPS-157
#[tokio::test]
async fn a_pooler_of_statements_is_refused_with_what_to_do() {
    let cluster = Cluster::start(Durability::Quick, &[]).unwrap();
    let pooler = Pooler::start(&cluster, Mode::Statement, 3).unwrap();
    let folder = tempdir().unwrap();
    let config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        database: Some(pooler.url().to_owned()),
        ..Config::on(folder.path())
    };
    let why = Host::start(config).await.err().unwrap().to_string();
    assert!(why.contains("pool_mode = transaction"), "{why}");
}

// covers: OPS-150, OPS-154
#[tokio::test]
async fn a_database_that_fails_over_to_its_standby_loses_nothing_that_was_answered() {
    let mut primary = Cluster::start(Durability::Durable, &[]).unwrap();
    let standby = primary.standby().unwrap();
    let (one, other) = two_at(&primary.url_of_either(&standby, "postgres")).await;
    let room = one.room(&[]).await;
    let ann = one.token("ann").await;
    let mut posted = Vec::new();
    for n in 0..40 {
        if n == 20 {
            primary.kill();
            standby.promote().unwrap();
        }
        let host = if n % 2 == 0 { &one } else { &other };
        let new =
            json!({"conversation": room, "text": n.to_string(), "idempotency_key": n.to_string()});
        eventually("it is accepted", async || {
            host.post(&ann, "/v1/messages", new.clone()).await.status < 300
        })
        .await;
        posted.push(n.to_string());
    }
    assert_eq!(texts(&one, &ann, &room).await, posted);
    assert_eq!(texts(&other, &ann, &room).await, posted);
    close(one, other).await;
}

//! Hosts of one database share their workspaces: each is owned by one of them, and any host leads there.

use std::fs;

use chorus_server::Config;
use chorus_server::config::kind::Span;
use chorus_testing::eventually;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::tempdir;

use super::{Below, DAY, create, folder, sign_in, soon};
use crate::test_host::{START, TestHost};

/// Two hosts on a schema of its own, which close what nobody uses as late as ever.
async fn two(url: &str) -> (TestHost, TestHost) {
    two_with(url, |_| {}).await
}

async fn two_with(url: &str, set: impl Fn(&mut Config)) -> (TestHost, TestHost) {
    let one = open(url, None, &set).await;
    let keys = one.folder.path().join("keys");
    (one, open(url, Some(keys), &set).await)
}

async fn open(url: &str, keys: Option<std::path::PathBuf>, set: impl Fn(&mut Config)) -> TestHost {
    let with = |config: &mut Config| {
        config.database = Some(url.to_owned());
        config.keys = keys;
        set(config);
    };
    TestHost::open_with(tempdir().unwrap(), START, with).await
}

/// Makes a workspace at a host, and gives its operator's token, which the host that opened it has.
async fn made(host: &TestHost, other: &TestHost, name: &str) -> String {
    let made = create(host, name).await.ok();
    sign_in(made["sign_in_url"].as_str().unwrap()).await;
    let folder = folder(host, name).or_else(|| folder(other, name)).unwrap();
    fs::read_to_string(folder.join("operator.token")).unwrap().trim().to_owned()
}

/// A channel with the person `ann` and the agent `bot`, and their tokens.
async fn room(at: &Below<'_>, operator: &str) -> (String, String, String) {
    for (id, kind) in [("ann", "human"), ("bot", "agent")] {
        at.post(operator, "/v1/members", json!({"id": id, "kind": kind})).await.ok();
    }
    let new = json!({"title": "room", "members": ["ann", "bot"]});
    let room = at.post(operator, "/v1/channels", new).await.ok();
    let token = async |member: &str| {
        let new = json!({"agent": member, "role": "worker"});
        let made = at.post(operator, "/v1/tokens", new).await.ok();
        made["token"].as_str().unwrap().to_owned()
    };
    (room["id"].as_str().unwrap().to_owned(), token("ann").await, token("bot").await)
}

/// Says the same until it is accepted.
async fn until_said(at: &Below<'_>, token: &str, room: &str, text: &str) {
    eventually("it is accepted", async || {
        let new = json!({"conversation": room, "text": text, "idempotency_key": text});
        at.post(token, "/v1/messages", new).await.status < 300
    })
    .await;
}

async fn listed(host: &TestHost, name: &str) -> Value {
    host.get(&host.operator(), "/v1/workspaces").await.ok()["workspaces"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == name)
        .cloned()
        .unwrap_or_default()
}

/// The host that owns a workspace, and the other one.
async fn owner_first<'a>(one: &'a TestHost, other: &'a TestHost, name: &str) -> [&'a TestHost; 2] {
    let owner = listed(one, name).await["host"].clone();
    let hosts = one.get(&one.operator(), "/v1/hosts").await.ok();
    let of = |host: &TestHost| {
        let mut all = hosts["hosts"].as_array().unwrap().iter();
        all.any(|info| info["id"] == owner && info["url"] == host.running.url)
    };
    if of(one) { [one, other] } else { [other, one] }
}

// covers: OPS-166, OPS-162
#[tokio::test]
async fn whichever_host_is_asked_it_is_the_same_workspace() {
    let url = chorus_cluster::schema().unwrap();
    let (one, other) = two(&url).await;
    let operator = made(&one, &other, "acme").await;
    let theirs = made(&other, &one, "globex").await;
    let (at, there) = (Below { host: &one, name: "acme" }, Below { host: &other, name: "acme" });
    let (room, ann, bot) = room(&at, &operator).await;
    let (mut near, mut far) = (at.connect(&bot).await, there.connect(&bot).await);
    for (n, from) in [&at, &there].into_iter().enumerate() {
        let said = from.say(&ann, &room, &format!("@bot what is {n}?")).await;
        // Either session may be offered it.
        let (event, harness) = tokio::select! {
            event = near.take() => (event, &mut near),
            event = far.take() => (event, &mut far),
        };
        assert_eq!(event["eventId"], said["event_id"]);
        harness.reply(&event, "It is a number.").await.unwrap();
    }
    assert_eq!(at.texts(&ann, &room).await, there.texts(&ann, &room).await);
    assert_eq!(there.texts(&ann, &room).await.len(), 4);
    // The keys are the same for all of them, and a token is one workspace's alone.
    for host in [&one, &other] {
        for path in ["/v1/whoami", "/w/globex/v1/whoami"] {
            for token in [&ann, &operator] {
                host.get(token, path).await.refused(403);
            }
        }
        for token in [host.operator(), theirs.clone()] {
            host.get(&token, "/w/acme/v1/whoami").await.refused(403);
            host.get(&token, "/w/acme/v1/audit").await.refused(403);
        }
    }
    let refused = at.post(&operator, "/v1/tokens/rotate", json!({})).await;
    assert_eq!(refused.refused(409), "CONFLICT");
    // A token that was revoked through one is refused by both.
    let id = at.get(&bot, "/v1/whoami").await.ok()["jti"].as_str().unwrap().to_owned();
    let path = format!("/w/acme/v1/tokens/{id}");
    other.send(&operator, Method::DELETE, &path, None).await.ok();
    for below in [&at, &there] {
        below.get(&bot, "/v1/whoami").await.refused(401);
    }
    drop((near, far));
    for host in [other, one] {
        host.running.stop().await;
    }
}

// covers: OPS-166, OPS-153
#[tokio::test]
async fn a_host_that_stops_hands_its_workspaces_over() {
    let url = chorus_cluster::schema().unwrap();
    let (one, other) = two(&url).await;
    let operator = made(&one, &other, "acme").await;
    let (room, ann, _) = room(&Below { host: &one, name: "acme" }, &operator).await;
    let there = Below { host: &other, name: "acme" };
    let stopping = tokio::spawn(one.running.stop());
    let mut posted = 0;
    while !stopping.is_finished() || posted < 5 {
        let text = format!("{posted}");
        let new = json!({"conversation": room, "text": text, "idempotency_key": text});
        let answer = there.post(&ann, "/v1/messages", new).await;
        // What was under way at the moment of the stop may have to be repeated.
        if answer.status != 503 {
            answer.ok();
            posted += 1;
        }
    }
    let expected: Vec<_> = (0..posted).map(|n| n.to_string()).collect();
    assert_eq!(there.texts(&ann, &room).await, expected);
    other.running.stop().await;
}

// covers: OPS-166, OPS-150
#[tokio::test]
async fn what_a_lost_host_owned_is_taken_and_it_writes_nothing_more() {
    let url = chorus_cluster::schema().unwrap();
    let (one, other) = two(&url).await;
    let operator = made(&one, &other, "acme").await;
    let (room, ann, _) = room(&Below { host: &one, name: "acme" }, &operator).await;
    let [owner, survivor] = owner_first(&one, &other, "acme").await;
    let below = |host| Below { host, name: "acme" };
    below(owner).say(&ann, &room, "before").await;
    // As if its lease had ended.
    let gone = format!("DELETE FROM live_host WHERE url = '{}'", owner.running.url);
    chorus_cluster::sql_at(&url, &gone).unwrap();
    until_said(&below(survivor), &ann, &room, "after").await;
    // The one that was lost has joined again, and leads to whoever has it.
    eventually("both tell the same", async || {
        let page = format!("/v1/messages?conversation={room}");
        let read = below(owner).get(&ann, &page).await;
        read.status == 200 && read.body["messages"][1]["text"] == "after"
    })
    .await;
    until_said(&below(owner), &ann, &room, "again").await;
    assert_eq!(below(survivor).texts(&ann, &room).await, ["before", "after", "again"]);
    for host in [other, one] {
        host.running.stop().await;
    }
}

// covers: OPS-164, OPS-166
#[tokio::test]
async fn one_is_shut_wherever_it_is_open_and_its_rows_are_removed() {
    let url = chorus_cluster::schema().unwrap();
    let (one, other) =
        two_with(&url, |config| config.settings.workspaces.grace = Span::days(7)).await;
    let operator = made(&one, &other, "acme").await;
    let (room, ann, _) = room(&Below { host: &one, name: "acme" }, &operator).await;
    let [owner, asked] = owner_first(&one, &other, "acme").await;
    let at = Below { host: asked, name: "acme" };
    at.say(&ann, &room, "before").await;
    assert_eq!(create(asked, "acme").await.refused(409), "CONFLICT");
    let op = asked.operator();
    let shut = asked.post(&op, "/v1/workspaces/acme/suspend", json!({})).await.ok();
    assert_eq!((&shut["state"], &shut["open"]), (&json!("suspended"), &json!(false)));
    for host in [owner, asked] {
        let below = Below { host, name: "acme" };
        let refused = below.get(&ann, "/v1/whoami").await;
        assert!(refused.body["error"]["message"].as_str().unwrap().contains("suspended"));
    }
    asked.post(&op, "/v1/workspaces/acme/resume", json!({})).await.ok();
    assert_eq!(at.texts(&ann, &room).await, ["before"]);
    asked.send(&op, Method::DELETE, "/v1/workspaces/acme", None).await.ok();
    for host in [&one, &other] {
        assert_eq!(host.get(&ann, "/w/acme/v1/whoami").await.refused(404), "NOT_FOUND");
        host.clock.advance(8 * DAY);
    }
    eventually("it is forgotten", async || listed(&one, "acme").await.is_null()).await;
    let only_own = "DO $$ DECLARE t text; n bigint; BEGIN
        FOR t IN SELECT table_name FROM information_schema.columns
            WHERE table_schema = current_schema() AND column_name = 'workspace' LOOP
            EXECUTE format('SELECT count(*) FROM %I WHERE workspace <> 1', t) INTO n;
            IF n > 0 THEN RAISE EXCEPTION '% has % rows', t, n; END IF;
        END LOOP; END $$";
    chorus_cluster::sql_at(&url, only_own).unwrap();
    // The hosts' own is as it was, and the name is free.
    one.get(&one.operator(), "/v1/whoami").await.ok();
    create(&other, "acme").await.ok();
    assert_eq!(at.get(&ann, "/v1/whoami").await.refused(403), "OUT_OF_SCOPE_WORKSPACE");
    for host in [other, one] {
        host.running.stop().await;
    }
}

// covers: OPS-163, OPS-166
#[tokio::test]
async fn what_is_due_in_one_that_sleeps_happens_once_and_at_one_host() {
    let url = chorus_cluster::schema().unwrap();
    let (one, other) = two_with(&url, soon).await;
    let operator = made(&one, &other, "acme").await;
    let at = Below { host: &other, name: "acme" };
    let (room, ann, _) = room(&at, &operator).await;
    let new = json!({"cron": "0 17 * * *", "time_zone": "Europe/Oslo", "text": "What changed?",
        "source": "bot", "targets": ["ann"]});
    let made = at.post(&operator, &format!("/v1/channels/{room}/schedules"), new).await.ok();
    assert_eq!(made["next_at"], "2026-09-21T15:00:00.000Z");
    eventually("nobody owns it", async || listed(&one, "acme").await["open"] == false).await;
    for host in [&one, &other] {
        host.clock.advance(47 * 60_000);
    }
    let feed = format!("/v1/channels/{room}/feed");
    eventually("it is opened for it", async || listed(&one, "acme").await["open"] == true).await;
    eventually("it was said", async || {
        let entries = at.get(&ann, &feed).await.ok()["entries"].as_array().unwrap().clone();
        assert!(entries.len() <= 1, "{entries:?}");
        // A host's clock stands still until it is set.
        one.clock.advance(1_000);
        other.clock.advance(1_000);
        entries.len() == 1
    })
    .await;
    for host in [other, one] {
        host.running.stop().await;
    }
}

// covers: OPS-170
#[tokio::test]
async fn workspaces_spread_over_the_hosts_there_are() {
    let url = chorus_cluster::schema().unwrap();
    let one = open(&url, None, |_| {}).await;
    let names: Vec<String> = (0..12).map(|number| format!("team-{number}x")).collect();
    for name in &names {
        let made = create(&one, name).await.ok();
        sign_in(made["sign_in_url"].as_str().unwrap()).await;
    }
    let other = open(&url, Some(one.folder.path().join("keys")), |_| {}).await;
    eventually("the newcomer has its share", async || {
        // Whoever uses one that was given up comes to its next owner.
        for name in &names {
            let path = format!("/w/{name}/readyz");
            assert_eq!(one.get("", &path).await.status, 200, "{name}");
        }
        let hosts = one.get(&one.operator(), "/v1/hosts").await.ok();
        let owned = hosts["hosts"].as_array().unwrap().iter();
        let owned: Vec<_> = owned.map(|host| host["workspaces"].as_u64().unwrap()).collect();
        owned.len() == 2 && owned.iter().all(|owned| (4..=9).contains(owned))
    })
    .await;
    for host in [other, one] {
        host.running.stop().await;
    }
}

// covers: OPS-171, OPS-166
#[tokio::test]
async fn a_quota_holds_at_whichever_host_owns_the_workspace() {
    let url = chorus_cluster::schema().unwrap();
    let (one, other) = two(&url).await;
    let operator = made(&one, &other, "acme").await;
    let [owner, asked] = owner_first(&one, &other, "acme").await;
    let quota = json!({"requests_per_second": 1, "requests_burst": 3});
    let path = "/v1/workspaces/acme/quota";
    let told = asked.send(&asked.operator(), Method::PUT, path, Some(quota.clone())).await.ok();
    assert_eq!(told["quota"], quota);
    assert_eq!(listed(owner, "acme").await["quota"], quota);
    let mut answered = 0;
    let refused = loop {
        let host = if answered % 2 == 0 { owner } else { asked };
        let answer = host.get(&operator, "/w/acme/v1/whoami").await;
        if answer.status != 200 {
            break answer;
        }
        answered += 1;
        assert!(answered <= 3);
    };
    assert_eq!(refused.refused(429), "RATE_LIMITED");
    assert!(answered > 0);
    eventually("it is said why the workspace is where it is", async || {
        let why = listed(owner, "acme").await["why_host"].clone();
        why.as_str().is_some_and(|why| why.contains("ranks"))
    })
    .await;
    for host in [other, one] {
        host.running.stop().await;
    }
}

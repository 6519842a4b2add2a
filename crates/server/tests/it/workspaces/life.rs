//! Opened when somebody comes or something is due, closed when nobody uses it, suspended, deleted, brought back.

use std::fs;
use std::time::Duration;

use chorus_server::config::kind::Span;
use chorus_testing::eventually;
use reqwest::Method;
use serde_json::json;

use super::{Below, DAY, create, folder, host_of_files, host_with, made, sign_in, soon};
use crate::live::Tail;
use crate::test_host::{START, TestHost};
use crate::webhook::Remote;

// covers: OPS-163
#[tokio::test]
async fn one_that_nobody_uses_is_not_in_memory_and_is_there_when_somebody_comes() {
    let host = host_with(soon).await;
    let acme = made(&host, "acme").await;
    let (room, ann, bot) = acme.room().await;
    acme.say(&ann, &room, "before").await;
    acme.until_closed().await;
    assert_eq!(acme.texts(&ann, &room).await, ["before"]);
    // Whoever is connected keeps it open.
    let mut harness = acme.connect(&bot).await;
    let said = acme.say(&ann, &room, "@bot are you there?").await;
    assert_eq!(harness.take().await["eventId"], said["event_id"]);
    assert_eq!(acme.listed().await["open"], true);
    drop(harness);
    let tail = Tail::at(&host, &ann, &format!("/w/acme/v1/events?conversation={room}")).await;
    host.until_metric("chorus_open_workspaces", 1).await;
    assert_eq!(acme.listed().await["open"], true);
    drop(tail);
    host.running.stop().await;
}

// covers: OPS-163
#[tokio::test]
async fn what_is_due_in_one_that_sleeps_happens_in_its_time() {
    let mut remote = Remote::open().await;
    let host = host_with(|config| {
        soon(config);
        config.settings.webhook.quiet = Span::seconds(0);
    })
    .await;
    let acme = made(&host, "acme").await;
    let (room, ann, _) = acme.room().await;
    let (op, url) = (acme.operator(), remote.url());
    acme.post(&op, "/v1/endpoints", json!({"member": "bot", "url": url})).await.ok();
    let new = json!({"cron": "0 17 * * *", "time_zone": "Europe/Oslo", "text": "What changed?",
        "source": "herald", "targets": ["bot"]});
    let made = acme.post(&op, &format!("/v1/channels/{room}/schedules"), new).await.ok();
    assert_eq!(made["next_at"], "2026-09-21T15:00:00.000Z");
    acme.until_closed().await;
    host.clock.advance(46 * 60_000);
    assert_eq!(acme.listed().await["open"], false);
    // Nobody comes to it, and its agent is told all the same.
    let delivery = loop {
        host.clock.advance(30_000);
        match tokio::time::timeout(Duration::from_secs(2), remote.take()).await {
            Ok(delivery) => break delivery,
            Err(_) => assert!(host.clock_now() < START.plus(DAY), "its agent is never told"),
        }
    };
    let told = &delivery["chorus"]["turn"]["recent"][0]["text"];
    assert_eq!(told, "What changed?", "{delivery}");
    // Its answer goes where it belongs, whether that is open or not.
    let callback = delivery["callback"].as_str().unwrap();
    assert!(callback.starts_with(&host.url("/w/acme/")), "{callback}");
    acme.until_closed().await;
    let answer = json!({"type": "message", "content": "Nothing."});
    let answer = reqwest::Client::new().post(callback).json(&answer).send().await.unwrap();
    assert!(answer.status().is_success(), "{answer:?}");
    let feed = acme.get(&ann, &format!("/v1/channels/{room}/feed")).await.ok();
    assert_eq!(feed["entries"][0]["message"]["text"], "What changed?");
    host.running.stop().await;
}

// covers: OPS-160, OPS-163
#[tokio::test]
async fn a_link_that_was_not_used_keeps_nothing_open_and_works_when_it_is() {
    let host = host_of_files(soon).await;
    let made = create(&host, "acme").await.ok();
    let acme = Below { host: &host, name: "acme" };
    acme.until_closed().await;
    let (cookie, to) = sign_in(made["sign_in_url"].as_str().unwrap()).await;
    assert!(cookie.starts_with("chorus_session_acme="), "{cookie}");
    assert_eq!(to, "/w/acme/app/");
    host.running.stop().await;
}

// covers: OPS-164
#[tokio::test]
async fn one_that_is_suspended_or_deleted_lets_nobody_in_and_comes_back_as_it_was() {
    let host = host_with(|config| config.settings.workspaces.grace = Span::days(7)).await;
    let op = host.operator();
    let acme = made(&host, "acme").await;
    let (room, ann, bot) = acme.room().await;
    acme.say(&ann, &room, "before").await;
    let mut harness = acme.connect(&bot).await;
    let act =
        async |act: &str| host.post(&op, &format!("/v1/workspaces/acme/{act}"), json!({})).await;
    let is = act("suspend").await.ok();
    assert_eq!((&is["state"], &is["open"]), (&json!("suspended"), &json!(false)));
    assert_eq!(act("suspend").await.ok()["state"], "suspended", "again is no error");
    // Who was connected is sent away.
    while harness.frame().await.is_some() {}
    let refused = acme.get(&ann, "/v1/whoami").await;
    assert!(refused.body["error"]["message"].as_str().unwrap().contains("suspended"));
    assert_eq!(refused.refused(503), "UNAVAILABLE");
    let link = host.post(&op, "/v1/workspaces/acme/sign-in-link", json!({})).await;
    assert_eq!(link.refused(503), "UNAVAILABLE");
    act("resume").await.ok();
    assert_eq!(acme.texts(&ann, &room).await, ["before"]);

    let path = "/v1/workspaces/acme";
    let gone = host.send(&op, Method::DELETE, path, None).await.ok();
    assert_eq!((&gone["state"], gone["removed_at"].is_string()), (&json!("deleted"), true));
    assert_eq!(acme.get(&ann, "/v1/whoami").await.refused(404), "NOT_FOUND");
    assert_eq!(create(&host, "acme").await.refused(409), "CONFLICT");
    host.clock.advance(6 * DAY);
    act("resume").await.ok();
    let token = acme.operator();
    let page = format!("/v1/messages?conversation={room}");
    assert_eq!(acme.get(&token, &page).await.ok()["messages"][0]["text"], "before");
    host.send(&op, Method::DELETE, path, None).await.ok();
    host.clock.advance(8 * DAY);
    eventually("it is removed", async || folder(&host, "acme").is_none()).await;
    eventually("and forgotten", async || acme.listed().await.is_null()).await;
    create(&host, "acme").await.ok();
    assert_eq!(acme.get(&token, "/v1/whoami").await.status / 100, 4);
    // Who did what with it stands in the log of the host's own.
    let log = host.get(&op, "/v1/audit?limit=200").await.ok();
    let entries = log["entries"].as_array().unwrap().iter();
    let about = entries.filter(|entry| entry["name"] == "acme");
    let mut acts: Vec<_> = about.map(|entry| entry["kind"].as_str().unwrap()).collect();
    acts.dedup();
    for act in ["created", "suspended", "resumed", "deleted"] {
        assert!(acts.contains(&&*format!("workspace_{act}")), "{act} in {acts:?}");
    }
    host.running.stop().await;
}

// covers: OPS-165
#[tokio::test]
async fn they_are_there_after_a_restart_and_one_that_was_put_there_too() {
    let host = host_of_files(|_| {}).await;
    let acme = made(&host, "acme").await;
    let (room, ann, _) = acme.room().await;
    acme.say(&ann, &room, "before").await;
    let TestHost { running, folder, clock, .. } = host;
    running.stop().await;
    // As a backup is put back, or a workspace comes from elsewhere.
    let from = folder.path().join("workspaces/acme");
    let to = folder.path().join("workspaces/globex");
    fs::rename(&from, &to).unwrap();
    let again =
        TestHost::open_with(folder, clock_now(&clock), |config| config.database = None).await;
    let globex = Below { host: &again, name: "globex" };
    assert_eq!(globex.texts(&ann, &room).await, ["before"]);
    let acme = Below { host: &again, name: "acme" };
    assert_eq!(acme.get(&ann, "/v1/whoami").await.refused(503), "UNAVAILABLE");
    again.running.stop().await;
}

fn clock_now(clock: &chorus_store::ManualClock) -> chorus_core::model::ids::Timestamp {
    chorus_store::Clock::now(clock)
}

// covers: OPS-163
#[tokio::test]
async fn no_more_are_open_than_may_be() {
    let host = host_with(|config| {
        soon(config);
        config.settings.workspaces.open = 1;
    })
    .await;
    let acme = made(&host, "acme").await;
    let globex = made(&host, "globex").await;
    let (room, ann, bot) = globex.room().await;
    acme.get(&acme.operator(), "/v1/whoami").await.ok();
    let harness = globex.connect(&bot).await;
    // A newcomer waits for room, and whoever is in one stays.
    let operator = acme.operator();
    let waits = async {
        acme.get(&operator, "/v1/whoami").await.ok();
    };
    let leaves = async {
        globex.say(&ann, &room, "whoever is in it stays").await;
        globex.get(&ann, "/v1/whoami").await.ok();
        drop(harness);
    };
    tokio::join!(waits, leaves);
    host.running.stop().await;
}

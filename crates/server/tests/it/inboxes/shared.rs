//! Two hosts on one database, and one service that is answered.

use chorus_testing::eventually;
use serde_json::{Value, json};

use super::back::{message, message_later, say, says};
use super::{deliver, with_inbox};
use crate::hosts::two;
use crate::webhook::Remote;

/// How often a host looks what another one has left.
const LOOK_MS: i64 = 61_000;

fn content(said: &Value) -> &str {
    said["content"].as_str().unwrap()
}

// covers: OPS-156
#[tokio::test]
async fn callback_of_one_host_is_taken_over_only_when_it_is_gone() {
    let (one, other) = two().await;
    let mut slack = Remote::open().await;
    let (path, _) = with_inbox(&one, json!({})).await;
    let mut bot = one.connect(&one.token("bot").await).await;
    deliver(&one, &path, &says("m1", "and?", &slack.at("/cb/1"))).await.ok();
    let event = bot.take().await;
    assert_eq!(slack.take().await["state"], "processing");
    slack.is_busy(3_600);
    let said = say(&mut bot, &event, "that").await;
    let first = message(&mut slack).await;
    assert_eq!(content(&first.json()), "that");
    for _ in 0..3 {
        other.pass(LOOK_MS).await;
        slack.nothing().await;
    }
    one.running.stop().await;
    let again = message_later(&mut slack, &other).await;
    assert_eq!(again.json()["id"], said["eventId"]);
    assert_eq!(again.headers["idempotency-key"], first.headers["idempotency-key"]);
    other.pass(LOOK_MS).await;
    slack.nothing().await;
    other.running.stop().await;
}

// covers: OPS-156
#[tokio::test]
async fn replies_through_several_hosts_are_sent_once_and_in_order() {
    let (one, other) = two().await;
    let mut slack = Remote::open().await;
    let (path, _) = with_inbox(&one, json!({})).await;
    let token = one.token("bot").await;
    let mut bot = one.connect(&token).await;
    let first = says("m1", "and?", &slack.at("/cb/1"));
    // An inbox that was made by another host is known here a moment later.
    let status = async || deliver(&other, &path, &first).await.status;
    eventually("the other host knows the inbox", async || status().await != 401).await;
    let event = bot.take().await;
    assert_eq!(slack.take().await["state"], "processing");
    slack.is_busy(5);
    say(&mut bot, &event, "one").await;
    assert_eq!(content(&message(&mut slack).await.json()), "one");
    // By the other host, while the first waits until it may try again.
    let mut there = other.connect(&token).await;
    for text in ["two", "three"] {
        say(&mut there, &event, text).await;
    }
    other.pass(LOOK_MS).await;
    slack.nothing().await;
    for text in ["one", "two", "three"] {
        assert_eq!(content(&message_later(&mut slack, &one).await.json()), text);
    }
    // What is through is anybody's: said by the other host, sent by it.
    say(&mut there, &event, "four").await;
    assert_eq!(content(&message(&mut slack).await.json()), "four");
    slack.nothing().await;
    other.running.stop().await;
    one.running.stop().await;
}

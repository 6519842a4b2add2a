//! Posts that failed: how often, and until when nothing is posted, outlives the host.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Remote, at_once, open, reached, text};
use crate::house::{House, PATIENCE};

/// The host is stopped, and one on the same folder begins later.
async fn again(house: House, ms: i64) -> House {
    let now = house.clock_now().plus(ms);
    let House { running, folder, .. } = house;
    running.stop().await;
    House::open_with(folder, now, at_once).await
}

/// Waits until the host knows that the newest post has failed.
async fn failed(house: &House) {
    let began = Instant::now();
    loop {
        let shown = house.get(&house.operator(), "/v1/endpoints/weather").await.ok();
        if shown["failures"] != 0 {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{shown}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn dead(house: &House) -> Vec<Value> {
    let path = "/v1/deliveries?state=dead&member=weather";
    house.get(&house.operator(), path).await.ok()["deliveries"].as_array().unwrap().clone()
}

// covers: WHK-14, WHK-36
#[tokio::test]
async fn what_asked_to_be_let_be_is_after_a_restart_too() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    remote.is_busy(60);
    house.say(&house.token("ann").await, &room, "@weather one?").await;
    assert_eq!(remote.take().await["chorus"]["attempt"], 1);
    failed(&house).await;
    let house = again(house, 50_000).await;
    remote.nothing().await;
    house.pass(9_000).await;
    remote.nothing().await;
    let second = remote.take_later(&house).await;
    assert_eq!(second["message"]["content"], "@weather one?");
    assert!(second["chorus"]["attempt"].as_u64().unwrap() > 1);

    // Another string has failed at nothing yet.
    let mut other = Remote::open().await;
    remote.is_busy(60);
    house.say(&house.token("ann").await, &room, "@weather two?").await;
    remote.take().await;
    failed(&house).await;
    let house = again(house, 1_000).await;
    remote.nothing().await;
    let url = json!({"url": other.url()});
    house.post(&house.operator(), "/v1/endpoints/weather/rotate", url).await.ok();
    assert_eq!(other.take().await["message"]["content"], "@weather two?");
}

// covers: WHK-14, WHK-36
#[tokio::test]
async fn tries_are_counted_over_restarts() {
    let mut house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    remote.answers(&[500; 8]);
    house.say(&house.token("ann").await, &room, "@weather one?").await;
    for tries in 1..=8 {
        remote.take_later(&house).await;
        failed(&house).await;
        if tries < 8 {
            assert_eq!(dead(&house).await.len(), 0, "after {tries}");
            // The wait after so many is no longer than this.
            house = again(house, 1_000 << (tries - 1)).await;
        }
    }
    let began = Instant::now();
    let letter = loop {
        if let Some(letter) = dead(&house).await.first() {
            break text(&letter["id"]);
        }
        assert!(began.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let house = again(house, 1_000).await;
    remote.nothing().await;
    // Sent again by hand it is tried from the first time on.
    remote.answers(&[500]);
    house
        .post(&house.operator(), &format!("/v1/deliveries/{letter}/redeliver"), json!({}))
        .await
        .ok();
    for _ in 0..2 {
        assert_eq!(remote.take_later(&house).await["message"]["content"], "@weather one?");
    }
    assert_eq!(dead(&house).await.len(), 0);
}

//! Posts that failed: how often, and until when nothing is posted, outlives the host.

use chorus_testing::eventually;
use serde_json::{Value, json};

use super::{Remote, at_once, open, reached, text};
use crate::test_host::TestHost;

/// The host is stopped, and one on the same folder begins later.
async fn again(host: TestHost, ms: i64) -> TestHost {
    let now = host.clock_now().plus(ms);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    TestHost::open_with(folder, now, at_once).await
}

/// Waits until the host knows that the newest post has failed.
async fn failed(host: &TestHost) {
    eventually("the host knows that the post has failed", async || {
        let shown = host.get(&host.operator(), "/v1/endpoints/weather").await.ok();
        if shown["failures"] != 0 { Ok(()) } else { Err(shown) }
    })
    .await;
}

async fn dead(host: &TestHost) -> Vec<Value> {
    let path = "/v1/deliveries?state=dead&member=weather";
    host.get(&host.operator(), path).await.ok()["deliveries"].as_array().unwrap().clone()
}

// covers: WHK-14, WHK-36
#[tokio::test]
async fn retry_after_is_kept_over_a_restart() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    remote.is_busy(60);
    host.say(&host.token("ann").await, &room, "@weather one?").await;
    assert_eq!(remote.take().await["chorus"]["attempt"], 1);
    failed(&host).await;
    let host = again(host, 50_000).await;
    remote.nothing().await;
    host.pass(9_000).await;
    remote.nothing().await;
    let second = remote.take_later(&host).await;
    assert_eq!(second["message"]["content"], "@weather one?");
    assert!(second["chorus"]["attempt"].as_u64().unwrap() > 1);

    // Another string has failed at nothing yet.
    let mut other = Remote::open().await;
    remote.is_busy(60);
    host.say(&host.token("ann").await, &room, "@weather two?").await;
    remote.take().await;
    failed(&host).await;
    let host = again(host, 1_000).await;
    remote.nothing().await;
    let url = json!({"url": other.url()});
    host.post(&host.operator(), "/v1/endpoints/weather/rotate", url).await.ok();
    assert_eq!(other.take().await["message"]["content"], "@weather two?");
}

// covers: WHK-14, WHK-36
#[tokio::test]
async fn tries_are_counted_over_restarts() {
    let mut host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    remote.answers(&[500; 8]);
    host.say(&host.token("ann").await, &room, "@weather one?").await;
    for tries in 1..=8 {
        remote.take_later(&host).await;
        failed(&host).await;
        if tries < 8 {
            assert_eq!(dead(&host).await.len(), 0, "after {tries}");
            // The wait after so many is no longer than this.
            host = again(host, 1_000 << (tries - 1)).await;
        }
    }
    let letter = eventually("it is a dead letter", async || {
        dead(&host).await.first().map(|letter| text(&letter["id"]))
    })
    .await;
    let host = again(host, 1_000).await;
    remote.nothing().await;
    // Sent again by hand it is tried from the first time on.
    remote.answers(&[500]);
    host.post(&host.operator(), &format!("/v1/deliveries/{letter}/redeliver"), json!({}))
        .await
        .ok();
    for _ in 0..2 {
        assert_eq!(remote.take_later(&host).await["message"]["content"], "@weather one?");
    }
    assert_eq!(dead(&host).await.len(), 0);
}

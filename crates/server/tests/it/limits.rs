//! Too much in too short a time, over the real transports.

use chorus_server::config::limits::Limits;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::test_host::{Answer, START, TestHost};

async fn open_host(set: impl FnOnce(&mut Limits)) -> TestHost {
    TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        set(&mut config.settings.limits);
    })
    .await
}

/// One request, and its `Retry-After`.
async fn ask(host: &TestHost, token: &str) -> (Answer, Option<String>) {
    let request = host.request(Method::GET, "/v1/whoami").bearer_auth(token);
    let answer = request.send().await.unwrap();
    let after = answer.headers().get("retry-after").map(|v| v.to_str().unwrap().to_owned());
    let status = answer.status().as_u16();
    (Answer { status, body: answer.json().await.unwrap() }, after)
}

// covers: OPS-102
#[tokio::test]
async fn a_member_past_its_limit_is_told_when_to_come_again_and_others_go_on() {
    let host = open_host(|l| (l.member_per_second, l.member_burst) = (1, 12)).await;
    let room = host.room(&["bot"]).await;
    // The operator has used some of its own; a second later it has more.
    host.clock.advance(60_000);
    let ann = host.token("ann").await;
    let before = host.length(&room).await;
    for _ in 0..12 {
        ask(&host, &ann).await.0.ok();
    }
    let (refused, after) = ask(&host, &ann).await;
    assert_eq!(refused.refused(429), "RATE_LIMITED");
    assert_eq!(after.as_deref(), Some("1"));
    let new = json!({"conversation": room, "text": "hi", "idempotency_key": "k"});
    let refused = host.post(&ann, "/v1/messages", new).await;
    assert_eq!(refused.refused(429), "RATE_LIMITED");
    assert_eq!(host.rpc(&ann, "ping", json!({})).await.refused(429), "RATE_LIMITED");
    assert_eq!(host.length(&room).await, before, "nothing of it was written");
    let bot = host.token("bot").await;
    ask(&host, &bot).await.0.ok();
    let metrics = host.get(&bot, "/metrics").await.ok();
    let line = "chorus_refusals_total{code=\"RATE_LIMITED\"} 3";
    assert!(metrics.as_str().unwrap().contains(line), "{metrics}");
    host.clock.advance(1_000);
    ask(&host, &ann).await.0.ok();
}

// covers: OPS-102
#[tokio::test]
async fn a_connection_past_its_limit_is_refused_call_by_call_and_stays() {
    let host = open_host(|l| (l.connection_per_second, l.connection_burst) = (1, 5)).await;
    host.room(&["bot"]).await;
    let bot = host.token("bot").await;
    let mut harness = host.connect(&bot).await;
    let mut refused = 0;
    for _ in 0..10 {
        if let Err(error) = harness.call("ping", json!({})).await {
            assert_eq!(error["data"]["code"], "RATE_LIMITED", "{error}");
            refused += 1;
        }
    }
    assert!((4..=6).contains(&refused), "{refused}");
    // Another connection of the same member has a bucket of its own.
    host.connect(&bot).await.call("ping", json!({})).await.unwrap();
    host.clock.advance(1_000);
    let mut again = host.connect(&bot).await;
    again.call("ping", json!({})).await.unwrap();
}

// covers: OPS-102, OPS-104
#[tokio::test]
async fn token_guessing_is_rate_limited_and_valid_tokens_are_not() {
    let host = open_host(|l| (l.failures_per_second, l.failures_burst) = (1, 3)).await;
    for _ in 0..3 {
        assert_eq!(ask(&host, "guess").await.0.refused(401), "UNAUTHORIZED");
    }
    let (refused, after) = ask(&host, "guess").await;
    assert_eq!(refused.refused(429), "RATE_LIMITED");
    assert!(after.is_some());
    ask(&host, &host.operator()).await.0.ok();
    host.clock.advance(1_000);
    assert_eq!(ask(&host, "guess").await.0.refused(401), "UNAUTHORIZED");
}

// covers: OPS-102, OPS-105
#[tokio::test]
async fn an_address_has_its_limit_and_a_trusted_proxy_names_it() {
    let host = open_host(|l| {
        (l.address_per_second, l.address_burst) = (1, 2);
        l.trusted_proxies = vec!["127.0.0.1".into()];
    })
    .await;
    let from = async |address: &str| {
        let request = host.request(Method::GET, "/healthz").header("x-forwarded-for", address);
        TestHost::answer(request).await.status
    };
    assert_eq!((from("192.0.2.1").await, from("192.0.2.1").await), (200, 200));
    assert_eq!(from("192.0.2.1").await, 429);
    assert_eq!(from("198.51.100.9, 192.0.2.1").await, 429);
    assert_eq!(from("192.0.2.2").await, 200);
}

// covers: OPS-106
#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let host = open_host(|l| l.body_seconds = 1).await;
    let mut slow = TcpStream::connect(host.running.addr).await.unwrap();
    let token = host.operator();
    let head = format!(
        "POST /v1/members HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-length: 99\r\n\r\n{{"
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 1024];
    let read = tokio::time::timeout(crate::test_host::PATIENCE, slow.read(&mut answer)).await;
    let answer = String::from_utf8_lossy(&answer[..read.unwrap().unwrap()]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("VALIDATION_ERROR"), "{answer}");
}

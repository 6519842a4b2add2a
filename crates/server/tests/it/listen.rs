//! Connections on real sockets: how many there may be, and how long each step of one may take.

use std::time::Duration;

use chorus_server::config::kind::Span;
use chorus_server::config::limits::Limits;
use chorus_server::{Config, Pace};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::crowd::is_cut;
use crate::test_host::{PATIENCE, START, TestHost};

/// What is cut off in these tests is cut off after this: long enough for a busy machine to say what it has to say. That
/// nothing is cut off before its time is tested with a clock that stands still (`server/src/listen/timeouts.rs`).
const SOON: Span = Span(Duration::from_secs(2));

async fn open_host(set: impl FnOnce(&mut Limits)) -> TestHost {
    TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        set(&mut config.settings.limits);
    })
    .await
}

async fn open(host: &TestHost) -> TcpStream {
    TcpStream::connect(host.running.addr).await.unwrap()
}

const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Asks on a connection, and reads what comes: a head and its body.
async fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(HEALTH).await.unwrap();
    answer(stream).await
}

async fn answer(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    while !whole(&answer) {
        let mut more = [0; 1024];
        let read = tokio::time::timeout(PATIENCE, stream.read(&mut more)).await.unwrap().unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&more[..read]);
    }
    String::from_utf8(answer).unwrap()
}

fn whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    body.len() >= length.parse().unwrap()
}

const OPEN: &str = "chorus_open_connections";

fn cut(why: &str) -> String {
    format!("chorus_cut_connections_total{{why=\"{why}\"}}")
}

/// The host has three places, and this test's client one of them.
async fn full_house(set: impl FnOnce(&mut Limits), why: &str, status: &str, code: &str) {
    let host = open_host(set).await;
    assert_eq!(host.metric(OPEN).await, 1);
    let (mut first, mut second) = (open(&host).await, open(&host).await);
    assert!(ask(&mut first).await.starts_with("HTTP/1.1 200"));
    assert!(ask(&mut second).await.starts_with("HTTP/1.1 200"));
    let mut third = open(&host).await;
    let told = ask(&mut third).await;
    assert!(told.starts_with(&format!("HTTP/1.1 {status}")), "{told}");
    assert!(told.contains("retry-after: 5\r\n") && told.contains("connection: close"), "{told}");
    let envelope: Value = serde_json::from_str(told.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(envelope["error"]["code"], code, "{told}");
    assert!(is_cut(&mut third).await);
    // Those who were there go on, and a place that was left is free.
    assert!(ask(&mut first).await.starts_with("HTTP/1.1 200"));
    assert_eq!(host.metric(&cut(why)).await, 1);
    drop(second);
    host.until_metric(OPEN, 2).await;
    assert!(ask(&mut open(&host).await).await.starts_with("HTTP/1.1 200"));
}

// covers: OPS-125
#[tokio::test]
async fn past_the_connections_of_a_host_everybody_is_told_to_come_back() {
    full_house(|l| l.connections = 3, "limit", "503", "UNAVAILABLE").await;
}

// covers: OPS-125
#[tokio::test]
async fn past_the_connections_of_an_address_it_is_told_so() {
    let counted = |l: &mut Limits| (l.address_connections, l.uncounted_addresses) = (3, Vec::new());
    full_house(counted, "address_limit", "429", "RATE_LIMITED").await;
}

// covers: OPS-125
#[tokio::test]
async fn very_many_past_the_limit_hurt_nobody_who_is_there() {
    let host = open_host(|l| l.connections = 2).await;
    host.room(&["bot"]).await;
    // A socket that has become a WebSocket has its place still.
    let mut bot = host.connect(&host.token("bot").await).await;
    let mut crowd = Vec::new();
    for _ in 0..500 {
        crowd.push(open(&host).await);
    }
    host.until_metric(&cut("limit"), 500).await;
    assert_eq!(host.metric(OPEN).await, 2);
    bot.call("ping", json!({})).await.unwrap();
    for stream in &mut crowd {
        assert!(is_cut(stream).await, "nobody is kept waiting at the door");
    }
    drop(bot);
    host.until_metric(OPEN, 1).await;
}

// covers: OPS-550
#[tokio::test]
async fn whoever_is_answered_before_its_body_was_read_is_told_that_the_connection_ends() {
    let host = TestHost::open().await;
    let head = |token: &str| {
        format!(
            "POST /v1/rooms HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: 2\r\n\r\n"
        )
    };
    let (good, op) = (format!("{}{{}}", head("x").replace("rooms", "channels")), host.operator());
    let mut stream = open(&host).await;
    stream.write_all(head("x").as_bytes()).await.unwrap();
    assert!(answer(&mut stream).await.contains("connection: close\r\n"));
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    // What was read is followed by the next request.
    let mut stream = open(&host).await;
    for _ in 0..2 {
        stream
            .write_all(good.replace("Bearer x", &format!("Bearer {op}")).as_bytes())
            .await
            .unwrap();
        assert!(!answer(&mut stream).await.contains("connection: close"));
    }
    ask(&mut stream).await;
}

// covers: OPS-126
#[tokio::test]
async fn slow_request_head_is_disconnected() {
    let host = open_host(|l| l.header_time = SOON).await;
    let mut silent = open(&host).await;
    assert!(is_cut(&mut silent).await, "nothing was said");
    host.until_metric(&cut("headers"), 1).await;
    // A byte now and then does not help; nor does a request before it.
    let mut slow = open(&host).await;
    ask(&mut slow).await;
    slow.write_all(b"GET /healthz HTTP/1.1\r\nx: ").await.unwrap();
    let (mut read, mut write) = slow.split();
    let drip = async {
        while write.write_all(b"y").await.is_ok() {
            tokio::time::sleep(SOON.0 / 8).await;
        }
    };
    let mut rest = [0; 16];
    let ends = async {
        tokio::select! {
            () = drip => {}
            ended = read.read(&mut rest) => assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}"),
        }
    };
    tokio::time::timeout(PATIENCE, ends).await.expect("the connection ends");
    host.until_metric(&cut("headers"), 2).await;
}

// covers: OPS-126
#[tokio::test]
async fn an_idle_connection_is_closed_in_the_end_and_that_is_no_fault() {
    let host = open_host(|l| (l.header_time, l.idle_time) = (Span(PATIENCE), SOON)).await;
    let mut idle = open(&host).await;
    ask(&mut idle).await;
    ask(&mut idle).await;
    assert!(is_cut(&mut idle).await);
    assert_eq!(host.metric(&cut("headers")).await, 0, "to idle is no fault");
}

// covers: OPS-64, OPS-126
#[tokio::test]
async fn slow_handshake_is_disconnected() {
    let folder = tempfile::tempdir().unwrap();
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&cert, own.cert.pem()).unwrap();
    std::fs::write(&key, own.signing_key.serialize_pem()).unwrap();
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, |config: &mut Config| {
        config.settings.limits.handshake_time = SOON;
        config.settings.limits.connections = 2;
        config.settings.tls.cert = Some(cert);
        config.settings.tls.key = Some(key);
    })
    .await;
    let mut silent = open(&host).await;
    assert!(is_cut(&mut silent).await);
    let client = reqwest::Client::builder().danger_accept_invalid_certs(true).build().unwrap();
    let get = async || {
        let answer = client.get(host.url("/metrics")).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let (status, metrics) = get().await;
    assert_eq!(status, 200);
    assert!(metrics.contains(&format!("{} 1\n", cut("handshake"))), "{metrics}");
    // Who finds no place is told so over HTTPS too.
    let _taken = open(&host).await;
    let other = reqwest::Client::builder().danger_accept_invalid_certs(true).build().unwrap();
    let full = other.get(host.url("/healthz")).send().await;
    assert_eq!(full.unwrap().status().as_u16(), 503);
}

// covers: OPS-122
#[tokio::test]
async fn slow_reader_is_disconnected() {
    let pace = Pace { dead_after: SOON.0, ..Pace::default() };
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, |c| c.pace = pace).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 * 1024).unwrap();
    let mut greedy = socket.connect(host.running.addr).await.unwrap();
    let ask = b"GET /v1/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(200);
    // The host stops to take what it is asked when it cannot answer.
    let _ = tokio::time::timeout(PATIENCE, greedy.write_all(&ask)).await;
    host.until_metric(&cut("not_reading"), 1).await;
    host.until_metric(OPEN, 1).await;
}

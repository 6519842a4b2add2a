//! Ends: of a token, of a member, of the host. Whoever is connected hears of it.

use futures_util::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::test_host::{PATIENCE, TestHost};

/// The stream of a room, once it is under way.
async fn follow(
    host: &TestHost,
    token: &str,
    room: &str,
) -> impl StreamExt<Item = String> + Unpin + use<> {
    let path = format!("/v1/events?conversation={room}&after=0");
    let request = host.request(Method::GET, &path).bearer_auth(token);
    let answer = request.header("accept", "text/event-stream").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let chunks = answer.bytes_stream();
    let mut chunks =
        chunks.map(|chunk| String::from_utf8_lossy(&chunk.unwrap()).into_owned()).boxed();
    assert!(chunks.next().await.unwrap().contains("event:"), "what was said before");
    chunks
}

async fn ends(mut chunks: impl StreamExt<Item = String> + Unpin) -> String {
    let mut rest = String::new();
    let all = async {
        while let Some(chunk) = chunks.next().await {
            rest.push_str(&chunk);
        }
    };
    tokio::time::timeout(PATIENCE, all).await.expect("the stream ends");
    rest
}

// covers: OPS-69
#[tokio::test]
async fn a_revoked_token_ends_every_stream_and_connection_it_opened() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let op = host.operator();
    let made = host.post(&op, "/v1/tokens", json!({"agent": "bot", "role": "worker"})).await.ok();
    let token = made["token"].as_str().unwrap();
    let mut bot = host.connect(token).await;
    let stream = follow(&host, token, &room).await;
    let mut other = host.connect(&host.token("other").await).await;
    let jti = made["jti"].as_str().unwrap();
    let revoked = host.send(&op, Method::DELETE, &format!("/v1/tokens/{jti}"), None).await;
    assert_eq!(revoked.status, 204);
    assert_eq!(host.get(token, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    // Though nothing is said in the room.
    ends(stream).await;
    assert_eq!(bot.heard().await.unwrap()["method"], "notifications/closing");
    assert!(bot.heard().await.is_none());
    assert_eq!(bot.closed, Some(1008));
    other.call("ping", json!({})).await.unwrap();
}

// covers: OPS-69
#[tokio::test]
async fn a_removed_member_is_let_go_at_once() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let token = host.token("bot").await;
    let mut bot = host.connect(&token).await;
    let stream = follow(&host, &token, &room).await;
    let op = host.operator();
    assert_eq!(host.send(&op, Method::DELETE, "/v1/members/bot", None).await.status, 204);
    ends(stream).await;
    assert_eq!(bot.heard().await.unwrap()["method"], "notifications/closing");
    assert!(bot.heard().await.is_none());
    assert_eq!(host.get(&token, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
}

// covers: OPS-66
#[tokio::test]
async fn a_host_that_stops_answers_what_is_under_way_and_sends_the_rest_away() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, token) = (host.operator(), host.token("bot").await);
    let mut bot = host.connect(&token).await;
    let stream = follow(&host, &op, &room).await;
    // A post whose body is half here when the host is told to stop.
    let body =
        json!({"conversation": room, "text": "in time", "idempotency_key": "slow"}).to_string();
    let mut slow = TcpStream::connect(host.running.addr).await.unwrap();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {op}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        body.len()
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    // It has been taken in once the host asks for its body.
    let mut go_on = [0; b"HTTP/1.1 100 Continue\r\n\r\n".len()];
    slow.read_exact(&mut go_on).await.unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    slow.write_all(&body.as_bytes()[..10]).await.unwrap();
    let url = host.running.url.clone();
    let TestHost { running, folder, clock, .. } = host;
    let stopping = tokio::spawn(running.stop());

    ends(stream).await;
    let closing = bot.heard().await.unwrap();
    assert_eq!(closing["method"], "notifications/closing");
    assert!(closing["params"]["reason"].as_str().unwrap().contains("again"));
    assert!(bot.heard().await.is_none());
    assert_eq!(bot.closed, Some(1012), "come back");

    let http = reqwest::Client::new();
    let ready = http.get(format!("{url}/readyz")).send().await.unwrap();
    assert_eq!(ready.status(), 503);
    assert!(ready.text().await.unwrap().contains("draining"));
    let refused = http.get(format!("{url}/v1/whoami")).bearer_auth(&op).send().await.unwrap();
    assert_eq!(refused.status(), 503);
    let refused: Value = refused.json().await.unwrap();
    assert_eq!(refused["error"]["code"], "UNAVAILABLE");
    assert!(!stopping.is_finished());

    slow.write_all(&body.as_bytes()[10..]).await.unwrap();
    let mut answer = vec![0; 4096];
    let n = slow.read(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer[..n]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    tokio::time::timeout(PATIENCE, stopping).await.unwrap().unwrap();
    assert!(TcpStream::connect(url.trim_start_matches("http://")).await.is_err());

    drop(clock);
    let host = TestHost::open_in(folder, crate::test_host::START).await;
    assert_eq!(host.length(&room).await, 1 + first_seq(&host, &room).await);
}

/// Entries before the first message.
async fn first_seq(host: &TestHost, room: &str) -> u64 {
    let path = format!("/v1/events?conversation={room}");
    let events = host.get(&host.operator(), &path).await.ok();
    let events = events["events"].as_array().unwrap();
    let posted = |event: &&Value| event["message"]["text"] == "in time";
    events.iter().find(posted).expect("what was acknowledged is there")["seq"].as_u64().unwrap() - 1
}

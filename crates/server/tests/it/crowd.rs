//! Bad days of connections, on real sockets: very many at once and all gone at once, peers that vanish, that
//! never read, and that speak no protocol. Each costs what is its own and hurts nobody else.

use std::time::Duration;

use chorus_server::Pace;
use chorus_testing::eventually;
use futures_util::future::join_all;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::test_host::{PATIENCE, START, TestHost};

/// Connections of the test; `cargo xtask bench host --only conn.` does the same with ten thousand.
const CROWD: usize = 1_000;
/// Bytes that may lie between a host and a peer that does not read: the buffers of both kernels, and ours.
const ON_THE_WAY: usize = 24 * 1024 * 1024;

/// When a peer is given up that says nothing. A peer that is well has time to answer a ping, however busy the machine is.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(4);

/// A host whose connections are given up sooner than others'.
async fn of_pace(hello_within: Duration, dead_after: Duration) -> TestHost {
    let pace = Pace { hello_within, ping_every: Duration::from_millis(100), dead_after };
    TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| config.pace = pace).await
}

/// Sessions that the host holds for connected.
const CONNECTED: &str = "chorus_connections";

/// A WebSocket made by hand: what comes after the answer to its upgrade is bytes.
async fn raw(host: &TestHost, token: &str) -> TcpStream {
    let mut socket = TcpStream::connect(host.running.addr).await.unwrap();
    let upgrade = format!(
        "GET /v1/c2a HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\nconnection: Upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    );
    socket.write_all(upgrade.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    socket
}

/// One frame of a client, masked with zeros.
fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0x80 | opcode];
    match payload.len() {
        short @ 0..=125 => out.push(0x80 | short as u8),
        middle => {
            out.push(0x80 | 126);
            out.extend_from_slice(&u16::try_from(middle).unwrap().to_be_bytes());
        }
    }
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(payload);
    out
}

/// Introduces itself, and reads the answer.
async fn introduce(socket: &mut TcpStream) {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2026-06-02", "clientInfo": {"name": "raw", "version": "0"}
    }});
    socket.write_all(&frame(1, hello.to_string().as_bytes())).await.unwrap();
    let mut answer = [0; 256];
    assert!(socket.read(&mut answer).await.unwrap() > 0);
}

/// Whether the host ends the connection in time; what it says before is read and dropped.
pub(crate) async fn is_cut(socket: &mut TcpStream) -> bool {
    let mut rest = [0; 4096];
    let ended = async { while !matches!(socket.read(&mut rest).await, Ok(0) | Err(_)) {} };
    tokio::time::timeout(PATIENCE, ended).await.is_ok()
}

// covers: OPS-120
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn very_many_come_at_once_and_go_at_once_and_talk_goes_on() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut other = host.connect(&host.token("other").await).await;
    let coming = join_all((0..CROWD).map(|_| host.connect(&token)));
    let (crowd, _) = tokio::join!(coming, host.say(&ann, &room, "while they come"));
    host.until_metric(CONNECTED, CROWD as u64 + 1).await;
    drop(crowd);
    host.say(&ann, &room, "@other while they go").await;
    let event = other.take().await;
    other.reply(&event, "I am still here").await.unwrap();
    host.until_metric(CONNECTED, 1).await;
    // Nothing of them is left but their log: a run that cannot be resumed is forgotten.
    let sessions = host.get(&host.operator(), "/v1/sessions").await.ok();
    let live = sessions["sessions"].as_array().unwrap().iter();
    assert_eq!(live.filter(|s| s["connected"] == json!(true)).count(), 1);
}

// covers: OPS-121, ATT-13
#[tokio::test]
async fn a_peer_that_vanishes_is_given_up_and_its_work_waits_for_the_next() {
    let host = of_pace(PATIENCE, GIVEN_UP_AFTER).await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut gone = raw(&host, &token).await;
    introduce(&mut gone).await;
    host.say(&ann, &room, "@bot are you there?").await;
    // Its end stays open and says nothing any more, not even to a ping.
    host.until_metric(CONNECTED, 0).await;
    let mut back = host.connect(&token).await;
    let event = back.take().await;
    back.reply(&event, "now I am").await.unwrap();
    drop(gone);
}

// covers: OPS-121
#[tokio::test]
async fn a_connection_that_never_introduces_itself_is_ended() {
    let host = of_pace(Duration::from_millis(400), PATIENCE).await;
    host.room(&["bot"]).await;
    let mut silent = raw(&host, &host.token("bot").await).await;
    assert!(is_cut(&mut silent).await);
}

// covers: OPS-122
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peer_that_never_reads_is_disconnected_and_holds_no_memory() {
    let host = of_pace(PATIENCE, GIVEN_UP_AFTER).await;
    let room = host.room(&["bot", "other"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    for n in 0..20 {
        let text = format!("{n} {}", "much to read ".repeat(500));
        let new = json!({"conversation": room, "text": text, "idempotency_key": n.to_string()});
        host.post(&ann, "/v1/messages", new).await.ok();
    }
    let mut greedy = raw(&host, &token).await;
    introduce(&mut greedy).await;
    let ask = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "chat.list_events", "arguments": {"conversation": room, "limit": 200}
    }});
    let ask = frame(1, ask.to_string().as_bytes());
    let mut asked = 0;
    // It asks and never reads, until nothing more is taken from it.
    while let Ok(sent) =
        tokio::time::timeout(Duration::from_millis(300), greedy.write_all(&ask)).await
    {
        asked += ask.len();
        if sent.is_err() {
            break;
        }
        assert!(asked < ON_THE_WAY, "the host takes all that it is asked");
    }
    // Meanwhile others are served as ever.
    let mut other = host.connect(&host.token("other").await).await;
    host.say(&ann, &room, "@other and you?").await;
    let event = other.take().await;
    other.reply(&event, "all is well").await.unwrap();
    eventually("the slow reader is disconnected", async || {
        // The one that is well answers pings while it waits.
        let _ = tokio::time::timeout(Duration::from_millis(50), other.frame()).await;
        host.metric(CONNECTED).await == 1
    })
    .await;
}

// covers: OPS-123
#[tokio::test]
async fn garbage_ends_the_connection_that_it_came_on_and_no_other() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut good = host.connect(&host.token("other").await).await;
    let unmasked = vec![0x81, 0x02, b'{', b'}'];
    let reserved = frame(3, b"{}");
    let noise: Vec<u8> =
        (0..4096_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let too_long = [0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0].to_vec();
    let not_text = frame(1, &[0xff, 0xfe, 0xfd]);
    for (what, bytes) in [
        ("unmasked", unmasked),
        ("reserved", reserved),
        ("noise", noise),
        ("too long", too_long),
        ("not UTF-8", not_text),
    ] {
        for introduced in [false, true] {
            let mut bad = raw(&host, &token).await;
            if introduced {
                introduce(&mut bad).await;
            }
            bad.write_all(&bytes).await.unwrap();
            assert!(is_cut(&mut bad).await, "{what}, introduced: {introduced}");
        }
    }
    host.until_metric(CONNECTED, 1).await;
    host.say(&ann, &room, "@other still there?").await;
    let event = good.take().await;
    good.reply(&event, "yes").await.unwrap();
}

//! Files that come in: refused as soon as they are too much, however slowly they come, and nothing stays of what is not
//! kept.

use std::time::{Duration, Instant};

use chorus_testing::eventually;
use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::test_host::{PATIENCE, START, TestHost};

const MOST: usize = 4 * 1024 * 1024;

/// The head of an upload; `length` is how long its body is said to be.
async fn begin(host: &TestHost, token: &str, length: &str) -> TcpStream {
    let mut stream = TcpStream::connect(host.running.addr).await.unwrap();
    let head = format!(
        "POST /v1/assets?name=x.txt HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         content-type: text/plain\r\n{length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn part(stream: &mut TcpStream, bytes: usize) {
    let chunk = format!("{bytes:x}\r\n{}\r\n", "x".repeat(bytes));
    stream.write_all(chunk.as_bytes()).await.unwrap();
}

async fn answer(stream: &mut TcpStream) -> String {
    let mut answer = [0; 4096];
    let read = timeout(PATIENCE, stream.read(&mut answer)).await;
    String::from_utf8_lossy(&answer[..read.unwrap().unwrap()]).into_owned()
}

/// Files of the data folder that are open and have no name.
fn nameless(host: &TestHost) -> usize {
    let folder = host.folder.path().to_string_lossy().into_owned();
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    let links = open.filter_map(|fd| std::fs::read_link(fd.unwrap().path()).ok());
    links
        .map(|link| link.to_string_lossy().into_owned())
        .filter(|link| link.starts_with(&folder) && link.ends_with("(deleted)"))
        .count()
}

async fn until(host: &TestHost, count: usize) {
    let what = format!("{count} files without a name are open");
    eventually(&what, async || {
        let open = nameless(host);
        if open == count { Ok(()) } else { Err(open) }
    })
    .await;
}

/// Files that were kept; none has left anything else in the folder.
async fn kept(host: &TestHost) -> usize {
    let names = std::fs::read_dir(host.folder.path()).unwrap();
    let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.find(|name| name.starts_with(".tmp")), None);
    let log = host.get(&host.operator(), "/v1/audit").await.ok();
    log["entries"].as_array().unwrap().iter().filter(|e| e["kind"] == "asset_kept").count()
}

// covers: CHN-143
#[tokio::test]
async fn a_file_that_is_too_large_is_refused_before_it_is_there() {
    let host = TestHost::open().await;
    host.room(&[]).await;
    let ann = host.token("ann").await;
    let refused = |answer: &str| {
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
        assert!(answer.contains("PAYLOAD_TOO_LARGE"), "{answer}");
    };
    // Its length says so: nothing of it is waited for.
    let mut stream = begin(&host, &ann, &format!("content-length: {}", MOST + 1)).await;
    refused(&answer(&mut stream).await);
    // Its length is not said: what comes is counted, and the rest is not waited for.
    let mut stream = begin(&host, &ann, "transfer-encoding: chunked").await;
    for _ in 0..64 {
        part(&mut stream, MOST / 64).await;
    }
    until(&host, 1).await;
    part(&mut stream, 1).await;
    refused(&answer(&mut stream).await);
    until(&host, 0).await;
    assert_eq!(kept(&host).await, 0);

    // As much as may be is taken.
    let mut stream = begin(&host, &ann, "transfer-encoding: chunked").await;
    for _ in 0..64 {
        part(&mut stream, MOST / 64).await;
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    let made = answer(&mut stream).await;
    assert!(
        made.starts_with("HTTP/1.1 201") && made.contains(&format!("\"bytes\":{MOST}")),
        "{made}"
    );
    until(&host, 0).await;
    assert_eq!(kept(&host).await, 1);
}

// covers: CHN-143
#[tokio::test]
async fn files_that_come_slowly_hold_up_nobody_and_go_with_their_connections() {
    let host = TestHost::open().await;
    host.room(&[]).await;
    let ann = host.token("ann").await;
    let mut slow = Vec::new();
    for _ in 0..12 {
        let mut stream = begin(&host, &ann, "transfer-encoding: chunked").await;
        part(&mut stream, 1000).await;
        slow.push(stream);
    }
    until(&host, slow.len()).await;
    let request = host.request(Method::POST, "/v1/assets?name=y.txt").bearer_auth(&ann);
    let quick =
        TestHost::answer(request.header("content-type", "text/plain").body("here")).await.ok();
    assert_eq!(quick["bytes"], 4);
    drop(slow);
    until(&host, 0).await;
    assert_eq!(kept(&host).await, 1, "what broke off is nowhere");
}

// covers: OPS-450
#[tokio::test]
async fn a_slow_upload_holds_no_place_that_another_needs() {
    const EACH: usize = 16;
    let host = TestHost::open().await;
    let agents: Vec<String> = (0..8).map(|n| format!("bot{n}")).collect();
    host.room(&agents.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut slow = Vec::new();
    for agent in &agents {
        let token = host.token(agent).await;
        for _ in 0..EACH {
            let mut stream = begin(&host, &token, "transfer-encoding: chunked").await;
            part(&mut stream, 10).await;
            slow.push(stream);
        }
    }
    until(&host, agents.len() * EACH).await;
    // None is left, and a member has no more than its own.
    let token = host.token(&agents[0]).await;
    let mut more = begin(&host, &token, "transfer-encoding: chunked").await;
    let refused = answer(&mut more).await;
    assert!(refused.starts_with("HTTP/1.1 429") && refused.contains("at most 16"), "{refused}");
    // Whoever needs one has it, from who was silent longest.
    let ann = host.token("ann").await;
    let began = Instant::now();
    let request = host.request(Method::POST, "/v1/assets?name=y.txt").bearer_auth(&ann);
    let quick =
        TestHost::answer(request.header("content-type", "text/plain").body("here")).await.ok();
    assert_eq!(quick["bytes"], 4);
    assert!(began.elapsed() < PATIENCE / 2, "{:?}", began.elapsed());
    until(&host, agents.len() * EACH - 1).await;
    assert_eq!(kept(&host).await, 1);
}

// covers: OPS-451
#[tokio::test]
async fn a_file_counts_whose_sender_hangs_up_before_it_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let host = TestHost::open_with(folder, START, |config| {
        config.settings.limits.member_storage_mib = 1;
        config.dangerous_slow_sync = Duration::from_secs(1);
    })
    .await;
    host.room(&[]).await;
    let ann = host.token("ann").await;
    host.until_metric("chorus_waiting_commands", 0).await;
    let length = 700 * 1024;
    let mut stream = begin(&host, &ann, &format!("content-length: {length}")).await;
    stream.write_all(&vec![b'a'; length]).await.unwrap();
    host.until_metric("chorus_waiting_commands", 1).await;
    drop(stream);
    host.until_metric("chorus_waiting_commands", 0).await;
    assert_eq!(kept(&host).await, 1);
    let request = host.request(Method::POST, "/v1/assets?name=y.txt").bearer_auth(&ann);
    let request = request.header("content-type", "text/plain").body(vec![b'b'; length]);
    assert_eq!(TestHost::answer(request).await.refused(429), "RATE_LIMITED");
}

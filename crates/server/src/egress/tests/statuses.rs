//! What is sent, and what each answer means.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::HeaderMap;
use bytes::Bytes;
use tokio::io::AsyncWriteExt;

use super::neighbour::{BODY, Neighbour, PATIENCE, egress, post, request};
use crate::egress::{Answer, Why};

#[tokio::test]
async fn what_is_posted_arrives_to_the_byte() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = heard.clone();
    let neighbour = Neighbour::new(move |mut stream| {
        let ears = ears.clone();
        async move {
            // As many on one connection as come.
            for _ in 0..2 {
                let request = request(&mut stream).await;
                ears.lock().unwrap().push(request);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
            }
        }
    })
    .await;
    let mut headers = HeaderMap::new();
    headers.insert("webhook-id", "dlv_1".parse().unwrap());
    let egress = egress();
    for _ in 0..2 {
        let body = Bytes::from_static(BODY);
        let answer = egress.post(&neighbour.url(), body, headers.clone(), PATIENCE).await;
        assert_eq!(answer, Answer::Taken);
    }
    assert_eq!(neighbour.connections(), 1);
    for (head, body) in heard.lock().unwrap().iter() {
        let mut lines = head.lines();
        assert_eq!(lines.next(), Some("post /inbox/s3cret http/1.1"));
        let mut lines: Vec<&str> = lines.collect();
        lines.sort_unstable();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            lines,
            [
                "accept: */*",
                &format!("content-length: {}", BODY.len()),
                "content-type: application/json",
                &format!("host: 127.0.0.1:{}", neighbour.port),
                &format!("user-agent: chorus/{version}"),
                "webhook-id: dlv_1",
            ]
        );
        assert_eq!(body, BODY);
    }
}

#[tokio::test]
async fn a_status_says_what_to_do() {
    let again = |status, after: Option<u64>| Answer::Again {
        why: Why::Status(status),
        after: after.map(Duration::from_secs),
    };
    for (head, expected) in [
        ("200 OK", Answer::Taken),
        ("201 Created", Answer::Taken),
        ("202 Accepted", Answer::Taken),
        ("204 No Content", Answer::Taken),
        ("299 Whatever", Answer::Taken),
        ("410 Gone", Answer::Gone),
        ("300 Multiple Choices", Answer::Refused { status: 300 }),
        ("304 Not Modified", Answer::Refused { status: 304 }),
        ("400 Bad Request", Answer::Refused { status: 400 }),
        ("401 Unauthorized", Answer::Refused { status: 401 }),
        ("404 Not Found", Answer::Refused { status: 404 }),
        ("404 Not Found\r\nRetry-After: 7", Answer::Refused { status: 404 }),
        ("422 Unprocessable Content", Answer::Refused { status: 422 }),
        ("600 What", Answer::Refused { status: 600 }),
        ("999 What", Answer::Refused { status: 999 }),
        ("408 Request Timeout", again(408, None)),
        ("429 Too Many Requests", again(429, None)),
        ("429 Too Many Requests\r\nRetry-After: 7", again(429, Some(7))),
        ("429 Too Many Requests\r\nRetry-After: 99999999999", again(429, Some(3_600))),
        (
            "429 Too Many Requests\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT",
            again(429, Some(3_600)),
        ),
        (
            "429 Too Many Requests\r\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT",
            again(429, Some(0)),
        ),
        ("429 Too Many Requests\r\nRetry-After: whenever", again(429, None)),
        ("429 Too Many Requests\r\nRetry-After: \u{e9}", again(429, None)),
        ("500 Internal Server Error", again(500, None)),
        ("501 Not Implemented", again(501, None)),
        ("503 Service Unavailable\r\nRetry-After: 120", again(503, Some(120))),
        ("599 What", again(599, None)),
    ] {
        let neighbour = Neighbour::says(format!("HTTP/1.1 {head}\r\n\r\nwhatever")).await;
        assert_eq!(neighbour.answer(PATIENCE).await, expected, "{head}");
        assert_eq!(neighbour.connections(), 1, "{head}");
    }
}

#[tokio::test]
async fn no_redirect_is_followed() {
    let elsewhere = Neighbour::at("127.0.0.2", 0, |_| async {}).await;
    for status in [301, 302, 303, 307, 308] {
        for to in ["http://127.0.0.2", "//127.0.0.2"] {
            let answer = format!(
                "HTTP/1.1 {status} Elsewhere\r\nLocation: {to}:{}/\r\nContent-Length: 0\r\n\r\n",
                elsewhere.port
            );
            let neighbour = Neighbour::says(answer).await;
            assert_eq!(neighbour.answer(PATIENCE).await, Answer::Refused { status });
        }
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn nobody_there_is_tried_again() {
    let neighbour = Neighbour::says("").await;
    // The port above all that a machine gives out by itself is nobody's.
    let mut url = neighbour.url();
    url.set_port(Some(1)).unwrap();
    let answer = post(&egress(), &url, PATIENCE).await;
    assert_eq!(answer, Answer::Again { why: Why::Connect, after: None });
}

/// A proxy would look the name up by itself. The other test runs in a process of its own, where one is set.
#[test]
fn no_proxy_is_asked() {
    let mut posting = std::process::Command::new(std::env::current_exe().unwrap());
    posting.args(["--exact", "egress::tests::statuses::what_is_posted_arrives_to_the_byte"]);
    for variable in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        posting.env(variable, "http://127.0.0.1:1");
    }
    let output = posting.env_remove("no_proxy").env_remove("NO_PROXY").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

//! What browsers are told with every answer.

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::json;

use crate::test_host::{START, TestHost};

async fn headers(request: reqwest::RequestBuilder) -> (u16, HeaderMap) {
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.headers().clone())
}

fn said<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

/// One answer of each kind: pages, JSON, refusals, streams, files, copies.
async fn answers(host: &TestHost) -> Vec<(&'static str, u16, HeaderMap)> {
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    host.say(&op, &room, "for our ears only").await;
    let add = host.request(Method::POST, "/v1/assets?name=note.txt").bearer_auth(&op);
    let asset = TestHost::answer(add.body("a note")).await.ok();
    let asset = format!("/v1/assets/{}", asset["asset_id"].as_str().unwrap());
    let events = format!("/v1/events?conversation={room}");
    let get = |path: &str| host.request(Method::GET, path).bearer_auth(&op);
    let link = &host.running.operator_link;
    let link = link.strip_prefix(&host.running.url).unwrap();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let asked = [
        ("the front page", 200, get("/")),
        ("the sign-in link", 200, get(link)),
        ("signing in", 200, host.request(Method::POST, link)),
        ("a used sign-in link", 401, get(link)),
        ("health", 200, get("/healthz")),
        ("JSON", 200, get("/v1/whoami")),
        ("a refusal", 401, host.request(Method::GET, "/v1/whoami")),
        ("an unknown path", 404, get("/nowhere")),
        ("a wrong method", 405, host.request(Method::DELETE, "/healthz")),
        ("a wrong host", 403, get("/").header("host", "evil.example")),
        ("a stream", 200, get(&events).header("accept", "text/event-stream")),
        ("a file", 200, get(&asset)),
        ("an export", 200, get("/v1/export")),
        ("a call", 200, host.request(Method::POST, "/v1/c2a").bearer_auth(&op).json(&call)),
        ("MCP", 401, host.request(Method::POST, "/v1/mcp")),
    ];
    let mut all = Vec::new();
    for (what, status, request) in asked {
        let (got, headers) = headers(request).await;
        assert_eq!(got, status, "{what}");
        all.push((what, got, headers));
    }
    all
}

// covers: OPS-465
#[tokio::test]
async fn no_answer_is_guessed_framed_shared_or_kept() {
    let host = TestHost::open().await;
    for (what, _, headers) in answers(&host).await {
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(said(&headers, name), value, "{name} of {what}");
            assert_eq!(headers.get_all(name).iter().count(), 1, "{name} of {what}");
        }
        // A form of ours has to say where it comes from.
        let referrer = if what == "the sign-in link" { "same-origin" } else { "no-referrer" };
        assert_eq!(said(&headers, "referrer-policy"), referrer, "{what}");
        let policy = said(&headers, "content-security-policy");
        assert!(policy.contains("default-src 'none'"), "{what}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{what}: {policy}");
        assert!(policy.contains("base-uri 'none'"), "{what}: {policy}");
        assert!(!policy.contains("script-src"), "{what}: {policy}");
        // Behind plain HTTP it would shut people out of whatever else is there.
        assert!(headers.get("strict-transport-security").is_none(), "{what}");
    }
}

// covers: OPS-465
#[tokio::test]
async fn a_host_that_is_reached_by_https_wants_nothing_else() {
    for (url, told) in [
        ("https://chorus.example", "max-age=63072000"),
        ("https://localhost:7600", ""),
        ("http://chorus.example", ""),
    ] {
        let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
            config.public_url = Some(url.to_owned());
        })
        .await;
        for path in ["/", "/v1/whoami"] {
            let near = format!("http://{}{path}", host.running.addr);
            let (_, headers) = headers(reqwest::Client::new().get(near)).await;
            assert_eq!(said(&headers, "strict-transport-security"), told, "{path} of {url}");
        }
    }
}

//! What is refused: with which code, as whose error, and that nothing changes and the session goes on.

use reqwest::Method;
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use super::clients::{Client, WIRES, Wire};
use crate::test_host::TestHost;

/// A thread of scout and crew.
async fn thread(client: &Client, more: Value) -> String {
    let mut new = json!({"title": "work", "participants": ["crew"]});
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = client.call("create_thread", new).await.unwrap();
    made["thread_id"].as_str().unwrap().to_owned()
}

fn post(thread: &str, more: Value) -> Value {
    let mut post = json!({"thread_id": thread, "schema_version": 1, "kind": "chat", "body": "x"});
    post.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    post
}

// covers: THR-7, THR-9, THR-16, THR-18, THR-19, THR-20
#[tokio::test]
async fn bad_calls_have_their_codes_and_change_nothing() {
    for wire in WIRES {
        let host = TestHost::open().await;
        host.room(&["scout", "crew", "stranger"]).await;
        let scout = host.mcp(&host.token("scout").await, wire).await;
        let thread = &thread(&scout, json!({})).await;
        let before = scout.call("get_thread", json!({"thread_id": thread})).await.unwrap();
        let other = "wk_00000000000000000000000000000001";
        let event = |metadata: Value| post(thread, json!({"kind": "event", "metadata": metadata}));
        let unknown = "th_00000000000000000000000000000001";
        let deep = (0..40).fold(json!(1), |inner, _| json!({ "a": inner }));
        let many: Vec<_> = (0..10_000).map(|n| format!("agent{n}")).collect();
        for (tool, arguments, code) in [
            ("post_message", post(thread, json!({"sender_agent_id": "crew"})), "CLAIM_MISMATCH"),
            (
                "post_message",
                post(thread, json!({"sender_session_id": "sess_1"})),
                "CLAIM_MISMATCH",
            ),
            (
                "post_message",
                post(thread, json!({"workspace_id": other})),
                "OUT_OF_SCOPE_WORKSPACE",
            ),
            ("read_messages", json!({"thread_id": thread, "agent_id": "crew"}), "CLAIM_MISMATCH"),
            (
                "get_thread",
                json!({"thread_id": thread, "workspace_id": other}),
                "OUT_OF_SCOPE_WORKSPACE",
            ),
            ("post_message", post(thread, json!({"schema_version": 2})), "VALIDATION_ERROR"),
            ("post_message", post(thread, json!({"schema_version": "1"})), "VALIDATION_ERROR"),
            ("post_message", post(thread, json!({"kind": "shout"})), "VALIDATION_ERROR"),
            ("post_message", post(thread, json!({"kind": "system"})), "INSUFFICIENT_AUTHORITY"),
            ("post_message", post(thread, json!({"body": 7})), "VALIDATION_ERROR"),
            ("post_message", post(thread, json!({"bdy": "x"})), "VALIDATION_ERROR"),
            ("post_message", post(thread, json!({"agent_id": 7})), "VALIDATION_ERROR"),
            ("post_message", post(thread, json!({"idempotency_key": ""})), "VALIDATION_ERROR"),
            ("post_message", post(thread, json!({"metadata": deep})), "VALIDATION_ERROR"),
            (
                "post_message",
                post(thread, json!({"body": "x".repeat(200_000)})),
                "PAYLOAD_TOO_LARGE",
            ),
            ("post_message", event(json!({})), "VALIDATION_ERROR"),
            ("post_message", event(json!({"event_type": 1})), "VALIDATION_ERROR"),
            (
                "post_message",
                event(json!({"event_type": "x", "event_version": 0})),
                "VALIDATION_ERROR",
            ),
            ("post_message", post(unknown, json!({})), "NOT_FOUND"),
            ("get_thread", json!({"thread_id": "th_x"}), "NOT_FOUND"),
            ("get_thread", json!({}), "VALIDATION_ERROR"),
            ("read_messages", json!({"thread_id": thread, "since_seq": 1}), "VALIDATION_ERROR"),
            ("read_messages", json!({"thread_id": thread, "limit": 0}), "VALIDATION_ERROR"),
            (
                "read_messages",
                json!({"thread_id": thread, "wait_seconds": 301}),
                "VALIDATION_ERROR",
            ),
            ("create_thread", json!({"title": " "}), "VALIDATION_ERROR"),
            ("create_thread", json!({"title": "x", "participants": ["nobody"]}), "NOT_FOUND"),
            ("create_thread", json!({"title": "x", "participants": many}), "NOT_FOUND"),
            (
                "create_thread",
                json!({"title": "x", "root_message_id": "msg_1"}),
                "VALIDATION_ERROR",
            ),
            (
                "update_thread_status",
                json!({"thread_id": thread, "status": "done"}),
                "VALIDATION_ERROR",
            ),
            ("chat.claim", json!({"eventId": "evt_1"}), "NOT_FOUND"),
        ] {
            assert_eq!(
                scout.call(tool, arguments.clone()).await,
                Err(code.into()),
                "{tool} {arguments}"
            );
        }
        let after = scout.call("get_thread", json!({"thread_id": thread})).await.unwrap();
        assert_eq!(before, after);
        let nope = CallToolRequestParams::new("chat.nope");
        let error = scout.0.call_tool(nope).await.unwrap_err().to_string();
        assert!(error.contains("-32602") && error.contains("chat.nope"), "{error}");
        scout.call("post_message", post(thread, json!({}))).await.unwrap();
    }
}

// covers: THR-11, THR-12, THR-13
#[tokio::test]
async fn a_thread_is_its_participants_and_closed_for_good() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew", "stranger"]).await;
    let scout = host.mcp(&host.token("scout").await, Wire::Sessions).await;
    let crew = host.mcp(&host.token("crew").await, Wire::Stateless).await;
    let stranger = host.mcp(&host.token("stranger").await, Wire::Sessions).await;
    let thread = &thread(&scout, json!({"type": "incident"})).await;
    let found = crew.call("get_thread", json!({"thread_id": thread})).await.unwrap();
    assert_eq!(found["participants"], json!(["scout", "crew"]));
    for (tool, arguments) in [
        ("get_thread", json!({"thread_id": thread})),
        ("read_messages", json!({"thread_id": thread})),
        ("post_message", post(thread, json!({}))),
        ("ack_read", json!({"thread_id": thread, "last_read_seq": 0})),
        ("update_thread_status", json!({"thread_id": thread, "status": "closed"})),
        ("summarize_thread", json!({"thread_id": thread})),
        ("create_thread", json!({"title": "x", "channel_id": found["channel_id"]})),
    ] {
        assert_eq!(stranger.call(tool, arguments).await, Err("NOT_FOUND".into()), "{tool}");
    }
    let to = |status: &str| json!({"thread_id": thread, "status": status});
    for (status, expect) in [
        ("blocked", Ok("blocked")),
        ("blocked", Ok("blocked")),
        ("resolved", Err("CONFLICT")),
        ("closed", Err("INSUFFICIENT_AUTHORITY")),
        ("active", Ok("active")),
        ("resolved", Ok("resolved")),
        ("blocked", Err("CONFLICT")),
        ("closed", Ok("closed")),
        ("active", Err("CONFLICT")),
    ] {
        let done = crew.call("update_thread_status", to(status)).await;
        let done = done.map(|given| given["status"].as_str().unwrap().to_owned());
        assert_eq!(done, expect.map(str::to_owned).map_err(str::to_owned), "{status}");
    }
    assert_eq!(crew.call("post_message", post(thread, json!({}))).await, Err("CONFLICT".into()));
    crew.call("read_messages", json!({"thread_id": thread})).await.unwrap();
}

// covers: THR-3, THR-4, THR-8, THR-10
#[tokio::test]
async fn a_session_is_one_tokens_and_ends_with_it() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew"]).await;
    let new = json!({"agent": "scout", "role": "worker", "ttl_s": 600});
    let issued = host.post(&host.operator(), "/v1/tokens", new).await.ok();
    let mine = issued["token"].as_str().unwrap();
    let begun = raw(&host, mine, None, initialize()).await;
    assert_eq!(begun.status(), 200);
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(raw(&host, mine, Some(&session), ready).await.status(), 202);
    for other in [host.token("scout").await, host.token("crew").await] {
        let answer = raw(&host, &other, Some(&session), list.clone()).await;
        assert_eq!(answer.status(), 404);
        let ended = host.request(Method::DELETE, "/v1/mcp").bearer_auth(&other);
        assert_eq!(ended.header("mcp-session-id", &session).send().await.unwrap().status(), 404);
    }
    for bad in ["{", "[]", "7", "\u{0}"] {
        let request = posted(&host, mine, Some(&session)).body(bad);
        let status = request.send().await.unwrap().status();
        assert!(status.is_client_error(), "{bad:?} {status}");
    }
    let batch = json!([list, list]);
    assert!(raw(&host, mine, Some(&session), batch).await.status().is_client_error());
    let long = posted(&host, mine, Some(&session)).body(" ".repeat(2 << 20));
    assert_eq!(long.send().await.unwrap().status(), 413);
    assert_eq!(raw(&host, mine, Some(&session), list.clone()).await.status(), 200);

    host.clock.advance(600_000 + 4_000);
    assert_eq!(raw(&host, mine, Some(&session), list.clone()).await.status(), 200);
    host.clock.advance(1_000);
    assert_eq!(raw(&host, mine, Some(&session), list.clone()).await.status(), 401);

    let new = json!({"agent": "scout", "role": "worker"});
    let issued = host.post(&host.operator(), "/v1/tokens", new).await.ok();
    let mine = issued["token"].as_str().unwrap();
    let begun = raw(&host, mine, None, initialize()).await;
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let path = format!("/v1/tokens/{}", issued["jti"].as_str().unwrap());
    host.send(&host.operator(), Method::DELETE, &path, None).await.ok();
    assert_eq!(raw(&host, mine, Some(&session), list).await.status(), 401);
}

// covers: THR-34, THR-545
#[tokio::test]
async fn the_wires_do_not_mix_and_a_session_survives_it() {
    let host = TestHost::open().await;
    host.room(&["scout"]).await;
    let token = &host.token("scout").await;
    let session = &begun(&host, token).await;
    let asks = |method: &str, version: Option<&str>| {
        let meta = version.map_or(json!({}), |version| {
            json!({
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
                "io.modelcontextprotocol/clientCapabilities": {},
            })
        });
        json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": {"_meta": meta}})
    };
    let (old, new) = ("2025-11-25", "2026-07-28");
    let mut initialized = asks("initialize", None);
    initialized["params"] = initialize()["params"].clone();
    for (named, header, body, expect) in [
        // The stateless wire, naming a session.
        (true, Some(new), asks("tools/list", Some(new)), (200, None)),
        (true, Some(new), asks("server/discover", Some(new)), (200, None)),
        (true, Some(new), asks("resources/subscribe", Some(new)), (404, Some(-32601))),
        // A method with other params than it takes.
        (true, Some(new), asks("tools/call", Some(new)), (200, Some(-32602))),
        (true, Some(old), asks("tools/call", None), (200, Some(-32602))),
        (true, Some(old), asks("resources/read", None), (200, Some(-32602))),
        (true, Some(old), asks("resources/subscribe", None), (200, Some(-32602))),
        (true, Some(old), asks("tools/nope", None), (200, Some(-32601))),
        // That wire's words in a session, and its header without its body.
        (true, Some(old), asks("subscriptions/listen", None), (200, Some(-32601))),
        (true, Some(new), asks("tools/list", None), (400, Some(-32602))),
        // Versions that disagree.
        (true, Some(old), asks("tools/list", Some(new)), (400, Some(-32020))),
        (true, Some(new), asks("tools/list", Some(old)), (400, Some(-32020))),
        (true, Some("1999-01-01"), asks("tools/list", None), (400, None)),
        // A session's request that names none, one begun on the wrong wire, and one begun again.
        (false, Some(old), asks("tools/list", None), (400, None)),
        (false, None, asks("tools/list", None), (400, None)),
        (false, Some(new), initialized.clone(), (400, Some(-32600))),
        (true, None, initialized, (200, None)),
    ] {
        let mut request = posted(&host, token, named.then_some(session));
        if let Some(header) = header {
            request = request.header("mcp-protocol-version", header);
            request = request.header("mcp-method", body["method"].as_str().unwrap());
        }
        let answer = request.body(body.to_string()).send().await.unwrap();
        let (status, began) =
            (answer.status().as_u16(), answer.headers().contains_key("mcp-session-id"));
        let text = answer.text().await.unwrap();
        let json = text
            .lines()
            .find_map(|line| serde_json::from_str::<Value>(line.trim_start_matches("data: ")).ok());
        let code = json.unwrap_or_default()["error"]["code"].as_i64();
        assert_eq!((status, code), expect, "{header:?} {body}");
        assert!(!began, "{body}");
        let list = raw(&host, token, Some(session), asks("tools/list", None)).await;
        assert_eq!(list.status(), 200, "{body}");
    }
}

// covers: THR-33
#[tokio::test]
async fn the_oldest_of_too_many_sessions_ends() {
    let host = TestHost::open().await;
    host.room(&["scout"]).await;
    let (token, other) = (host.token("scout").await, host.token("scout").await);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let others = begun(&host, &other).await;
    let mut sessions = Vec::new();
    for _ in 0..=64 {
        sessions.push(begun(&host, &token).await);
    }
    for (n, status) in [(0, 404), (1, 200), (64, 200)] {
        let answer = raw(&host, &token, Some(&sessions[n]), list.clone()).await;
        assert_eq!(answer.status(), status, "{n}");
    }
    assert_eq!(raw(&host, &other, Some(&others), list).await.status(), 200, "another token's");
}

// covers: THR-546
#[tokio::test]
async fn a_second_request_with_the_id_of_one_under_way_is_refused_and_the_first_is_answered() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew"]).await;
    let (scout, crew) = (host.token("scout").await, host.token("crew").await);
    let (mine, theirs) = (begun(&host, &scout).await, begun(&host, &crew).await);
    let call = |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
    };
    let new = call("create_thread", json!({"title": "one", "participants": ["crew"]}));
    let made = raw(&host, &scout, Some(&mine), new).await.text().await.unwrap();
    let made = made.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&made);
    let made: Value = serde_json::from_str(made).unwrap();
    let thread = &made["result"]["structuredContent"]["thread_id"];
    let wait = json!({"thread_id": thread, "since_seq": 0, "wait_seconds": 60});
    let before = host.metric("chorus_followers").await;
    let waits = posted(&host, &crew, Some(&theirs)).json(&call("read_messages", wait)).send();
    let waits = tokio::spawn(waits);
    host.until_metric("chorus_followers", before + 1).await;

    let list = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"});
    let spelt = |id: &str| list.to_string().replace(":7,", &format!(":{id},"));
    for id in ["7", "7.0", "70e-1"] {
        let again = posted(&host, &crew, Some(&theirs)).body(spelt(id)).send().await.unwrap();
        assert_eq!(again.status(), 400, "{id}");
        let refused = again.json::<Value>().await.unwrap();
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(7), &json!(-32600)));
        assert!(refused["error"]["message"].as_str().unwrap().contains("its own id"), "{refused}");
    }
    for (id, version) in [("\"7\"", "2025-11-25"), ("7.5", "2025-11-25"), ("7", "2026-07-28")] {
        let other = posted(&host, &crew, Some(&theirs)).body(spelt(id));
        let other = other.header("mcp-protocol-version", version);
        let other = other.header("mcp-method", "tools/list").send().await.unwrap();
        let text = other.text().await.unwrap();
        assert!(!text.contains("its own id"), "{id} {version}: {text}");
    }

    let say = json!({"thread_id": thread, "schema_version": 1, "kind": "chat", "body": "now"});
    assert_eq!(raw(&host, &scout, Some(&mine), call("post_message", say)).await.status(), 200);
    let waited = waits.await.unwrap().unwrap().text().await.unwrap();
    assert!(waited.contains("now"), "{waited}");
    assert_eq!(raw(&host, &crew, Some(&theirs), list).await.status(), 200, "its id is free again");
}

/// A session that is ready.
pub(crate) async fn begun(host: &TestHost, token: &str) -> String {
    let begun = raw(host, token, None, initialize()).await;
    assert_eq!(begun.status(), 200);
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(raw(host, token, Some(&session), ready).await.status(), 202);
    session
}

pub(super) fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    }})
}

pub(crate) fn posted(
    host: &TestHost,
    token: &str,
    session: Option<&str>,
) -> reqwest::RequestBuilder {
    let request = host
        .request(Method::POST, "/v1/mcp")
        .bearer_auth(token)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json");
    match session {
        Some(id) => request.header("mcp-session-id", id),
        None => request,
    }
}

pub(super) async fn raw(
    host: &TestHost,
    token: &str,
    session: Option<&str>,
    body: Value,
) -> reqwest::Response {
    posted(host, token, session).body(body.to_string()).send().await.unwrap()
}

// covers: THR-447
#[tokio::test]
async fn invalid_message_is_refused_in_the_format_of_each_transport() {
    let host = TestHost::open().await;
    host.room(&["scout"]).await;
    let token = host.token("scout").await;
    let send = |method: Method, kind: &'static str, accept: &'static str, body: Vec<u8>| {
        let request = host.request(method, "/v1/mcp").bearer_auth(&token);
        TestHost::answer(request.header("content-type", kind).header("accept", accept).body(body))
    };
    let (json, both) = ("application/json", "application/json, text/event-stream");
    let deep = "[".repeat(100_000).into_bytes();
    for (body, code) in [
        (b"{garbage".to_vec(), -32700),
        (b"\xff\xfe".to_vec(), -32700),
        (Vec::new(), -32700),
        (deep, -32700),
        (b"{\"a\":1}".to_vec(), -32600),
        (b"7".to_vec(), -32600),
        (br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.to_vec(), -32600),
    ] {
        let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
        let answer = send(Method::POST, json, both, body).await;
        assert_eq!(answer.status, 400, "{shown}: {answer:?}");
        assert_eq!(answer.body["error"]["code"], code, "{shown}: {answer:?}");
        assert!(answer.body["error"]["data"]["request_id"].is_string(), "{shown}: {answer:?}");
    }
    let ping = || br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_vec();
    for (method, kind, accept, status) in [
        (Method::POST, "text/plain", both, 415),
        (Method::POST, json, "text/html", 406),
        (Method::GET, json, "text/html", 406),
    ] {
        let answer = send(method, kind, accept, ping()).await;
        assert!(answer.body["error"]["request_id"].is_string(), "{answer:?}");
        assert_eq!(answer.refused(status), "VALIDATION_ERROR");
    }
}

// covers: THR-546
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_requests_with_one_id_at_the_same_time_each_is_answered_or_refused() {
    let host = TestHost::open().await;
    host.room(&["scout"]).await;
    let token = host.token("scout").await;
    let session = begun(&host, &token).await;
    let list = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"});
    // The second often comes when the first is done and not yet sent.
    for n in 0..300 {
        let ask = async || {
            let answer = raw(&host, &token, Some(&session), list.clone()).await;
            (answer.status().as_u16(), answer.text().await.unwrap())
        };
        let both = async { tokio::join!(ask(), ask()) };
        let (one, other) =
            tokio::time::timeout(std::time::Duration::from_secs(20), both).await.unwrap();
        for (status, text) in [one, other] {
            assert!(status == 400 || text.contains("\"result\""), "{n}: {status} {text:?}");
        }
    }
}

//! Tokens: who may call, as whom, and what for.

use reqwest::Method;
use serde_json::json;

use crate::test_host::{START, TestHost};

// covers: ATT-8
#[tokio::test]
async fn no_token_a_bad_one_or_one_that_has_ended_changes_nothing() {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    let before = host.length(&room).await;
    let new = json!({"conversation": room, "text": "hi", "idempotency_key": "k"});
    let bare = host.request(Method::POST, "/v1/messages").json(&new);
    assert_eq!(TestHost::answer(bare).await.refused(401), "UNAUTHORIZED");
    let basic = host.request(Method::POST, "/v1/messages").basic_auth("a", Some("b")).json(&new);
    assert_eq!(TestHost::answer(basic).await.refused(401), "UNAUTHORIZED");
    for token in ["", "x", "turn_x", "eyJhbGciOiJub25lIn0.e30."] {
        assert_eq!(
            host.post(token, "/v1/messages", new.clone()).await.refused(401),
            "UNAUTHORIZED"
        );
    }

    let op = host.operator();
    let made = host.post(&op, "/v1/tokens", json!({"agent": "ann", "role": "worker", "ttl_s": 60}));
    let made = made.await.ok();
    let (token, jti) = (made["token"].as_str().unwrap(), made["jti"].as_str().unwrap());
    host.get(token, "/v1/whoami").await.ok();
    host.clock.set(START.plus(66_000));
    assert_eq!(host.post(token, "/v1/messages", new.clone()).await.refused(401), "UNAUTHORIZED");
    host.clock.set(START);
    assert_eq!(
        host.send(&op, Method::DELETE, &format!("/v1/tokens/{jti}"), None).await.status,
        204
    );
    assert_eq!(host.post(token, "/v1/messages", new).await.refused(401), "UNAUTHORIZED");
    assert_eq!(host.length(&room).await, before);
}

// covers: ATT-130
#[tokio::test]
async fn a_token_of_another_workspace_is_out_of_scope() {
    let (here, there) = (TestHost::open().await, TestHost::open().await);
    // One key for both hosts, so that only the workspace differs.
    let keys = |host: &TestHost| host.folder.path().join("keys");
    for name in ["signing.pem", "turn.key"] {
        std::fs::copy(keys(&here).join(name), keys(&there).join(name)).unwrap();
    }
    let token = here.operator();
    let TestHost { running, folder, .. } = there;
    running.stop().await;
    std::fs::remove_file(folder.path().join("operator.token")).unwrap();
    let there = TestHost::open_in(folder, START).await;
    assert_eq!(there.get(&token, "/v1/whoami").await.refused(403), "OUT_OF_SCOPE_WORKSPACE");
    there.get(&there.operator(), "/v1/whoami").await.ok();
}

#[tokio::test]
async fn only_who_runs_the_room_administers_it() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let bot = host.token("bot").await;
    let attempts = [
        (Method::POST, "/v1/members".to_owned(), json!({"id": "x", "kind": "agent"})),
        (Method::PATCH, "/v1/members/ann".to_owned(), json!({"handle": "y"})),
        (Method::DELETE, "/v1/members/ann".to_owned(), json!({})),
        (Method::POST, "/v1/roles".to_owned(), json!({"name": "r"})),
        (Method::POST, "/v1/streams".to_owned(), json!({"name": "s"})),
        (Method::POST, "/v1/tokens".to_owned(), json!({"agent": "bot", "role": "worker"})),
        (Method::POST, "/v1/channels".to_owned(), json!({"title": "mine"})),
        (Method::PATCH, format!("/v1/channels/{room}"), json!({"title": "mine"})),
        (Method::PUT, format!("/v1/channels/{room}/members/operator"), json!({})),
    ];
    for (method, path, body) in attempts {
        let refused = host.send(&bot, method.clone(), &path, Some(body)).await;
        let seated = path.ends_with("/members/operator");
        // Seating whoever sits already would change nothing.
        let code = refused.refused(403);
        assert_eq!(code, "INSUFFICIENT_AUTHORITY", "{method} {path} {seated}");
    }
    let chief = host.token_of("chief", "orchestrator").await;
    host.post(&chief, "/v1/tokens", json!({"agent": "bot", "role": "worker"})).await.ok();
    let up = json!({"agent": "boss", "role": "operator"});
    assert_eq!(host.post(&chief, "/v1/tokens", up).await.refused(403), "INSUFFICIENT_AUTHORITY");
    let agent = json!({"agent": "bot", "role": "operator"});
    assert_eq!(
        host.post(&host.operator(), "/v1/tokens", agent).await.refused(400),
        "VALIDATION_ERROR"
    );
}

// covers: ATT-132
#[tokio::test]
async fn an_auditor_reads_all_and_writes_nothing() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let event = host.say(&ann, &room, "@bot look").await["event_id"].as_str().unwrap().to_owned();
    let auditor = host.token_of("watcher", "auditor").await;
    let before = host.length(&room).await;
    for path in
        ["/v1/members", "/v1/deliveries?state=all", "/v1/claims", "/v1/sessions", "/v1/agents"]
    {
        host.get(&auditor, path).await.ok();
    }
    host.get(&auditor, &format!("/v1/events/{event}/attention")).await.ok();
    let new = json!({"conversation": room, "text": "hi", "idempotency_key": "k"});
    assert_eq!(host.post(&auditor, "/v1/messages", new).await.refused(403), "FORBIDDEN");
    let react = format!("/v1/messages/{event}/reactions/seen");
    assert_eq!(host.send(&auditor, Method::PUT, &react, None).await.refused(403), "FORBIDDEN");
    assert_eq!(host.length(&room).await, before);
}

// covers: ATT-130
#[tokio::test]
async fn sender_in_a_payload_must_match_the_token() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let before = host.length(&room).await;
    let say = |more: serde_json::Value| {
        let mut new = json!({"conversation": room, "text": "hi", "idempotency_key": "k"});
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        new
    };
    let post = async |more| host.post(&ann, "/v1/messages", say(more)).await;
    assert_eq!(post(json!({"agent_id": "bot"})).await.refused(403), "CLAIM_MISMATCH");
    let other = json!({"workspace_id": "wk_00000000000000000000000000000001"});
    assert_eq!(post(other).await.refused(403), "OUT_OF_SCOPE_WORKSPACE");
    // Even the right one is no field of a message.
    assert_eq!(post(json!({"agent_id": "ann"})).await.refused(400), "VALIDATION_ERROR");

    let made = json!({"agent": "bot", "role": "worker",
        "session": "sess_00000000000000000000000000000001"});
    let made = host.post(&host.operator(), "/v1/tokens", made).await.ok();
    let mut socket = host.socket(made["token"].as_str().unwrap()).await;
    let hello = json!({"protocolVersion": "2026-06-02", "clientInfo": {"name": "t"},
        "session": {"id": "sess_00000000000000000000000000000002"}});
    let refused = socket.call("initialize", hello).await.unwrap_err();
    assert_eq!(refused["data"]["code"], "CLAIM_MISMATCH");

    // A session of somebody else's is nobody's here.
    let first = host.connect(&bot).await;
    let taken = json!({"protocolVersion": "2026-06-02", "clientInfo": {"name": "t"},
        "session": {"id": first.hello["session"]["id"]}});
    let mut thief = host.socket(&ann).await;
    assert_eq!(thief.call("initialize", taken).await.unwrap_err()["data"]["code"], "NOT_FOUND");
    assert_eq!(host.length(&room).await, before);
}

// covers: ATT-13
#[tokio::test]
async fn a_connection_ends_with_its_token() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let op = host.operator();
    let made = host.post(&op, "/v1/tokens", json!({"agent": "bot", "role": "worker"})).await.ok();
    let mut bot = host.connect(made["token"].as_str().unwrap()).await;
    let jti = made["jti"].as_str().unwrap();
    assert_eq!(
        host.send(&op, Method::DELETE, &format!("/v1/tokens/{jti}"), None).await.status,
        204
    );
    let closing = bot.heard().await.unwrap();
    assert_eq!(closing["method"], "notifications/closing");
    assert!(bot.heard().await.is_none());
}

#[tokio::test]
async fn other_sites_and_other_names_are_refused() {
    let host = TestHost::open().await;
    let get = |name: &'static str, value: &str| {
        let request = host.request(Method::GET, "/v1/whoami").bearer_auth(host.operator());
        TestHost::answer(request.header(name, value))
    };
    assert_eq!(get("host", "evil.example").await.refused(403), "FORBIDDEN");
    assert_eq!(get("origin", "https://evil.example").await.refused(403), "FORBIDDEN");
    assert_eq!(get("origin", "null").await.refused(403), "FORBIDDEN");
    // Another server of this machine is another site.
    assert_eq!(get("origin", "http://localhost:5173").await.refused(403), "FORBIDDEN");
    get("origin", &host.running.url).await.ok();
    get("host", "localhost").await.ok();
}

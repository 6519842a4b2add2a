//! The one gate of what comes with a delivery: whatever is said by a callback or with its tools, the same is looked at.

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    Remote, asked, at_once, bearer, call, messages, nothing_owed, open, post, reached, text,
    to_callback,
};
use crate::test_host::{PATIENCE, START, TestHost};

/// What can come by a callback beside messages and the end of its run.
fn signs() -> [Value; 5] {
    [
        json!({"type": "status", "status": "salary: looking it up"}),
        json!({"type": "tool_call", "name": "web_search", "args": {"query": "salary"}}),
        json!({"type": "tool_result", "content": "salary"}),
        json!({"type": "error", "message": "salary"}),
        json!({"type": "lifecycle", "state": "processing"}),
    ]
}

async fn follow(host: &TestHost, token: &str, room: &str) -> reqwest::Response {
    let path = format!("/v1/events?conversation={room}&activity=true");
    let follow = host.request(Method::GET, &path).bearer_auth(token);
    follow.header("accept", "text/event-stream").send().await.unwrap()
}

/// What a follower is shown up to a word.
async fn shown_up_to(events: &mut reqwest::Response, last: &str) -> String {
    let mut shown = String::new();
    while !shown.contains(last) {
        let chunk = tokio::time::timeout(PATIENCE, events.chunk()).await;
        let chunk = chunk.unwrap_or_else(|_| panic!("{last:?} is not in {shown}")).unwrap();
        shown.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
    }
    shown
}

/// Opens an MCP session with the bearer of a delivery.
async fn session(host: &TestHost, room: &str, bearer: &str) -> u16 {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let request = host.request(Method::POST, &format!("/mcp/{room}")).bearer_auth(bearer);
    let request = request.header("accept", "application/json, text/event-stream");
    request.json(&hello).send().await.unwrap().status().as_u16()
}

// covers: WHK-400
#[tokio::test]
async fn activity_on_an_ephemeral_message_is_shown_to_its_audience_only() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let op = host.operator();
    host.post(&op, "/v1/members", json!({"id": "bob", "kind": "human"})).await.ok();
    let seat = format!("/v1/channels/{room}/members/bob");
    host.send(&op, Method::PUT, &seat, Some(json!({}))).await.ok();
    let (ann, bob) = (host.token("ann").await, host.token("bob").await);
    let (mut of_ann, mut of_bob) =
        (follow(&host, &ann, &room).await, follow(&host, &bob, &room).await);
    let whisper = json!({"conversation": room, "text": "@weather between us?",
        "visibility": "ephemeral", "only": ["weather"], "idempotency_key": "w"});
    host.post(&ann, "/v1/messages", whisper).await.ok();
    let delivery = remote.take().await;
    for sign in signs() {
        call(&host, &delivery, sign).await.ok();
    }
    call(&host, &delivery, json!({"type": "lifecycle", "state": "idle"})).await.ok();
    assert!(shown_up_to(&mut of_ann, "idle").await.contains("salary"));
    host.say(&ann, &room, "the last word").await;
    let shown = shown_up_to(&mut of_bob, "the last word").await;
    assert!(!shown.contains("activity"), "{shown}");
}

// covers: WHK-31, WHK-400
#[tokio::test]
async fn unprompted_activity_shows_nothing_that_was_private() {
    let (host, mut remote, room, delivery) = asked("@weather warn us, please").await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let grant = json!({"proactive": true});
    host.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(grant)).await.ok();
    let granted = call(&host, &delivery, json!({"type": "request_callback"})).await.ok();
    let standing = json!({"callback": granted["callback"]["url"]});
    call(&host, &standing, signs()[0].clone()).await.ok();
    let whisper = json!({"conversation": room, "text": "@weather between us?",
        "visibility": "ephemeral", "only": ["weather"], "idempotency_key": "w"});
    host.post(&ann, "/v1/messages", whisper).await.ok();
    remote.take().await;
    for sign in signs() {
        let answer = call(&host, &standing, sign.clone()).await;
        match sign["type"].as_str() {
            // It has no words.
            Some("lifecycle") => drop(answer.ok()),
            _ => assert_eq!(answer.refused(403), "FORBIDDEN", "{sign}"),
        }
    }
}

// covers: WHK-400
#[tokio::test]
async fn an_agent_without_a_seat_and_a_run_that_is_over_show_nothing() {
    let (host, mut remote, room, one) = asked("@weather one?").await;
    let (ann, op) = (host.token("ann").await, host.operator());
    call(&host, &one, json!({"type": "message", "content": "One."})).await.ok();
    call(&host, &one, json!({"type": "lifecycle", "state": "idle"})).await.ok();
    for sign in signs() {
        assert_eq!(call(&host, &one, sign).await.refused(409), "STALE_TURN");
    }
    // That it has ended may be said again.
    call(&host, &one, json!({"type": "lifecycle", "state": "idle"})).await.ok();

    host.say(&ann, &room, "@weather two?").await;
    let two = remote.take().await;
    let seat = format!("/v1/channels/{room}/members/weather");
    host.send(&op, Method::DELETE, &seat, None).await.ok();
    let mut events = follow(&host, &ann, &room).await;
    for sign in signs() {
        let refused = call(&host, &two, sign).await;
        assert!((400..500).contains(&refused.status), "{refused:?}");
    }
    host.say(&ann, &room, "the last word").await;
    let shown = shown_up_to(&mut events, "the last word").await;
    assert!(!shown.contains("salary"), "{shown}");
}

// covers: WHK-400
#[tokio::test]
async fn a_post_that_lasts_ends_with_the_connection_string() {
    let (host, _remote, room, delivery) = asked("@weather one?").await;
    let (send, pieces) = tokio::sync::mpsc::channel::<Result<Vec<u8>, std::io::Error>>(4);
    let pieces = futures_util::stream::unfold(pieces, |mut pieces| async move {
        pieces.recv().await.map(|piece| (piece, pieces))
    });
    let request = to_callback(&host, &delivery).body(reqwest::Body::wrap_stream(pieces));
    let posting = tokio::spawn(TestHost::answer(request));
    let mut events = follow(&host, &host.token("ann").await, &room).await;
    send.send(Ok(json!({"type": "message", "content": "One."}).to_string().into())).await.unwrap();
    shown_up_to(&mut events, "One.").await;
    let other = json!({"url": Remote::open().await.url()});
    host.post(&host.operator(), "/v1/endpoints/weather/rotate", other).await.ok();
    send.send(Ok(json!({"type": "message", "content": "Two."}).to_string().into())).await.unwrap();
    drop(send);
    assert_eq!(posting.await.unwrap().refused(401), "UNAUTHORIZED");
    assert_eq!(messages(&host, &room).await.len(), 2);
}

// covers: WHK-401
#[tokio::test]
async fn a_channel_that_lets_nobody_speak_unasked_any_more_hears_nobody() {
    let (host, _remote, room, delivery) = asked("@weather warn us of storms, please").await;
    let op = host.operator();
    let set = async |patch: Value| {
        let path = format!("/v1/channels/{room}");
        host.send(&op, Method::PATCH, &path, Some(patch)).await.ok();
    };
    let proactive = async |on: bool| set(json!({"proactive": on})).await;
    proactive(true).await;
    let granted = call(&host, &delivery, json!({"type": "request_callback"})).await.ok();
    let standing = json!({"callback": granted["callback"]["url"]});
    let storm = || json!({"type": "message", "content": "Storm."});
    call(&host, &standing, storm()).await.ok();
    let mut all = vec![
        storm(),
        json!({"type": "lifecycle", "state": "idle"}),
        json!({"type": "request_callback"}),
    ];
    all.extend(signs());
    let refused = async |status, code: &str| {
        for event in &all {
            let refused = call(&host, &standing, event.clone()).await;
            assert_eq!(refused.refused(status), code, "{event}");
        }
    };
    proactive(false).await;
    refused(403, "FORBIDDEN").await;
    proactive(true).await;
    call(&host, &standing, storm()).await.ok();
    // Nor does anybody where everything is over, or an agent that was sent away.
    set(json!({"archived": true})).await;
    refused(409, "CONFLICT").await;
    set(json!({"archived": false})).await;
    let seat = format!("/v1/channels/{room}/members/weather");
    host.send(&op, Method::DELETE, &seat, None).await.ok();
    refused(403, "FORBIDDEN").await;
    assert_eq!(messages(&host, &room).await.len(), 3);
}

// covers: WHK-402
#[tokio::test]
async fn many_events_in_one_body_cost_what_they_cost_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let host = TestHost::open_with(folder, START, |config| {
        at_once(config);
        config.settings.limits.session_per_second = 10;
        config.settings.limits.session_burst = 20;
    })
    .await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    host.say(&host.token("ann").await, &room, "@weather one?").await;
    let delivery = remote.take().await;
    let one = json!({"type": "lifecycle", "state": "processing"}).to_string();
    let many = vec![one; 3_000].join("\n");
    let answer = post(&host, &delivery, &many).await;
    let said = text(&answer.body["error"]["message"]);
    assert!(said.starts_with("after 20 events"), "{said}");
    assert_eq!(answer.refused(429), "RATE_LIMITED");
}

// covers: WHK-403
#[tokio::test]
async fn the_tools_of_a_delivery_end_with_the_connection_string() {
    let (host, _remote, room, delivery) = asked("@weather one?").await;
    let op = host.operator();
    let old = bearer(&delivery);
    assert_eq!(session(&host, &room, &old).await, 200);
    // What the run claims with them is its run's, and no longer anybody's than they are.
    let claim = json!({"eventId": delivery["message"]["id"]});
    let claimed = host.tool(&old, "chat.claim", claim).await;
    host.clock.advance(10);
    let mut moved = Remote::open().await;
    let other = json!({"url": moved.url()});
    host.post(&op, "/v1/endpoints/weather/rotate", other).await.ok();
    let say = |token: String| {
        let target = json!({"conversation": room});
        let args = json!({"target": target, "text": "Me again.", "visibility": "channel",
            "directedness": "ambient", "idempotencyKey": "again"});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "chat.send_message", "arguments": args}});
        let request = host.request(Method::POST, &format!("/mcp/{room}")).bearer_auth(token);
        TestHost::answer(
            request.header("accept", "application/json, text/event-stream").json(&body),
        )
    };
    let mut tokens = vec![old];
    if let Ok(claimed) = claimed {
        tokens.push(text(&claimed["turn"]["token"]));
    }
    for token in tokens {
        assert_eq!(session(&host, &room, &token).await, 401);
        assert_eq!(say(token).await.refused(401), "UNAUTHORIZED");
    }
    // Nor with the endpoint, or the agent.
    let again = loop {
        let delivery = moved.take_later(&host).await;
        if delivery.get("message").is_some() {
            break delivery;
        }
    };
    let second = bearer(&again);
    assert_eq!(session(&host, &room, &second).await, 200);
    host.send(&op, Method::DELETE, "/v1/endpoints/weather", None).await.ok();
    assert_eq!(session(&host, &room, &second).await, 401);
    assert_eq!(say(second).await.refused(401), "UNAUTHORIZED");
    let callback = json!({"type": "status", "status": "still here"});
    assert_eq!(call(&host, &again, callback).await.refused(401), "UNAUTHORIZED");
    assert!(!messages(&host, &room).await.iter().any(|(author, _)| author == "weather"));
}

// covers: WHK-404
#[tokio::test]
async fn only_one_of_two_attempts_is_heard_by_callback_or_tool() {
    let (host, mut remote, room, first) = asked("@weather hm?").await;
    host.pass(61_000).await;
    let second = remote.take().await;
    let say = async |delivery: &Value, key: &str| {
        let args = json!({"target": {"conversation": room}, "text": "Hm.", "visibility": "channel",
            "directedness": "to_other", "idempotencyKey": key,
            "inReplyTo": first["message"]["id"]});
        host.tool(&bearer(delivery), "chat.send_message", args).await
    };
    say(&second, "k2").await.unwrap();
    assert_eq!(say(&first, "k1").await.unwrap_err(), "STALE_TURN");
    let by_callback = json!({"type": "message", "content": "Hm."});
    assert_eq!(call(&host, &first, by_callback).await.refused(409), "STALE_TURN");
    for sign in signs() {
        assert_eq!(call(&host, &first, sign).await.refused(409), "STALE_TURN");
    }
    assert_eq!(messages(&host, &room).await.len(), 2);
    nothing_owed(&host).await;
}

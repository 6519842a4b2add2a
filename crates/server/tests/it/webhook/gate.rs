//! The one gate of what comes with a delivery: whatever is said by a callback or with its tools, the same is looked at.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{Remote, at_once, call, messages, nothing_owed, open, reached, text};
use crate::house::{House, PATIENCE, START};

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

async fn follow(house: &House, token: &str, room: &str) -> reqwest::Response {
    let path = format!("/v1/events?conversation={room}&activity=true");
    let follow = house.request(Method::GET, &path).bearer_auth(token);
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

fn bearer(delivery: &Value) -> String {
    let bearer = text(&delivery["mcp"]["headers"]["Authorization"]);
    bearer.strip_prefix("Bearer ").unwrap().to_owned()
}

/// Opens an MCP session with the bearer of a delivery.
async fn session(house: &House, room: &str, bearer: &str) -> u16 {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let request = house.request(Method::POST, &format!("/mcp/{room}")).bearer_auth(bearer);
    let request = request.header("accept", "application/json, text/event-stream");
    request.json(&hello).send().await.unwrap().status().as_u16()
}

// covers: WHK-400
#[tokio::test]
async fn what_is_done_at_an_ephemeral_message_is_shown_to_those_who_see_that() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let op = house.operator();
    house.post(&op, "/v1/members", json!({"id": "bob", "kind": "human"})).await.ok();
    let seat = format!("/v1/channels/{room}/members/bob");
    house.send(&op, Method::PUT, &seat, Some(json!({}))).await.ok();
    let (ann, bob) = (house.token("ann").await, house.token("bob").await);
    let (mut of_ann, mut of_bob) =
        (follow(&house, &ann, &room).await, follow(&house, &bob, &room).await);
    let whisper = json!({"conversation": room, "text": "@weather between us?",
        "visibility": "ephemeral", "only": ["weather"], "idempotency_key": "w"});
    house.post(&ann, "/v1/messages", whisper).await.ok();
    let delivery = remote.take().await;
    for sign in signs() {
        call(&house, &delivery, sign).await.ok();
    }
    call(&house, &delivery, json!({"type": "lifecycle", "state": "idle"})).await.ok();
    assert!(shown_up_to(&mut of_ann, "idle").await.contains("salary"));
    house.say(&ann, &room, "the last word").await;
    let shown = shown_up_to(&mut of_bob, "the last word").await;
    assert!(!shown.contains("activity"), "{shown}");
}

// covers: WHK-400
#[tokio::test]
async fn an_agent_without_a_seat_and_a_run_that_is_over_show_nothing() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let (ann, op) = (house.token("ann").await, house.operator());
    house.say(&ann, &room, "@weather one?").await;
    let one = remote.take().await;
    call(&house, &one, json!({"type": "message", "content": "One."})).await.ok();
    call(&house, &one, json!({"type": "lifecycle", "state": "idle"})).await.ok();
    for sign in signs() {
        assert_eq!(call(&house, &one, sign).await.refused(409), "STALE_TURN");
    }
    // That it has ended may be said again.
    call(&house, &one, json!({"type": "lifecycle", "state": "idle"})).await.ok();

    house.say(&ann, &room, "@weather two?").await;
    let two = remote.take().await;
    let seat = format!("/v1/channels/{room}/members/weather");
    house.send(&op, Method::DELETE, &seat, None).await.ok();
    let mut events = follow(&house, &ann, &room).await;
    for sign in signs() {
        let refused = call(&house, &two, sign).await;
        assert!((400..500).contains(&refused.status), "{refused:?}");
    }
    house.say(&ann, &room, "the last word").await;
    let shown = shown_up_to(&mut events, "the last word").await;
    assert!(!shown.contains("salary"), "{shown}");
}

// covers: WHK-400
#[tokio::test]
async fn a_post_that_lasts_ends_with_the_connection_string() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    house.say(&house.token("ann").await, &room, "@weather one?").await;
    let delivery = remote.take().await;
    let path = text(&delivery["callback"]).strip_prefix(&house.running.url).unwrap().to_owned();
    let (send, pieces) = tokio::sync::mpsc::channel::<Result<Vec<u8>, std::io::Error>>(4);
    let pieces = futures_util::stream::unfold(pieces, |mut pieces| async move {
        pieces.recv().await.map(|piece| (piece, pieces))
    });
    let request = house.request(Method::POST, &path).body(reqwest::Body::wrap_stream(pieces));
    let posting = tokio::spawn(House::answer(request));
    send.send(Ok(json!({"type": "message", "content": "One."}).to_string().into())).await.unwrap();
    let began = std::time::Instant::now();
    while messages(&house, &room).await.len() < 2 {
        assert!(began.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let other = json!({"url": Remote::open().await.url()});
    house.post(&house.operator(), "/v1/endpoints/weather/rotate", other).await.ok();
    send.send(Ok(json!({"type": "message", "content": "Two."}).to_string().into())).await.unwrap();
    drop(send);
    assert_eq!(posting.await.unwrap().refused(401), "UNAUTHORIZED");
    assert_eq!(messages(&house, &room).await.len(), 2);
}

// covers: WHK-401
#[tokio::test]
async fn a_channel_that_lets_nobody_speak_unasked_any_more_hears_nobody() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let op = house.operator();
    let proactive = async |on: bool| {
        let patch = Some(json!({"proactive": on}));
        house.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), patch).await.ok();
    };
    proactive(true).await;
    house.say(&house.token("ann").await, &room, "@weather warn us of storms, please").await;
    let delivery = remote.take().await;
    let granted = call(&house, &delivery, json!({"type": "request_callback"})).await.ok();
    let standing = json!({"callback": granted["callback"]["url"]});
    let storm = || json!({"type": "message", "content": "Storm."});
    call(&house, &standing, storm()).await.ok();
    proactive(false).await;
    assert_eq!(call(&house, &standing, storm()).await.refused(403), "FORBIDDEN");
    for sign in signs() {
        assert_eq!(call(&house, &standing, sign).await.refused(403), "FORBIDDEN");
    }
    let more = json!({"type": "request_callback"});
    assert_eq!(call(&house, &standing, more).await.refused(403), "FORBIDDEN");
    proactive(true).await;
    call(&house, &standing, storm()).await.ok();
    // Nor does an agent that was sent away.
    let seat = format!("/v1/channels/{room}/members/weather");
    house.send(&op, Method::DELETE, &seat, None).await.ok();
    for event in [storm(), signs()[0].clone()] {
        let refused = call(&house, &standing, event).await;
        assert!((400..500).contains(&refused.status), "{refused:?}");
    }
    assert_eq!(messages(&house, &room).await.len(), 3);
}

// covers: WHK-402
#[tokio::test]
async fn many_events_in_one_body_cost_what_they_cost_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open_with(folder, START, |config| {
        at_once(config);
        config.settings.limits.session_per_second = 10;
        config.settings.limits.session_burst = 20;
    })
    .await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    house.say(&house.token("ann").await, &room, "@weather one?").await;
    let delivery = remote.take().await;
    let path = text(&delivery["callback"]).strip_prefix(&house.running.url).unwrap().to_owned();
    let one = json!({"type": "lifecycle", "state": "processing"}).to_string();
    let many = vec![one; 3_000].join("\n");
    let answer = House::answer(house.request(Method::POST, &path).body(many)).await;
    let said = text(&answer.body["error"]["message"]);
    assert!(said.starts_with("after 20 events"), "{said}");
    assert_eq!(answer.refused(429), "RATE_LIMITED");
}

// covers: WHK-403
#[tokio::test]
async fn the_tools_of_a_delivery_end_with_the_connection_string() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let (ann, op) = (house.token("ann").await, house.operator());
    house.say(&ann, &room, "@weather one?").await;
    let delivery = remote.take().await;
    let old = bearer(&delivery);
    assert_eq!(session(&house, &room, &old).await, 200);
    // What the run claims with them is its run's, and no longer anybody's than they are.
    let claim = json!({"eventId": delivery["message"]["id"]});
    let claimed = house.tool(&old, "chat.claim", claim).await;
    house.clock.advance(10);
    let mut moved = Remote::open().await;
    let other = json!({"url": moved.url()});
    house.post(&op, "/v1/endpoints/weather/rotate", other).await.ok();
    let say = |token: String| {
        let target = json!({"conversation": room});
        let args = json!({"target": target, "text": "Me again.", "visibility": "channel",
            "directedness": "ambient", "idempotencyKey": "again"});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "chat.send_message", "arguments": args}});
        let request = house.request(Method::POST, &format!("/mcp/{room}")).bearer_auth(token);
        House::answer(request.header("accept", "application/json, text/event-stream").json(&body))
    };
    let mut tokens = vec![old];
    if let Ok(claimed) = claimed {
        tokens.push(text(&claimed["turn"]["token"]));
    }
    for token in tokens {
        assert_eq!(session(&house, &room, &token).await, 401);
        assert_eq!(say(token).await.refused(401), "UNAUTHORIZED");
    }
    // Nor with the endpoint, or the agent.
    let again = loop {
        let delivery = moved.take_later(&house).await;
        if delivery.get("message").is_some() {
            break delivery;
        }
    };
    let second = bearer(&again);
    assert_eq!(session(&house, &room, &second).await, 200);
    house.send(&op, Method::DELETE, "/v1/endpoints/weather", None).await.ok();
    assert_eq!(session(&house, &room, &second).await, 401);
    assert_eq!(say(second).await.refused(401), "UNAUTHORIZED");
    let callback = json!({"type": "status", "status": "still here"});
    assert_eq!(call(&house, &again, callback).await.refused(401), "UNAUTHORIZED");
    assert!(!messages(&house, &room).await.iter().any(|(author, _)| author == "weather"));
}

// covers: WHK-404
#[tokio::test]
async fn of_two_attempts_one_is_heard_by_whichever_way_it_speaks() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    house.say(&house.token("ann").await, &room, "@weather hm?").await;
    let first = remote.take().await;
    house.pass(61_000).await;
    let second = remote.take().await;
    let say = async |delivery: &Value, key: &str| {
        let args = json!({"target": {"conversation": room}, "text": "Hm.", "visibility": "channel",
            "directedness": "to_other", "idempotencyKey": key,
            "inReplyTo": first["message"]["id"]});
        house.tool(&bearer(delivery), "chat.send_message", args).await
    };
    say(&second, "k2").await.unwrap();
    assert_eq!(say(&first, "k1").await.unwrap_err(), "STALE_TURN");
    let by_callback = json!({"type": "message", "content": "Hm."});
    assert_eq!(call(&house, &first, by_callback).await.refused(409), "STALE_TURN");
    for sign in signs() {
        assert_eq!(call(&house, &first, sign).await.refused(409), "STALE_TURN");
    }
    assert_eq!(messages(&house, &room).await.len(), 2);
    nothing_owed(&house).await;
}

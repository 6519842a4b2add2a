//! The one gate of what comes with a delivery: whatever is said by a callback or with its tools, the same is looked at.

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    Remote, asked, at_once, bearer, call, messages, nothing_owed, open, post, reached, text,
    to_callback,
};
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

// covers: WHK-31, WHK-400
#[tokio::test]
async fn what_is_done_unasked_shows_nothing_of_what_was_told_in_private() {
    let (house, mut remote, room, delivery) = asked("@weather warn us, please").await;
    let (op, ann) = (house.operator(), house.token("ann").await);
    let grant = json!({"proactive": true});
    house.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(grant)).await.ok();
    let granted = call(&house, &delivery, json!({"type": "request_callback"})).await.ok();
    let standing = json!({"callback": granted["callback"]["url"]});
    call(&house, &standing, signs()[0].clone()).await.ok();
    let whisper = json!({"conversation": room, "text": "@weather between us?",
        "visibility": "ephemeral", "only": ["weather"], "idempotency_key": "w"});
    house.post(&ann, "/v1/messages", whisper).await.ok();
    remote.take().await;
    for sign in signs() {
        let answer = call(&house, &standing, sign.clone()).await;
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
    let (house, mut remote, room, one) = asked("@weather one?").await;
    let (ann, op) = (house.token("ann").await, house.operator());
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
    let (house, _remote, room, delivery) = asked("@weather one?").await;
    let (send, pieces) = tokio::sync::mpsc::channel::<Result<Vec<u8>, std::io::Error>>(4);
    let pieces = futures_util::stream::unfold(pieces, |mut pieces| async move {
        pieces.recv().await.map(|piece| (piece, pieces))
    });
    let request = to_callback(&house, &delivery).body(reqwest::Body::wrap_stream(pieces));
    let posting = tokio::spawn(House::answer(request));
    let mut events = follow(&house, &house.token("ann").await, &room).await;
    send.send(Ok(json!({"type": "message", "content": "One."}).to_string().into())).await.unwrap();
    shown_up_to(&mut events, "One.").await;
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
    let (house, _remote, room, delivery) = asked("@weather warn us of storms, please").await;
    let op = house.operator();
    let set = async |patch: Value| {
        let path = format!("/v1/channels/{room}");
        house.send(&op, Method::PATCH, &path, Some(patch)).await.ok();
    };
    let proactive = async |on: bool| set(json!({"proactive": on})).await;
    proactive(true).await;
    let granted = call(&house, &delivery, json!({"type": "request_callback"})).await.ok();
    let standing = json!({"callback": granted["callback"]["url"]});
    let storm = || json!({"type": "message", "content": "Storm."});
    call(&house, &standing, storm()).await.ok();
    let mut all = vec![
        storm(),
        json!({"type": "lifecycle", "state": "idle"}),
        json!({"type": "request_callback"}),
    ];
    all.extend(signs());
    let refused = async |status, code: &str| {
        for event in &all {
            let refused = call(&house, &standing, event.clone()).await;
            assert_eq!(refused.refused(status), code, "{event}");
        }
    };
    proactive(false).await;
    refused(403, "FORBIDDEN").await;
    proactive(true).await;
    call(&house, &standing, storm()).await.ok();
    // Nor does anybody where everything is over, or an agent that was sent away.
    set(json!({"archived": true})).await;
    refused(409, "CONFLICT").await;
    set(json!({"archived": false})).await;
    let seat = format!("/v1/channels/{room}/members/weather");
    house.send(&op, Method::DELETE, &seat, None).await.ok();
    refused(403, "FORBIDDEN").await;
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
    let one = json!({"type": "lifecycle", "state": "processing"}).to_string();
    let many = vec![one; 3_000].join("\n");
    let answer = post(&house, &delivery, &many).await;
    let said = text(&answer.body["error"]["message"]);
    assert!(said.starts_with("after 20 events"), "{said}");
    assert_eq!(answer.refused(429), "RATE_LIMITED");
}

// covers: WHK-403
#[tokio::test]
async fn the_tools_of_a_delivery_end_with_the_connection_string() {
    let (house, _remote, room, delivery) = asked("@weather one?").await;
    let op = house.operator();
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
    let (house, mut remote, room, first) = asked("@weather hm?").await;
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

//! A turn that is its caller's no more changes nothing, over REST, MCP and C2A alike.

use reqwest::Method;
use serde_json::{Value, json};

use super::clients::{Client, Wire};
use crate::test_host::TestHost;

/// A turn of bot, and what stands beside it.
struct Turn {
    room: String,
    event: String,
    own: String,
    thread: String,
    token: String,
}

/// An offer that bot has taken, in a channel whose answers go into threads.
async fn taken(host: &TestHost) -> Turn {
    let room = host.room(&["bot"]).await;
    let (op, ann, mine) = (host.operator(), host.token("ann").await, host.token("bot").await);
    let patch = Some(json!({"replies": "thread", "turns": {"cooldown_ms": 0}}));
    host.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), patch).await.ok();
    let new = json!({"conversation": room, "title": "deploys", "type": "workflow", "participants": ["bot"]});
    let thread = host.post(&op, "/v1/threads", new).await.ok();
    let thread = thread["id"].as_str().or(thread["thread_id"].as_str()).unwrap().to_owned();
    let own =
        json!({"conversation": room, "thread": thread, "text": "at it", "idempotency_key": "own"});
    let own = host.post(&mine, "/v1/messages", own).await.ok();
    let mut bot = host.connect(&mine).await;
    host.say(&ann, &room, "@bot can you look at the deploy?").await;
    let offer = bot.take().await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Turn {
        room,
        event: text(&offer["eventId"]),
        own: text(&own["event_id"]),
        thread,
        token: text(&offer["turn"]["token"]),
    }
}

/// Everything that a run may write over REST. Other routes refuse every turn's token.
async fn over_rest(host: &TestHost, turn: &Turn) {
    let Turn { room, own, thread, token, .. } = turn;
    let say = json!({"conversation": room, "text": "late", "idempotency_key": "late"});
    let stimulus = json!({"kind": "agent_idea", "text": "shall we look at the queue?"});
    for (method, path, body) in [
        (Method::POST, "/v1/messages".to_owned(), Some(say)),
        (Method::POST, format!("/v1/messages/{own}/promote"), Some(json!({}))),
        (Method::PATCH, format!("/v1/threads/{thread}/work"), Some(json!({"topic_kind": "ci"}))),
        (
            Method::PATCH,
            format!("/v1/threads/{thread}/work"),
            Some(json!({"progress": {"key": "a", "text": "half"}})),
        ),
        (Method::POST, format!("/v1/channels/{room}/stimuli"), Some(stimulus)),
        (Method::POST, format!("/v1/channels/{room}/leave"), Some(json!({}))),
    ] {
        let before = host.length(room).await;
        let answer = host.send(token, method.clone(), &path, body).await;
        assert_eq!(answer.refused(409), "STALE_TURN", "{method} {path}");
        assert_eq!(host.length(room).await, before, "{method} {path}");
    }
}

/// Everything that a run may write with a tool.
fn tools(turn: &Turn) -> Vec<(&'static str, Value)> {
    let Turn { room, event, thread, .. } = turn;
    vec![
        (
            "chat.send_message",
            json!({"target": {"conversation": room}, "idempotencyKey": "late", "text": "late",
                "visibility": "channel", "directedness": "ambient"}),
        ),
        ("chat.react", json!({"inReplyTo": event, "signal": "seen"})),
        ("chat.react", json!({"inReplyTo": event, "signal": "working"})),
        ("chat.claim", json!({"eventId": event})),
        ("chat.claim", json!({"eventId": event, "release": true})),
        ("chat.defer", json!({"eventId": event, "reason": "later"})),
        ("chat.defer", json!({"eventId": event, "reason": "later", "until": "30m"})),
        ("chat.resolve", json!({"eventId": event})),
        ("chat.resolve", json!({"threadId": thread})),
        (
            "post_message",
            json!({"thread_id": thread, "schema_version": 1, "kind": "chat", "body": "late"}),
        ),
        ("emit_output", json!({"text": "late"})),
        ("set_channel_reaction", json!({"message_id": event, "signal": "agree"})),
        (
            "create_channel_stimulus",
            json!({"channel_id": room, "kind": "agent_idea", "text": "shall we look?"}),
        ),
    ]
}

async fn over_tools(host: &TestHost, turn: &Turn) {
    let Turn { room, token, .. } = turn;
    let mcp: Client = host.mcp(token, Wire::Stateless).await;
    let mine = host.token("bot").await;
    for (name, args) in tools(turn) {
        let before = host.length(room).await;
        let stale = Err("STALE_TURN".to_owned());
        assert_eq!(host.tool(token, name, args.clone()).await, stale, "C2A: {name} {args}");
        assert_eq!(mcp.call(name, args.clone()).await, stale, "MCP: {name} {args}");
        let mut named = args.clone();
        named["turn"] = json!(token);
        assert_eq!(host.tool(&mine, name, named).await, stale, "its own token: {name} {args}");
        assert_eq!(host.length(room).await, before, "{name} {args}");
    }
    // What C2A has besides tools.
    let ends = json!({"eventId": turn.event, "disposition": "acknowledged"});
    let refused = host.rpc(token, "chat/disposition", ends).await.ok();
    assert_eq!(refused["error"]["data"]["code"], "STALE_TURN");
    for (method, params) in [
        ("notifications/progress", json!({"progressToken": "a", "progress": 1, "message": "x"})),
        ("notifications/typing", json!({"conversation": room, "typing": true})),
        ("notifications/cancelled", json!({"requestId": "a", "eventId": turn.event})),
    ] {
        let told = json!({"jsonrpc": "2.0", "method": method, "params": params});
        assert_eq!(host.post(token, "/v1/c2a", told).await.refused(409), "STALE_TURN", "{method}");
    }
}

async fn changes_nothing(host: &TestHost, turn: &Turn) {
    over_rest(host, turn).await;
    over_tools(host, turn).await;
    // It may still read.
    let read = json!({"conversation": turn.room});
    host.tool(&turn.token, "chat.read_thread", read).await.unwrap();
    host.tool(&turn.token, "chat.list_events", json!({"unsettled": true})).await.unwrap();
}

// covers: ATT-340, ATT-91
#[tokio::test]
async fn a_turn_that_an_operator_took_away_changes_nothing_over_any_door() {
    let host = TestHost::open().await;
    let turn = taken(&host).await;
    let path = format!("/v1/channels/{}/turns/{}/bot", turn.room, turn.event);
    let taken_away = host.send(&host.operator(), Method::DELETE, &path, None).await;
    assert_eq!(taken_away.status, 204);
    changes_nothing(&host, &turn).await;
}

// covers: ATT-340, ATT-93
#[tokio::test]
async fn a_turn_whose_session_was_gone_for_a_minute_changes_nothing_over_any_door() {
    let host = TestHost::open().await;
    let turn = taken(&host).await;
    // Its connection ended with `taken`; another session takes the event up.
    let mut again = host.connect(&host.token("bot").await).await;
    host.pass(61_000).await;
    let offer = again.take().await;
    assert_eq!(offer["eventId"], turn.event);
    assert_eq!(offer["turn"]["fence"], 2);
    changes_nothing(&host, &turn).await;
}

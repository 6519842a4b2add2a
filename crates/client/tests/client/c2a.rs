//! The connection: what comes in comes out sorted, and its end is always told.

use axum::Router;
use axum::extract::ws::{CloseFrame, Message};
use axum::http::StatusCode;
use axum::routing::get;
use chorus_client::c2a::{Connection, Incoming, connect};
use chorus_client::{Error, Result};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_wire::attention::initialize::InitializeParams;
use chorus_wire::attention::notifications::Progress;
use chorus_wire::jsonrpc::{ErrorObject, Id};
use serde_json::json;
use tokio::sync::mpsc;

use crate::host::{self, Socket, deliver, serve};

async fn open(url: &str) -> Result<(Connection, mpsc::Receiver<Incoming>)> {
    connect(url, "jwt", &InitializeParams::new("test", "0")).await
}

/// The reason with which a connection ended; whatever came before is dropped.
async fn closed(mut incoming: mpsc::Receiver<Incoming>) -> String {
    while let Some(message) = incoming.recv().await {
        if let Incoming::Closed { reason } = message {
            assert!(incoming.recv().await.is_none(), "something after the end");
            return reason;
        }
    }
    panic!("the end was not told")
}

// covers: ATT-23
#[tokio::test]
async fn deliveries_are_taken_or_not() {
    let url = host::c2a(|mut socket| async move {
        socket.write(deliver("dlv_1.1")).await;
        let answer = socket.read().await.unwrap();
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": "dlv_1.1", "result": {"accepted": true}}));
        socket.write(deliver("dlv_1.2")).await;
        let answer = socket.read().await.unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("dlv_1.2"), &json!(-32602)));
        // One that cannot be read is refused without the harness.
        socket
            .write(json!({"jsonrpc": "2.0", "id": 9, "method": "chat/deliver", "params": {"eventId": 1}}))
            .await;
        let answer = socket.read().await.unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(9), &json!(-32602)));
        socket.notify("notifications/closing", json!({"reason": "enough"})).await;
    })
    .await;
    let (connection, mut incoming) = open(&url).await.unwrap();
    assert_eq!(connection.hello().member.id, "scout");
    for attempt in 1..=2 {
        let Some(Incoming::Deliver { request_id, deliver }) = incoming.recv().await else {
            panic!()
        };
        assert_eq!(request_id, Id::from(format!("dlv_1.{attempt}")));
        assert_eq!(deliver.text().as_deref(), Some("hello"));
        if attempt == 1 {
            connection.ack(&request_id).await.unwrap();
        } else {
            let error = ErrorObject::invalid_params("not now", "");
            connection.nack(&request_id, error).await.unwrap();
        }
    }
    assert!(matches!(incoming.recv().await, Some(Incoming::Closing(c)) if c.reason == "enough"));
    closed(incoming).await;
    assert!(!connection.is_open());
}

#[tokio::test]
async fn answers_find_their_calls_in_any_order() {
    let url = host::c2a(|mut socket| async move {
        let first = socket.read().await.unwrap();
        let second = socket.read().await.unwrap();
        for call in [second, first] {
            let result = json!({"content": [], "structuredContent": call["params"]["arguments"]});
            socket.answer(&call, result).await;
        }
        let call = socket.read().await.unwrap();
        let envelope = json!({"error": {"code": "STALE_TURN", "message": "m", "request_id": "r"}});
        let result = json!({"content": [], "structuredContent": envelope, "isError": true});
        socket.answer(&call, result).await;
        let call = socket.read().await.unwrap();
        assert_eq!(
            call["params"],
            json!({"eventId": "evt_1", "disposition": "ignored", "turn": "turn_x"})
        );
        socket.answer(&call, json!({"eventId": "evt_1", "disposition": "ignored"})).await;
        socket.read().await;
    })
    .await;
    let (connection, _incoming) = open(&url).await.unwrap();
    let (a, b) = (json!({"n": "a"}), json!({"n": "b"}));
    let calls = tokio::join!(connection.call_tool("t", &a), connection.call_tool("t", &b));
    assert_eq!(calls, (Ok(a), Ok(b)));
    let refused = connection.call_tool("t", &json!({})).await.unwrap_err();
    assert_eq!(refused.code(), Some(Code::StaleTurn));
    let turn = Some("turn_x".to_owned());
    let result = connection.disposition("evt_1", Disposition::Ignored, None, turn).await.unwrap();
    assert_eq!(result.disposition, Disposition::Ignored);
}

fn wake() -> serde_json::Value {
    json!({
        "wakeId": "wake_1", "fence": 1, "reason": "must_respond", "force": false, "again": false,
        "threads": [], "prompt": "read", "skip": ["pty"],
    })
}

#[tokio::test]
async fn notifications_both_ways_and_requests_that_only_the_connection_answers() {
    let url = host::c2a(|mut socket| async move {
        socket
            .notify("notifications/cancelled", json!({"requestId": "dlv_1.1", "eventId": "evt_1"}))
            .await;
        socket
            .notify(
                "notifications/typing",
                json!({"conversation": "ch_1", "author": "will", "typing": true}),
            )
            .await;
        socket.notify("notifications/of_the_future", json!({})).await;
        socket.notify("session/wake", json!({"threads": "wrong"})).await;
        socket.write(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).await;
        assert_eq!(socket.read().await.unwrap()["result"], json!({}));
        socket.write(json!({"jsonrpc": "2.0", "id": 2, "method": "no/such"})).await;
        assert_eq!(socket.read().await.unwrap()["error"]["code"], -32601);
        socket.0.send(Message::text("not json")).await.unwrap();
        assert_eq!(socket.read().await.unwrap()["error"]["code"], -32700);
        socket.notify("session/wake", wake()).await;
        let progress = socket.read().await.unwrap();
        assert_eq!(
            progress["params"],
            json!({"progressToken": "evt_1", "progress": 1, "eventId": "evt_1"})
        );
        let typing = socket.read().await.unwrap();
        assert_eq!(typing["params"], json!({"conversation": "ch_1", "typing": false}));
        let frame = CloseFrame { code: 1000, reason: "token expired".into() };
        socket.0.send(Message::Close(Some(frame))).await.unwrap();
    })
    .await;
    let (connection, mut incoming) = open(&url).await.unwrap();
    assert!(matches!(incoming.recv().await, Some(Incoming::Cancelled(c)) if c.event_id.is_some()));
    assert!(matches!(incoming.recv().await, Some(Incoming::Typing(t)) if t.typing));
    assert!(matches!(incoming.recv().await, Some(Incoming::Wake(w)) if w.wake_id == "wake_1"));
    let progress = Progress {
        progress_token: Id::from("evt_1"),
        progress: 1.into(),
        total: None,
        message: None,
        event_id: Some("evt_1".into()),
    };
    connection.progress(&progress).await.unwrap();
    connection.typing("ch_1", false).await.unwrap();
    assert_eq!(closed(incoming).await, "token expired");
}

#[tokio::test]
async fn calls_under_way_fail_when_the_connection_breaks() {
    let url = host::c2a(|mut socket| async move {
        // Gone without a word after the call has come.
        socket.read().await.unwrap();
    })
    .await;
    let (connection, incoming) = open(&url).await.unwrap();
    let error = connection.list_tools().await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    closed(incoming).await;
    let error = connection.list_tools().await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
}

/// A harness that does not look at its mail while it waits for an answer must still get the answer, and
/// memory must not grow with what it does not take.
#[tokio::test]
async fn a_full_queue_drops_typing_and_ends_at_anything_else() {
    let url = host::c2a(|mut socket| async move {
        let call = socket.read().await.unwrap();
        for _ in 0..1000 {
            let typing = json!({"conversation": "ch_1", "author": "will", "typing": true});
            socket.notify("notifications/typing", typing).await;
        }
        socket.answer(&call, json!({"tools": []})).await;
        flood(socket).await;
    })
    .await;
    let (connection, incoming) = open(&url).await.unwrap();
    assert!(connection.list_tools().await.unwrap().tools.is_empty());
    assert!(closed(incoming).await.contains("does not take"));
}

/// One message more than there is room for, once the queue is full of typing.
async fn flood(mut socket: Socket) {
    socket.write(deliver("dlv_1.1")).await;
    while socket.read().await.is_some() {}
}

#[tokio::test]
async fn dropping_the_last_handle_closes_the_connection() {
    let (told, gone) = tokio::sync::oneshot::channel();
    let told = std::sync::Arc::new(std::sync::Mutex::new(Some(told)));
    let url = host::c2a(move |mut socket| {
        let told = told.lock().unwrap().take();
        async move {
            assert!(socket.read().await.is_none());
            told.unwrap().send(()).unwrap();
        }
    })
    .await;
    let (connection, incoming) = open(&url).await.unwrap();
    drop(connection);
    gone.await.unwrap();
    drop(incoming);
}

#[tokio::test]
async fn a_refused_handshake_is_a_refusal_and_a_dead_address_unreachable() {
    let envelope =
        r#"{"error":{"code":"UNAUTHORIZED","message":"the token has expired","request_id":"r"}}"#;
    let door = get(move || async move { (StatusCode::UNAUTHORIZED, envelope) });
    let url = serve(Router::new().route("/v1/c2a", door)).await;
    let error = open(&url).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::Unauthorized), "{error}");
    let error = open("http://127.0.0.1:1").await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    // A TLS handshake with something that speaks none fails in good order.
    let error = open(&url.replace("http", "https")).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn a_refused_initialize_is_a_refusal() {
    use axum::extract::ws::WebSocketUpgrade;
    let door = axum::routing::any(|upgrade: WebSocketUpgrade| async move {
        upgrade.on_upgrade(|socket| async move {
            let mut socket = Socket(socket);
            let hello = socket.read().await.unwrap();
            let data =
                json!({"code": "NOT_FOUND", "message": "no such session", "request_id": "r"});
            let error = json!({"code": -32010, "message": "no such session", "data": data});
            socket.write(json!({"jsonrpc": "2.0", "id": hello["id"], "error": error})).await;
        })
    });
    let url = serve(Router::new().route("/v1/c2a", door)).await;
    let error = open(&url).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::NotFound), "{error}");
}

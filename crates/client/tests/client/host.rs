//! A host made for one test: an axum router on a port of its own.

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::routing::any;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Serves until the test's runtime ends; gives the address.
pub(crate) async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    format!("http://{address}")
}

/// Serves the C2A transport: each connection is handed to `script` after its `initialize` was answered.
pub(crate) async fn c2a<F, S>(script: F) -> String
where
    F: Fn(Socket) -> S + Clone + Send + Sync + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    let door = any(move |upgrade: WebSocketUpgrade| {
        let script = script.clone();
        async move {
            upgrade.on_upgrade(move |socket| async move {
                let mut socket = Socket(socket);
                let hello = socket.read().await.expect("initialize");
                assert_eq!(hello["method"], "initialize");
                socket.answer(&hello, welcome()).await;
                script(socket).await;
            })
        }
    });
    serve(Router::new().route("/v1/c2a", door)).await
}

pub(crate) fn welcome() -> Value {
    json!({
        "protocolVersion": "2026-06-02",
        "serverInfo": {"name": "chorus", "version": "0"},
        "capabilities": {"delivery": {"ack": true}},
        "session": {"id": "sess_1"},
        "member": {"id": "scout", "handle": "scout", "displayName": "Scout", "kind": "agent"},
        "workspace": {"id": "wk_1"},
        "glyphs": {"seen": "👀"},
        "limits": {"unacked": 32},
        "turnUrl": "http://127.0.0.1:1/v1/c2a"
    })
}

pub(crate) fn deliver(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "chat/deliver", "params": {
        "eventId": "evt_1",
        "source": {"platform": "chorus", "workspaceId": "wk_1"},
        "conversation": {"id": "ch_1", "kind": "channel"},
        "author": {"id": "will", "kind": "human", "displayName": "Will"},
        "timing": {"createdAt": "2026-06-02T19:10:00.000Z", "sequence": 1},
        "target": {"mentions": ["scout"], "directedness": "to_me"},
        "content": [{"type": "text", "text": "hello"}],
        "attention": {"policy": "must_respond", "reason": "mention"},
        "injection": {"mode": "buffered"},
        "reliability": {"attempt": 1, "idempotencyKey": "evt_1:scout"}
    }})
}

/// The host's end of a connection.
pub(crate) struct Socket(pub(crate) WebSocket);

impl Socket {
    /// The next message of the harness; none when it has gone.
    pub(crate) async fn read(&mut self) -> Option<Value> {
        loop {
            match self.0.recv().await?.ok()? {
                Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    pub(crate) async fn write(&mut self, message: Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.write(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.write(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }
}

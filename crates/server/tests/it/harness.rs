//! The other end of a C2A connection, frame by frame, so that a test can also say what is wrong.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::test_host::{PATIENCE, said};

/// What a tool gave, or the code of its refusal.
pub(crate) fn outcome(result: Value) -> Result<Value, String> {
    let structured = result["structuredContent"].clone();
    match result["isError"].as_bool() {
        Some(true) => Err(structured["error"]["code"].as_str().unwrap().to_owned()),
        _ => Ok(structured),
    }
}

/// The other end of a C2A connection, frame by frame.
pub(crate) struct Harness {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    next: i64,
    waiting: Vec<Value>,
    /// The code with which the host closed.
    pub(crate) closed: Option<u16>,
    pub(crate) hello: Value,
}

impl Harness {
    pub(crate) fn over(socket: WebSocketStream<MaybeTlsStream<TcpStream>>) -> Self {
        Self { socket, next: 1, waiting: Vec::new(), closed: None, hello: Value::Null }
    }

    pub(crate) async fn write(&mut self, frame: Value) {
        said(&frame);
        self.raw(Message::text(frame.to_string())).await;
    }

    pub(crate) async fn raw(&mut self, message: Message) {
        self.socket.send(message).await.unwrap();
    }

    /// The next frame, or none when the connection has ended.
    pub(crate) async fn frame(&mut self) -> Option<Value> {
        loop {
            let next = tokio::time::timeout(PATIENCE, self.socket.next()).await;
            match next.expect("a frame in time")? {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(frame)) => {
                    self.closed = frame.map(|frame| frame.code.into());
                    return None;
                }
                Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Makes a call; what comes before its answer is kept.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.next;
        self.next += 1;
        self.write(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        loop {
            let frame = self.frame().await.expect("an answer");
            if frame["id"] == json!(id) && frame.get("method").is_none() {
                return match frame.get("result") {
                    Some(result) => Ok(result.clone()),
                    None => Err(frame["error"].clone()),
                };
            }
            self.waiting.push(frame);
        }
    }

    pub(crate) async fn tool(&mut self, name: &str, args: Value) -> Result<Value, String> {
        let params = json!({"name": name, "arguments": args});
        outcome(self.call("tools/call", params).await.unwrap())
    }

    /// The next thing the host says of itself.
    pub(crate) async fn heard(&mut self) -> Option<Value> {
        match self.waiting.is_empty() {
            false => Some(self.waiting.remove(0)),
            true => self.frame().await,
        }
    }

    /// The next delivery, not yet acknowledged.
    pub(crate) async fn delivery(&mut self) -> Value {
        loop {
            let frame = self.heard().await.expect("a delivery");
            if frame["method"] == "chat/deliver" {
                return frame;
            }
        }
    }

    /// The next wake; its params.
    pub(crate) async fn wake(&mut self) -> Value {
        loop {
            let frame = self.heard().await.expect("a wake");
            if frame["method"] == "session/wake" {
                return frame["params"].clone();
            }
        }
    }

    /// The next delivery, acknowledged; its params.
    pub(crate) async fn take(&mut self) -> Value {
        let frame = self.delivery().await;
        self.acknowledge(&frame).await;
        frame["params"].clone()
    }

    /// Acknowledges, and waits until the host has seen it.
    pub(crate) async fn acknowledge(&mut self, frame: &Value) {
        let result = json!({"accepted": true});
        self.write(json!({"jsonrpc": "2.0", "id": frame["id"], "result": result})).await;
        self.call("ping", json!({})).await.unwrap();
    }

    /// Whether nothing has been delivered so far.
    pub(crate) async fn is_quiet(&mut self) -> bool {
        self.call("ping", json!({})).await.unwrap();
        !self.waiting.iter().any(|frame| frame["method"] == "chat/deliver")
    }

    /// Answers an event in its turn.
    pub(crate) async fn reply(&mut self, event: &Value, text: &str) -> Result<Value, String> {
        let args = json!({
            "target": {"conversation": event["conversation"]["id"]},
            "inReplyTo": event["eventId"],
            "idempotencyKey": format!("reply:{}:1", event["eventId"].as_str().unwrap()),
            "visibility": if event["conversation"]["kind"] == "dm" { "dm" } else { "channel" },
            "directedness": "to_other",
            "text": text,
            "turn": event["turn"]["token"],
        });
        self.tool("chat.send_message", args).await
    }
}

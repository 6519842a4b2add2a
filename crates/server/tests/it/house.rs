//! A running host with a room in it, and what tests do to it.

use std::sync::Arc;
use std::time::Duration;

use chorus_core::ids::Timestamp;
use chorus_server::{Config, Host, Running};
use chorus_store::ManualClock;
use futures_util::{SinkExt, StreamExt};
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

pub(crate) const START: Timestamp = Timestamp(1_790_000_000_000);
/// Nothing here takes long; a test that waits longer for something waits for ever.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct House {
    pub(crate) running: Running,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) folder: TempDir,
    http: reqwest::Client,
}

/// An answer: status and body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn ok(self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        self.body
    }

    /// The code in the envelope; the envelope is whole.
    pub(crate) fn refused(self, status: u16) -> String {
        assert_eq!(self.status, status, "{self:?}");
        let error = &self.body["error"];
        assert!(error["request_id"].as_str().is_some_and(|id| id.starts_with("req_")), "{self:?}");
        assert!(error["message"].as_str().is_some_and(|m| !m.is_empty()), "{self:?}");
        error["code"].as_str().unwrap().to_owned()
    }
}

impl House {
    pub(crate) async fn open() -> Self {
        Self::open_in(tempfile::tempdir().unwrap(), START).await
    }

    pub(crate) async fn open_in(folder: TempDir, now: Timestamp) -> Self {
        let clock = Arc::new(ManualClock::new(now));
        let running = Host::start(Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            clock: clock.clone(),
            ..Config::on(folder.path())
        })
        .await
        .unwrap();
        Self { running, clock, folder, http: reqwest::Client::new() }
    }

    /// A channel `room` with the operator, the person `ann` and these agents; its id.
    pub(crate) async fn room(&self, agents: &[&str]) -> String {
        let op = self.operator();
        self.post(&op, "/v1/members", json!({"id": "ann", "kind": "human"})).await.ok();
        for agent in agents {
            self.post(&op, "/v1/members", json!({"id": agent, "kind": "agent"})).await.ok();
        }
        let mut members = agents.to_vec();
        members.push("ann");
        let new = json!({"title": "room", "members": members});
        let made = self.post(&op, "/v1/channels", new).await.ok();
        made["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn operator(&self) -> String {
        self.running.operator_token.clone()
    }

    /// A worker's token.
    pub(crate) async fn token(&self, member: &str) -> String {
        self.token_of(member, "worker").await
    }

    pub(crate) async fn token_of(&self, member: &str, role: &str) -> String {
        let new = json!({"agent": member, "role": role});
        let made = self.post(&self.operator(), "/v1/tokens", new).await.ok();
        made["token"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn send(
        &self,
        token: &str,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Answer {
        let mut request = self.http.request(method, self.url(path)).bearer_auth(token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        Self::answer(request).await
    }

    pub(crate) async fn answer(request: reqwest::RequestBuilder) -> Answer {
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let bytes = answer.bytes().await.unwrap();
        let body = match bytes.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned())),
        };
        Answer { status, body }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, self.url(path))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.running.url)
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> Answer {
        self.send(token, Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, token: &str, path: &str, body: Value) -> Answer {
        self.send(token, Method::POST, path, Some(body)).await
    }

    /// Posts a text under a key of its own.
    pub(crate) async fn say(&self, token: &str, room: &str, text: &str) -> Value {
        let key = format!("key:{text}");
        let new = json!({"conversation": room, "text": text, "idempotency_key": key});
        self.post(token, "/v1/messages", new).await.ok()
    }

    /// How many entries a conversation's log has.
    pub(crate) async fn length(&self, room: &str) -> u64 {
        let shown = self.get(&self.operator(), &format!("/v1/channels/{room}")).await.ok();
        shown["last_seq"].as_u64().unwrap()
    }

    /// Moves time, and lets it do what it does: the answer to a command comes after the timers of its batch.
    pub(crate) async fn pass(&self, ms: i64) {
        self.clock.advance(ms);
        self.running.tick();
        self.get(&self.operator(), "/v1/deliveries?state=open").await.ok();
    }

    /// One JSON-RPC call by POST.
    pub(crate) async fn rpc(&self, token: &str, method: &str, params: Value) -> Answer {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.post(token, "/v1/c2a", call).await
    }

    /// A chat tool by POST: what it gave, or the code of its refusal.
    pub(crate) async fn tool(&self, token: &str, name: &str, args: Value) -> Result<Value, String> {
        let params = json!({"name": name, "arguments": args});
        outcome(self.rpc(token, "tools/call", params).await.ok()["result"].clone())
    }

    pub(crate) async fn connect(&self, token: &str) -> Harness {
        self.connect_as(token, json!({})).await
    }

    pub(crate) async fn connect_as(&self, token: &str, session: Value) -> Harness {
        let mut harness = self.socket(token).await;
        let params = json!({
            "protocolVersion": "2026-06-02",
            "clientInfo": {"name": "test", "version": "0"},
            "session": session,
        });
        let hello = harness.call("initialize", params).await.unwrap();
        harness.hello = hello;
        harness
    }

    /// A connection that has not introduced itself.
    pub(crate) async fn socket(&self, token: &str) -> Harness {
        let url = self.url("/v1/c2a").replace("http://", "ws://");
        let mut request = url.into_client_request().unwrap();
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert("authorization", bearer);
        let (socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        Harness { socket, next: 1, waiting: Vec::new(), hello: Value::Null }
    }
}

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
    pub(crate) hello: Value,
}

impl Harness {
    pub(crate) async fn write(&mut self, frame: Value) {
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
                Ok(Message::Close(_)) | Err(_) => return None,
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

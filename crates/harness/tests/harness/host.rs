//! A host that answers every call with success, writes down what it was told, and says what it is told to.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::routing::any;
use chorus_harness::{Options, Runtime};
use chorus_testing::eventually;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};
use tokio::task::JoinHandle;

#[derive(Clone)]
pub(crate) struct Host {
    pub url: String,
    state: Arc<State>,
    say: mpsc::UnboundedSender<Say>,
}

enum Say {
    Frame(Value),
    Cut,
}

struct State {
    /// Everything the harness sent, `[method or tool, params or arguments]`.
    seen: Mutex<Vec<(String, Value)>>,
    /// What a tool gives instead of success: a refusal's code, or `CUT` to end the connection unanswered.
    refusals: Mutex<HashMap<String, &'static str>>,
    /// Frames that are sent just before a call of this name is answered.
    before: Mutex<HashMap<String, Value>>,
    /// How the host says that events have ended, whatever disposition it is told.
    ended: Mutex<Option<&'static str>>,
    /// What `chat.read_thread` shows.
    messages: Mutex<Vec<Value>>,
    to_say: AsyncMutex<mpsc::UnboundedReceiver<Say>>,
}

impl Host {
    pub(crate) async fn start() -> Self {
        let (say, to_say) = mpsc::unbounded_channel();
        let state = Arc::new(State {
            seen: Mutex::default(),
            refusals: Mutex::default(),
            before: Mutex::default(),
            ended: Mutex::default(),
            messages: Mutex::default(),
            to_say: AsyncMutex::new(to_say),
        });
        let serving = state.clone();
        let door = any(move |upgrade: WebSocketUpgrade| {
            let state = serving.clone();
            async move { upgrade.on_upgrade(move |socket| serve(socket, state)) }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/c2a", door);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, state, say }
    }

    pub(crate) fn deliver(&self, params: Value) {
        self.say.send(Say::Frame(offer(params))).unwrap();
    }

    /// Delivers it while the harness waits for the answer to its next call of this name.
    pub(crate) fn deliver_before_answering(&self, name: &str, params: Value) {
        self.state.before.lock().unwrap().insert(name.to_owned(), offer(params));
    }

    pub(crate) fn notify(&self, method: &str, params: Value) {
        let frame = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.say.send(Say::Frame(frame)).unwrap();
    }

    pub(crate) fn cut(&self) {
        self.say.send(Say::Cut).unwrap();
    }

    pub(crate) fn refuse(&self, tool: &str, code: Option<&'static str>) {
        let mut refusals = self.state.refusals.lock().unwrap();
        match code {
            Some(code) => refusals.insert(tool.to_owned(), code),
            None => refusals.remove(tool),
        };
    }

    pub(crate) fn has_ended(&self, disposition: &'static str) {
        *self.state.ended.lock().unwrap() = Some(disposition);
    }

    pub(crate) fn show(&self, message: Value) {
        self.state.messages.lock().unwrap().push(message);
    }

    /// All params of this method, or arguments of this tool, so far.
    pub(crate) fn seen(&self, name: &str) -> Vec<Value> {
        let seen = self.state.seen.lock().unwrap();
        seen.iter().filter(|(n, _)| n == name).map(|(_, params)| params.clone()).collect()
    }

    /// Waits until the harness has sent `count` of them, and gives them.
    pub(crate) async fn wait(&self, name: &str, count: usize) -> Vec<Value> {
        eventually(&format!("{count} {name} come"), async || {
            let seen = self.seen(name);
            if seen.len() >= count {
                Ok(seen)
            } else {
                Err(self.state.seen.lock().unwrap().clone())
            }
        })
        .await
    }
}

async fn serve(mut socket: WebSocket, state: Arc<State>) {
    // One connection at a time; the one before has ended, or ends when it is next read.
    let mut to_say = state.to_say.lock().await;
    loop {
        let frame = tokio::select! {
            said = to_say.recv() => match said {
                Some(Say::Frame(frame)) => {
                    if socket.send(Message::text(frame.to_string())).await.is_err() {
                        return;
                    }
                    continue;
                }
                Some(Say::Cut) | None => return,
            },
            frame = socket.recv() => frame,
        };
        let Some(Ok(Message::Text(text))) = frame else {
            if matches!(frame, Some(Ok(_))) { continue } else { return }
        };
        let message: Value = serde_json::from_str(&text).unwrap();
        let method = message["method"].as_str().unwrap_or_default();
        let before = state.before.lock().unwrap().remove(method);
        if let Some(frame) = before
            && socket.send(Message::text(frame.to_string())).await.is_err()
        {
            return;
        }
        match answer(&state, &message) {
            Answer::Nothing => {}
            Answer::Cut => return,
            Answer::Result(result) => {
                let frame = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                if socket.send(Message::text(frame.to_string())).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn offer(params: Value) -> Value {
    let id = format!("dlv_{}.1", params["eventId"].as_str().unwrap());
    json!({"jsonrpc": "2.0", "id": id, "method": "chat/deliver", "params": params})
}

enum Answer {
    Nothing,
    Cut,
    Result(Value),
}

fn answer(state: &State, message: &Value) -> Answer {
    let method = message["method"].as_str().unwrap_or("ack").to_owned();
    let params = if method == "ack" { message } else { &message["params"] };
    let (name, params) = match method.as_str() {
        "tools/call" => (params["name"].as_str().unwrap().to_owned(), &params["arguments"]),
        _ => (method.clone(), params),
    };
    state.seen.lock().unwrap().push((name.clone(), params.clone()));
    match state.refusals.lock().unwrap().get(&name) {
        Some(&"CUT") => return Answer::Cut,
        Some(code) => {
            let error = json!({"error": {"code": code, "message": "no", "request_id": ""}});
            return Answer::Result(
                json!({"content": [], "structuredContent": error, "isError": true}),
            );
        }
        None => {}
    }
    let given = match name.as_str() {
        "initialize" => return Answer::Result(welcome()),
        "chat/disposition" => {
            let said = params["disposition"].as_str().unwrap();
            let disposition = state.ended.lock().unwrap().unwrap_or(said);
            let event = &params["eventId"];
            return Answer::Result(json!({"eventId": event, "disposition": disposition}));
        }
        "chat.read_thread" => {
            json!({"conversation": "ch_1", "messages": *state.messages.lock().unwrap(), "hasMore": false})
        }
        "chat.claim" => json!({
            "eventId": params["eventId"], "holder": "scout", "fence": 3, "expiresAt": "2026-06-02T19:10:00.000Z",
            "turn": {"token": "turn_claimed", "fence": 3, "hop": 0},
            "event": delivery(params["eventId"].as_str().unwrap(), "may_respond"),
        }),
        _ if message["id"].is_null() || method == "ack" => return Answer::Nothing,
        _ => json!({"eventId": "evt_sent"}),
    };
    Answer::Result(json!({"content": [], "structuredContent": given, "isError": false}))
}

fn welcome() -> Value {
    json!({
        "protocolVersion": "2026-06-02",
        "serverInfo": {"name": "chorus", "version": "0"},
        "capabilities": {"delivery": {"ack": true}},
        "session": {"id": "sess_1"},
        "member": {"id": "scout", "handle": "scout", "displayName": "Scout", "kind": "agent"},
        "workspace": {"id": "wk_1"},
        "glyphs": {},
        "limits": {"unacked": 32},
        "turnUrl": "http://127.0.0.1:1/v1/c2a",
        "mcpUrl": "http://127.0.0.1:1/v1/mcp"
    })
}

/// A message of will in ch_1, shown in full.
pub(crate) fn delivery(event: &str, policy: &str) -> Value {
    json!({
        "eventId": event,
        "source": {"platform": "chorus", "workspaceId": "wk_1"},
        "conversation": {"id": "ch_1", "kind": "channel"},
        "author": {"id": "will", "kind": "human", "displayName": "Will"},
        "timing": {"createdAt": "2026-06-02T19:10:00.000Z", "sequence": 7},
        "target": {"mentions": ["scout"], "directedness": "to_me"},
        "content": [{"type": "text", "text": format!("Is {event} blocked?")}],
        "attention": {"policy": policy, "reason": "mention"},
        "injection": {"mode": "buffered"},
        "reliability": {"attempt": 1, "idempotencyKey": format!("{event}:scout")},
        "turn": {"token": format!("turn_{event}"), "fence": 1, "hop": 0}
    })
}

pub(crate) struct Agent {
    pub running: JoinHandle<Result<(), chorus_harness::Error>>,
    shutdown: oneshot::Sender<()>,
}

impl Agent {
    /// A harness with no compose window, whose runtime is this line.
    pub(crate) fn join(host: &Host, state: &Path, line: &str) -> Self {
        let runtime = Runtime::Command { line: line.to_owned() };
        let mut options = Options::new(&host.url, "the.agents.token", "scout", state, runtime);
        options.quiet = Duration::ZERO;
        options.unfinished = Duration::ZERO;
        options.cap = Duration::ZERO;
        Self::run(options)
    }

    /// One with the compose window that every agent has by default.
    pub(crate) fn join_by_default(host: &Host, state: &Path, line: &str) -> Self {
        let runtime = Runtime::Command { line: line.to_owned() };
        Self::run(Options::new(&host.url, "the.agents.token", "scout", state, runtime))
    }

    fn run(options: Options) -> Self {
        let (shutdown, stopped) = oneshot::channel();
        let running = tokio::spawn(chorus_harness::run(options, async move {
            let _ = stopped.await;
        }));
        Self { running, shutdown }
    }

    /// Ends it as a signal would.
    pub(crate) async fn stop(self) {
        self.shutdown.send(()).unwrap();
        self.running.await.unwrap().unwrap();
    }

    /// Ends it as a crash would: nothing more is written.
    pub(crate) async fn kill(self) {
        self.running.abort();
        assert!(self.running.await.unwrap_err().is_cancelled());
    }
}

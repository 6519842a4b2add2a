//! The agents: each has one connection, takes what it is offered, and answers as its mood is. A connection
//! ends with its host; what the agent remembers outlives it, unless it forgets.

use std::collections::{HashSet, VecDeque};
use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::people::Chance;

/// What an agent knows of what it did.
#[derive(Default)]
pub(crate) struct Memory {
    session: Option<String>,
    done: HashSet<String>,
}

pub(crate) struct Agents(Vec<Awake>);

struct Awake {
    settle: mpsc::UnboundedSender<oneshot::Sender<()>>,
    task: JoinHandle<Memory>,
}

impl Agents {
    pub(crate) async fn connect(
        addr: SocketAddr,
        agents: &[(String, String)],
        memories: Vec<Memory>,
        seed: u64,
        diligent: bool,
    ) -> Self {
        let mut awake = Vec::new();
        for (number, ((_, token), mut memory)) in agents.iter().zip(memories).enumerate() {
            let mut chance = Chance::new(seed + number as u64 + 1);
            if chance.below(3) == 0 {
                // It lost its state folder, and comes back as a new run.
                memory = Memory::default();
            }
            let mut agent = Agent::connect(addr, token, memory, chance, diligent).await;
            let (settle, asked) = mpsc::unbounded_channel();
            let task = tokio::spawn(async move {
                agent.live(asked).await;
                agent.memory
            });
            awake.push(Awake { settle, task });
        }
        Self(awake)
    }

    /// Returns when everybody has dealt with what was there.
    pub(crate) async fn settle(&self) {
        let mut waiting = Vec::new();
        for agent in &self.0 {
            let (done, wait) = oneshot::channel();
            // One whose connection has ended has nothing to settle.
            let _ = agent.settle.send(done);
            waiting.push(wait);
        }
        for wait in waiting {
            let _ = wait.await;
        }
    }

    /// What they remember, once their connections have ended.
    pub(crate) async fn end(self) -> Vec<Memory> {
        let mut memories = Vec::new();
        for Awake { settle, task } in self.0 {
            drop(settle);
            memories.push(task.await.unwrap());
        }
        memories
    }
}

struct Agent {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    heard: VecDeque<Value>,
    next: u64,
    memory: Memory,
    chance: Chance,
    diligent: bool,
}

/// The connection has ended.
struct Gone;

impl Agent {
    async fn connect(
        addr: SocketAddr,
        token: &str,
        memory: Memory,
        chance: Chance,
        diligent: bool,
    ) -> Self {
        let mut request = format!("ws://{addr}/v1/c2a").into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        // Without Nagle's wait: a call after an acknowledgement would take 40 ms of nothing.
        let connected = tokio_tungstenite::connect_async_with_config(request, None, true).await;
        let (socket, _) = connected.unwrap();
        let mut agent = Self { socket, heard: VecDeque::new(), next: 1, memory, chance, diligent };
        let session = agent.memory.session.as_ref().map_or(json!({}), |id| json!({"id": id}));
        let params = json!({
            "protocolVersion": "2026-06-02",
            "clientInfo": {"name": "trace", "version": "0"},
            "session": session,
        });
        let hello = agent.call("initialize", params).await;
        let hello = hello.unwrap_or_else(|Gone| panic!("no answer to initialize"));
        agent.memory.session = hello["result"]["session"]["id"].as_str().map(str::to_owned);
        assert!(agent.memory.session.is_some(), "{hello}");
        agent
    }

    /// Until the connection ends.
    async fn live(&mut self, mut asked: mpsc::UnboundedReceiver<oneshot::Sender<()>>) {
        loop {
            while let Some(frame) = self.heard.pop_front() {
                if self.handle(&frame).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                frame = Self::frame(&mut self.socket) => match frame {
                    Ok(frame) => self.heard.push_back(frame),
                    Err(Gone) => return,
                },
                Some(done) = asked.recv() => {
                    // What was offered before the answer has come before it, and is dealt with first.
                    if self.call("ping", json!({})).await.is_err() {
                        return;
                    }
                    while let Some(frame) = self.heard.pop_front() {
                        if self.handle(&frame).await.is_err() {
                            return;
                        }
                    }
                    let _ = done.send(());
                }
            }
        }
    }

    async fn handle(&mut self, frame: &Value) -> Result<(), Gone> {
        if frame["method"] != "chat/deliver" {
            return Ok(());
        }
        let taken = json!({"jsonrpc": "2.0", "id": frame["id"], "result": {"accepted": true}});
        self.write(&taken).await?;
        let params = &frame["params"];
        let event = params["eventId"].as_str().unwrap_or_default().to_owned();
        if self.memory.done.contains(&event) {
            return Ok(());
        }
        let said = params["content"][0]["text"].as_str().unwrap_or_default();
        if let Some((item, room)) = said.strip_prefix("Can you pass on ").and_then(pass_on)
            && self.carry(&event, item, room).await?
        {
            return Ok(());
        }
        let mood = if self.diligent { 19 } else { self.chance.below(20) };
        match (params["attention"]["policy"].as_str().unwrap_or_default(), mood) {
            // Says nothing: overdue in the end.
            ("must_respond", 0) => return Ok(()),
            ("must_respond", 1) => {
                let why = json!({"eventId": event, "reason": "after lunch"});
                self.tool("chat.defer", why).await?;
            }
            ("must_respond", 2) => {
                let done = json!({"inReplyTo": event, "signal": "done"});
                self.tool("chat.react", done).await?;
            }
            ("must_respond", _) => {
                if !self.reply(params, &event, &params["turn"]["token"]).await? {
                    return Ok(());
                }
            }
            // Two agents that talk to each other need no help from a third.
            ("may_respond", 0..=9) if params["author"]["kind"] == "human" => {
                let claimed = self.tool("chat.claim", json!({"eventId": event})).await?;
                let given = &claimed["result"]["structuredContent"];
                let turn = given["turn"]["token"].clone();
                if turn.is_string() {
                    self.reply(params, &event, &turn).await?;
                }
            }
            ("ack_only", _) => {
                self.tool("chat.react", json!({"inReplyTo": event, "signal": "seen"})).await?;
            }
            _ => {
                let ignored = json!({"eventId": event, "disposition": "ignored"});
                self.call("chat/disposition", ignored).await?;
            }
        }
        self.memory.done.insert(event);
        Ok(())
    }

    /// Carries what was said in private to a room. False when that was denied: then it is answered where it
    /// was said.
    async fn carry(&mut self, event: &str, item: &str, room: &str) -> Result<bool, Gone> {
        let args = json!({
            "target": {"conversation": room},
            "inReplyTo": event,
            "idempotencyKey": format!("carry:{event}"),
            "visibility": "channel",
            "directedness": "to_other",
            "text": format!("I am to pass on {item}."),
        });
        let given = self.tool("chat.send_message", args).await?;
        let code = &given["result"]["structuredContent"]["error"]["code"];
        assert_ne!(given["result"]["isError"], json!(false), "nobody was asked: {given}");
        Ok(code == "APPROVAL_REQUIRED")
    }

    /// Answers under the key that each of its runs would use. False when its line is paused: it is offered
    /// again when that goes on.
    async fn reply(&mut self, params: &Value, event: &str, turn: &Value) -> Result<bool, Gone> {
        let dm = params["conversation"]["kind"] == "dm";
        let args = json!({
            "target": {"conversation": params["conversation"]["id"]},
            "inReplyTo": event,
            "idempotencyKey": format!("reply:{event}:1"),
            "visibility": if dm { "dm" } else { "channel" },
            "directedness": "to_other",
            "text": "I have looked at it, and it is as it should be.",
            "turn": turn,
        });
        let given = self.tool("chat.send_message", args.clone()).await?;
        if given["result"]["isError"] != json!(true) && self.chance.below(8) == 0 {
            // The answer was lost, it thinks.
            self.tool("chat.send_message", args).await?;
        }
        let code = &given["result"]["structuredContent"]["error"]["code"];
        Ok(code != "REPLY_BUDGET_SPENT")
    }

    async fn tool(&mut self, name: &str, arguments: Value) -> Result<Value, Gone> {
        self.call("tools/call", json!({"name": name, "arguments": arguments})).await
    }

    /// Makes a call; what comes before its answer is kept.
    async fn call(&mut self, method: &str, params: Value) -> Result<Value, Gone> {
        let id = self.next;
        self.next += 1;
        let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(&call).await?;
        loop {
            let frame = Self::frame(&mut self.socket).await?;
            if frame["id"] == json!(id) && frame.get("method").is_none() {
                return Ok(frame);
            }
            self.heard.push_back(frame);
        }
    }

    async fn write(&mut self, frame: &Value) -> Result<(), Gone> {
        self.socket.send(Message::text(frame.to_string())).await.map_err(|_| Gone)
    }

    async fn frame(socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>) -> Result<Value, Gone> {
        loop {
            match socket.next().await {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(Gone),
                Some(Ok(_)) => {}
            }
        }
    }
}

/// "item 7 to ch_1?" as what is to be passed on, and where.
fn pass_on(said: &str) -> Option<(&str, &str)> {
    said.strip_suffix('?')?.split_once(" to ")
}

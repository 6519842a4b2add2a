//! A running agent, and the JSON-RPC with it: a message a line, in both directions.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Notify, mpsc, oneshot};

use super::outcome::bounded;

/// A longer message ends the agent: the largest is the content of a file.
const LINE_BYTES: u64 = 32 * 1024 * 1024;
/// What is kept of what the agent says in a turn.
const SAID_BYTES: usize = 64 * 1024;

/// Kills the agent when it is dropped.
#[derive(Debug)]
pub(super) struct Agent {
    child: Child,
    out: mpsc::UnboundedSender<Value>,
    shared: Arc<Shared>,
    last: u64,
    session: String,
    /// The session has just been made.
    new: bool,
    /// It was loaded, and its history may still come.
    replays: bool,
    running: Option<oneshot::Receiver<Answer>>,
    ended: Option<Result<(String, String), Failure>>,
}

type Answer = Result<Value, Failure>;

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    moved: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<u64, oneshot::Sender<Answer>>,
    /// Updates since the prompt was sent.
    updates: u64,
    said: String,
    closed: bool,
}

/// Why there is no result.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    Refused { code: i64, message: String },
    Gone(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { code, message } => write!(f, "{message} ({code})"),
            Self::Gone(why) => write!(f, "the agent is gone: {why}"),
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn gone() -> Failure {
    Failure::Gone("its output has ended".to_owned())
}

impl Agent {
    /// Starts it; the command's standard input and output are pipes.
    pub(super) fn start(mut command: Command) -> std::io::Result<Self> {
        let mut child = command.kill_on_drop(true).spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or_else(|| std::io::Error::other("it has no pipes"))?;
        let shared = Arc::new(Shared::default());
        let (out, lines) = mpsc::unbounded_channel();
        tokio::spawn(write(stdin, lines));
        tokio::spawn(read(stdout, shared.clone(), out.clone()));
        let session = String::new();
        let (new, replays, running, ended) = (false, false, None, None);
        Ok(Self { child, out, shared, last: 0, session, new, replays, running, ended })
    }

    pub(super) fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None)) && !self.shared.state().closed
    }

    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    pub(super) fn is_new(&self) -> bool {
        self.new
    }

    pub(super) fn session(&self) -> &str {
        &self.session
    }

    pub(super) fn enter(&mut self, session: &str, new: bool) {
        session.clone_into(&mut self.session);
        (self.new, self.replays) = (new, !new);
    }

    /// Asks, and waits for the answer.
    pub(super) async fn call(&mut self, method: &str, params: Value) -> Answer {
        let answer = self.ask(method, params)?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    pub(super) async fn notify(&self, method: &str, params: Value) -> Result<(), Failure> {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Sends the prompt.
    pub(super) async fn prompt(&mut self, text: &str) -> Result<(), Failure> {
        {
            let mut state = self.shared.state();
            (state.updates, state.said) = (0, String::new());
        }
        let prompt = json!([{"type": "text", "text": text}]);
        let params = json!({"sessionId": self.session, "prompt": prompt});
        self.running = Some(self.ask("session/prompt", params)?);
        (self.new, self.ended) = (false, None);
        Ok(())
    }

    /// Waits for a sign that the prompt is worked on: an update, where none can be of an older turn, or its response.
    pub(super) async fn sign(&mut self) -> Result<String, Failure> {
        let (shared, replays) = (self.shared.clone(), self.replays);
        let moved = async {
            loop {
                let notified = shared.moved.notified();
                if !replays && shared.state().updates > 0 {
                    return;
                }
                notified.await;
            }
        };
        tokio::select! {
            () = moved => Ok("the agent works on the prompt".to_owned()),
            end = self.prompt_ended() => {
                let (reason, _) = end.clone()?;
                self.ended = Some(end);
                Ok(format!("the agent has answered: {reason}"))
            }
        }
    }

    /// Waits for the prompt's response: why the turn ended, and what the agent said last.
    pub(super) async fn prompt_ended(&mut self) -> Result<(String, String), Failure> {
        if let Some(ended) = self.ended.take() {
            return ended;
        }
        let Some(running) = self.running.as_mut() else {
            return Err(Failure::Gone("no prompt runs".to_owned()));
        };
        let answer = running.await.unwrap_or_else(|_| Err(gone()));
        // The history has come by now, for the agent answers in order.
        (self.running, self.replays) = (None, false);
        let reason = answer?["stopReason"].as_str().unwrap_or("no reason given").to_owned();
        Ok((reason, bounded(&self.shared.state().said, 4096)))
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<oneshot::Receiver<Answer>, Failure> {
        self.last += 1;
        let (tell, answer) = oneshot::channel();
        {
            let mut state = self.shared.state();
            if state.closed {
                return Err(gone());
            }
            state.waiting.insert(self.last, tell);
        }
        let id = self.last;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(answer)
    }

    fn send(&self, message: Value) -> Result<(), Failure> {
        self.out.send(message).map_err(|_| gone())
    }
}

async fn write(mut stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<Value>) {
    while let Some(message) = lines.recv().await {
        if stdin.write_all(format!("{message}\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(stdout: ChildStdout, shared: Arc<Shared>, out: mpsc::UnboundedSender<Value>) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut stdout).take(LINE_BYTES).read_until(b'\n', &mut line).await {
            Ok(read) if read > 0 && line.ends_with(b"\n") => {}
            _ => break,
        }
        // Some print words between the messages.
        let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
        take(&message, &shared, &out);
        shared.moved.notify_waiters();
    }
    let mut state = shared.state();
    state.closed = true;
    state.waiting.clear();
}

fn take(message: &Value, shared: &Shared, out: &mpsc::UnboundedSender<Value>) {
    let (params, id) = (&message["params"], message.get("id"));
    match (message["method"].as_str(), id) {
        (Some("session/update"), None) => {
            let mut state = shared.state();
            let update = &params["update"];
            let of_turn = [
                "agent_message_chunk",
                "agent_thought_chunk",
                "tool_call",
                "tool_call_update",
                "plan",
            ];
            if !of_turn.iter().any(|kind| update["sessionUpdate"] == *kind) {
                return;
            }
            state.updates += 1;
            let said = update["content"]["text"].as_str();
            match said.filter(|_| update["sessionUpdate"] == "agent_message_chunk") {
                Some(said) if state.said.len() < SAID_BYTES => state.said.push_str(said),
                Some(_) => {}
                // What was said before a tool is not the answer.
                None => state.said.clear(),
            }
        }
        (Some("session/request_permission"), Some(id)) => {
            shared.state().updates += 1;
            let result = json!({"outcome": permission(params)});
            let _ = out.send(json!({"jsonrpc": "2.0", "id": id, "result": result}));
        }
        (Some(_), Some(id)) => {
            let error = json!({"code": -32601, "message": "not offered"});
            let _ = out.send(json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
        (None, Some(id)) => {
            let waiting = id.as_u64().and_then(|id| shared.state().waiting.remove(&id));
            if let Some(waiting) = waiting {
                let _ = waiting.send(answer(message));
            }
        }
        _ => {}
    }
}

fn answer(message: &Value) -> Answer {
    let Some(error) = message.get("error") else { return Ok(message["result"].clone()) };
    let words = [&error["data"]["details"], &error["message"]];
    let words = words.iter().find_map(|words| words.as_str()).unwrap_or("no reason given");
    let message = words.chars().take(200).collect();
    Err(Failure::Refused { code: error["code"].as_i64().unwrap_or_default(), message })
}

/// Ours once; for the rest the gentlest no. Which tool it is says the call's id, which the agent's program makes of the
/// tool's name; a title may have words of the model in it.
fn permission(params: &Value) -> Value {
    let id = params["toolCall"]["toolCallId"].as_str().unwrap_or_default();
    let ours = id.starts_with("mcp_chorus_") || id.starts_with("mcp__chorus__");
    let wanted = if ours { "allow_once" } else { "reject_once" };
    let options = params["options"].as_array().into_iter().flatten();
    let option = options
        .filter(|option| option["kind"] == wanted)
        .find_map(|option| option["optionId"].as_str());
    match option {
        Some(option) => json!({"outcome": "selected", "optionId": option}),
        None => json!({"outcome": "cancelled"}),
    }
}

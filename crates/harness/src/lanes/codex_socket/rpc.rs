//! The wire of Codex's app-server: a WebSocket over a Unix socket, with JSON-RPC that leaves out the member `jsonrpc`.
//!
//! Invariant: nothing here waits without a limit. Requests of the server are never answered: they ask whoever sits at
//! the terminal for an approval, and that is not us.

use std::collections::VecDeque;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::lanes::outcome::{Reason, Why};
use crate::lanes::owned;

const CONNECT: Duration = Duration::from_secs(2);
/// An answer took 20 ms at most when it was measured.
const ANSWER: Duration = Duration::from_secs(5);
/// Larger frames end the connection; a page of a thread's items with the output of its commands is the largest asked for.
const FRAME_BYTES: usize = 32 * 1024 * 1024;
/// Notifications kept while an answer is waited for. Older ones are dropped: whoever waits for one also looks.
const NOTES: usize = 256;

/// A connection that has been initialized.
pub(super) struct Rpc {
    socket: WebSocketStream<UnixStream>,
    last: u64,
    notes: VecDeque<Value>,
}

/// Why a call has no result.
#[derive(Debug)]
pub(super) enum Error {
    /// The connection is lost.
    Lost(String),
    /// No answer in time to this method.
    Late(&'static str),
    /// The server refused.
    Refused { code: i64, message: String },
    /// The answer does not have what this version of the protocol promises.
    Strange(String),
}

impl Rpc {
    /// Connects to a socket of ours, and introduces us.
    pub(super) async fn open(path: &Path) -> Result<Self, Why> {
        let real = owned::socket(path)?;
        let no_socket = |detail: String| Why::new(Reason::NoSocket, detail);
        let late = || Why::new(Reason::NoAnswer, "codex did not take the connection");
        let stream = timeout(CONNECT, UnixStream::connect(&real)).await.map_err(|_| late())?;
        let stream = stream.map_err(|e| no_socket(e.to_string()))?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(FRAME_BYTES))
            .max_frame_size(Some(FRAME_BYTES));
        let opening = client_async_with_config("ws://localhost/", stream, Some(config));
        let opened = timeout(CONNECT, opening).await.map_err(|_| late())?;
        // It answered, and not as a WebSocket.
        let (socket, _) = opened.map_err(|e| Why::new(Reason::SchemaChanged, e))?;
        let mut rpc = Self { socket, last: 0, notes: VecDeque::new() };
        let us = json!({"name": "chorus", "title": "Chorus", "version": env!("CARGO_PKG_VERSION")});
        rpc.call("initialize", json!({"clientInfo": us})).await?;
        let ready = json!({"method": "initialized"});
        rpc.send(&ready).await?;
        Ok(rpc)
    }

    /// Asks, and waits for the answer.
    pub(super) async fn call(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<Value, Error> {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"id": id, "method": method, "params": params})).await?;
        let until = Instant::now() + ANSWER;
        loop {
            let Some(message) = self.read(until).await? else { return Err(Error::Late(method)) };
            if message["id"] == id && message.get("method").is_none() {
                return answer(message, method);
            }
            self.keep(message);
        }
    }

    /// The next notification until then; none if it is not sent in time.
    pub(super) async fn note(&mut self, until: Instant) -> Result<Option<Value>, Error> {
        if let Some(note) = self.notes.pop_front() {
            return Ok(Some(note));
        }
        loop {
            let Some(message) = self.read(until).await? else { return Ok(None) };
            if message.get("id").is_none() && message.get("method").is_some() {
                return Ok(Some(message));
            }
        }
    }

    async fn send(&mut self, message: &Value) -> Result<(), Error> {
        let sending = self.socket.send(Message::text(message.to_string()));
        match timeout(ANSWER, sending).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(e)) => Err(Error::Lost(e.to_string())),
            Err(_) => Err(Error::Lost("codex does not read".to_owned())),
        }
    }

    async fn read(&mut self, until: Instant) -> Result<Option<Value>, Error> {
        loop {
            let frame = match timeout_at(until, self.socket.next()).await {
                Err(_) => return Ok(None),
                Ok(None) => return Err(Error::Lost("codex closed the connection".to_owned())),
                Ok(Some(Err(e))) => return Err(Error::Lost(e.to_string())),
                Ok(Some(Ok(frame))) => frame,
            };
            if let Message::Text(text) = frame {
                let parsed = serde_json::from_str(text.as_str());
                return parsed.map(Some).map_err(|e| Error::Strange(format!("no JSON: {e}")));
            }
        }
    }

    fn keep(&mut self, message: Value) {
        if message.get("id").is_some() || message.get("method").is_none() {
            return;
        }
        if self.notes.len() == NOTES {
            self.notes.pop_front();
        }
        self.notes.push_back(message);
    }
}

fn answer(mut message: Value, method: &str) -> Result<Value, Error> {
    if let Some(error) = message.get("error") {
        let code = error["code"].as_i64().unwrap_or_default();
        let message = error["message"].as_str().unwrap_or("no reason given").to_owned();
        return Err(Error::Refused { code, message });
    }
    match message.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => Err(Error::Strange(format!("{method} was answered without a result"))),
    }
}

impl Error {
    /// Whether the server says this anywhere in its refusal.
    pub(super) fn says(&self, words: &str) -> bool {
        matches!(self, Self::Refused { message, .. } if message.contains(words))
    }

    /// Whether the request may have arrived all the same.
    pub(super) fn leaves_open(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Late(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(why) => write!(f, "the connection is lost: {why}"),
            Self::Late(method) => write!(f, "no answer to {method}"),
            Self::Refused { code, message } => write!(f, "{message} ({code})"),
            Self::Strange(what) => f.write_str(what),
        }
    }
}

impl From<Error> for Why {
    fn from(error: Error) -> Self {
        let reason = match &error {
            Error::Lost(_) | Error::Late(_) => Reason::NoAnswer,
            // What it says of methods and members that it does not know; the same code means other refusals too.
            Error::Refused { message, .. } if message.starts_with("Invalid request") => {
                Reason::SchemaChanged
            }
            Error::Refused { code: -32601, .. } | Error::Strange(_) => Reason::SchemaChanged,
            Error::Refused { .. } => Reason::Refused,
        };
        // A refused method comes with the list of all there are.
        let detail: String = error.to_string().chars().take(200).collect();
        Self::new(reason, detail)
    }
}

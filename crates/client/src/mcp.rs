//! `chorus mcp`: MCP for a program that speaks over its standard streams, one JSON object a line.
//!
//! It carries messages to the host's endpoint (streamable HTTP) and back, and reads of them only what that
//! transport has in headers: the session's id, the protocol's version, and the names of method and tool.

use chorus_wire::error::Envelope;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::c2a::read_line;
use crate::http::{excerpt, read};
use crate::sse::Parser;
use crate::{Client, Error, Result};

/// Lines that wait to be written.
const LINES: usize = 64;
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// Where a request of the stateless wire states its version.
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// What the endpoint has said of a session.
#[derive(Clone, Debug, Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
    /// The program has said that it is there, after which it may be told things unasked.
    greeted: bool,
}

#[derive(Clone)]
struct Bridge {
    client: Client,
    url: Url,
    out: mpsc::Sender<String>,
}

/// Carries lines from `input` to the endpoint at `path` of the host, and what it says to `output`, until the input
/// ends and everything that was asked is answered.
pub async fn bridge<I, O>(client: &Client, path: &str, mut input: I, mut output: O) -> Result<()>
where
    I: AsyncBufRead + Unpin,
    O: AsyncWrite + Unpin,
{
    let (out, mut lines) = mpsc::channel::<String>(LINES);
    let bridge = Bridge { client: client.clone(), url: client.path(path), out };
    let writing = async move {
        while let Some(mut line) = lines.recv().await {
            line.push('\n');
            output.write_all(line.as_bytes()).await.map_err(|e| gone(&e))?;
            output.flush().await.map_err(|e| gone(&e))?;
        }
        Ok(())
    };
    let (carried, written) = tokio::join!(bridge.carry(&mut input), writing);
    carried.and(written)
}

fn gone(e: &std::io::Error) -> Error {
    Error::Protocol(format!("standard output: {e}"))
}

impl Bridge {
    async fn carry<I: AsyncBufRead + Unpin>(self, input: &mut I) -> Result<()> {
        let mut session = Session::default();
        let mut calls = FuturesUnordered::new();
        let mut told: Option<JoinHandle<()>> = None;
        let mut line = Vec::new();
        let ended = loop {
            tokio::select! {
                read = read_line(input, &mut line) => {
                    match read {
                        Ok(0) => break Ok(()),
                        Ok(_) => {}
                        Err(e) => break Err(e),
                    }
                    let bytes = std::mem::take(&mut line);
                    let Ok(text) = String::from_utf8(bytes) else {
                        break Err(Error::Protocol("a line that is not UTF-8".to_owned()));
                    };
                    if text.trim().is_empty() {
                        continue;
                    }
                    let message: Value = serde_json::from_str(&text).unwrap_or_default();
                    // Whatever comes after one of these needs what it brings about.
                    let first = message.get("id").is_none() || message["method"] == "initialize";
                    let call = self.call(text, message, session.clone());
                    if first {
                        session = call.await;
                    } else {
                        calls.push(call);
                    }
                    if told.is_none() && session.id.is_some() && session.greeted {
                        let (bridge, session) = (self.clone(), session.clone());
                        told = Some(tokio::spawn(async move { bridge.listen(&session).await }));
                    }
                }
                Some(_) = calls.next(), if !calls.is_empty() => {}
            }
        };
        while calls.next().await.is_some() {}
        if let Some(told) = told {
            told.abort();
        }
        if session.id.is_some() {
            // It would end by itself too.
            let _ = self.headed(Method::DELETE, &session).send().await;
        }
        ended
    }

    /// Carries one message, and everything that is said in answer; gives the session as it is then.
    async fn call(&self, text: String, message: Value, mut session: Session) -> Session {
        let params = &message["params"];
        let stated = params["_meta"][META_VERSION].as_str();
        let version = stated.or(session.version.as_deref()).map(str::to_owned);
        let asked = Session { version, ..session.clone() };
        let mut request = self.headed(Method::POST, &asked);
        for (header, value) in [
            ("mcp-method", &message["method"]),
            ("mcp-name", if params["name"].is_string() { &params["name"] } else { &params["uri"] }),
        ] {
            // Headers of the stateless wire; what does not fit into one is told of by the endpoint.
            if let Some(value) = value.as_str().filter(|_| stated.is_some()) {
                request = request.header(header, value);
            }
        }
        let request = request.header("content-type", "application/json").body(text);
        let id = message.get("id").cloned();
        let answer = match request.send().await {
            Ok(answer) => answer,
            Err(e) => {
                self.refuse(id, &Error::exchange(self.client.base_url(), &e).to_string()).await;
                return session;
            }
        };
        if let Some(begun) = answer.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
            session.id = Some(begun.to_owned());
            session.version = params["protocolVersion"].as_str().map(str::to_owned);
        }
        session.greeted |= message["method"] == "notifications/initialized";
        if message["method"] == "initialize" {
            let negotiated = self.say(answer, id).await;
            session.version = negotiated.or(session.version);
        } else {
            self.say(answer, id).await;
        }
        session
    }

    /// What the session is told unasked, until it ends. A host that has nothing to tell says so.
    async fn listen(&self, session: &Session) {
        if let Ok(answer) = self.headed(Method::GET, session).send().await
            && answer.status().is_success()
        {
            self.say(answer, None).await;
        }
    }

    fn headed(&self, method: Method, session: &Session) -> RequestBuilder {
        let mut request = self
            .client
            .request(method, self.url.clone())
            .header("accept", "application/json, text/event-stream");
        if let Some(id) = &session.id {
            request = request.header(SESSION, id);
        }
        if let Some(version) = &session.version {
            request = request.header(VERSION, version);
        }
        request
    }

    /// Writes what an answer says, and gives the version that it agrees to, if it does.
    async fn say(&self, mut answer: Response, id: Option<Value>) -> Option<String> {
        let status = answer.status();
        let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            let Ok(bytes) = read(answer).await else {
                self.refuse(id, "the answer broke off").await;
                return None;
            };
            return self.say_whole(status, &bytes, id).await;
        }
        let (mut parser, mut version) = (Parser::default(), None);
        while let Ok(Some(chunk)) = answer.chunk().await {
            if parser.push(&chunk).is_err() {
                break;
            }
            // The first event of a stream may be empty: it only names the place to resume from.
            for frame in parser.by_ref().filter(|frame| !frame.data.is_empty()) {
                version = version.or(agreed(&frame.data));
                let _ = self.out.send(frame.data.replace(['\n', '\r'], " ")).await;
            }
        }
        version
    }

    async fn say_whole(
        &self,
        status: StatusCode,
        bytes: &[u8],
        id: Option<Value>,
    ) -> Option<String> {
        let text = String::from_utf8_lossy(bytes);
        if serde_json::from_slice::<Value>(bytes).is_ok_and(|v| v.get("jsonrpc").is_some()) {
            let version = agreed(&text);
            let _ = self.out.send(text.replace(['\n', '\r'], " ")).await;
            return version;
        }
        if !status.is_success() {
            let why = match serde_json::from_slice::<Envelope>(bytes) {
                Ok(envelope) => format!("{}: {}", envelope.error.code, envelope.error.message),
                Err(_) => format!("HTTP {status}: {}", excerpt(bytes)),
            };
            self.refuse(id, &why).await;
        }
        None
    }

    /// Answers a request in the host's place. A notification is answered by nobody.
    async fn refuse(&self, id: Option<Value>, why: &str) {
        let Some(id) = id else { return };
        let error = json!({"code": -32000, "message": why});
        let line = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
        let _ = self.out.send(line).await;
    }
}

/// The version in the answer to `initialize`.
fn agreed(text: &str) -> Option<String> {
    let message: Value = serde_json::from_str(text).ok()?;
    message["result"]["protocolVersion"].as_str().map(str::to_owned)
}

//! A connection: requests and their answers, deliveries and notifications, until it ends.
//!
//! Two tasks: one writes what [`Connection`] queues, one reads and sorts. Both queues are bounded. Callers
//! wait when the outgoing one is full. The reader never waits, since the answer to a call may stand behind
//! what nobody takes: typing is dropped when the incoming queue is full, and anything else that finds it
//! full ends the connection, after which the host offers again what is unsettled.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chorus_core::delivery::Disposition;
use chorus_wire::attention::deliver::{Accepted, Deliver};
use chorus_wire::attention::descriptors::ToolList;
use chorus_wire::attention::disposition::{DispositionParams, DispositionResult};
use chorus_wire::attention::initialize::{InitializeParams, InitializeResult};
use chorus_wire::attention::method;
use chorus_wire::attention::notifications::{
    Cancelled, Closing, LogMessage, Progress, Typing, Wake,
};
use chorus_wire::attention::tools::CallResult;
use chorus_wire::jsonrpc::{self, ErrorObject, Id, Notification, Request, Response};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use super::life::{LOOK, Life, Verdict};
use super::socket::{self, Socket};
use crate::{Error, Result};

/// Frames waiting to be written.
const OUTGOING: usize = 64;
/// Messages waiting to be taken: 32 unacknowledged deliveries, and room for what is said about them.
const INCOMING: usize = 256;
/// Longest wait for the answer to a call.
const ANSWER: Duration = Duration::from_secs(30);

/// What the host sends.
#[derive(Debug)]
pub enum Incoming {
    /// To be answered with [`Connection::ack`] or [`Connection::nack`].
    Deliver {
        request_id: Id,
        deliver: Box<Deliver>,
    },
    Cancelled(Cancelled),
    Typing(Typing),
    Wake(Wake),
    Closing(Closing),
    /// The last one: the connection is over.
    Closed {
        reason: String,
    },
}

/// A handle on a connection; cheap to clone. When the last is dropped the connection is closed.
#[derive(Clone, Debug)]
pub struct Connection {
    out: mpsc::Sender<Message>,
    calls: Arc<Calls>,
    hello: Arc<InitializeResult>,
    url: Arc<str>,
}

/// Calls that wait for their answer.
#[derive(Debug, Default)]
struct Calls {
    next: AtomicI64,
    /// None once the connection has ended.
    open: Mutex<Option<HashMap<i64, oneshot::Sender<Answer>>>>,
}

type Answer = std::result::Result<Box<RawValue>, ErrorObject>;

/// Opens a connection to the host at `url` and introduces the harness. What the host sends comes out of the
/// receiver, which must be read.
pub async fn connect(
    url: &str,
    token: &str,
    params: &InitializeParams,
) -> Result<(Connection, mpsc::Receiver<Incoming>)> {
    let (sink, stream) = socket::open(url, token).await?.split();
    let (out, outgoing) = mpsc::channel(OUTGOING);
    let (incoming, receiver) = mpsc::channel(INCOMING);
    let calls = Arc::new(Calls::new());
    let url: Arc<str> = url.into();
    // The reader's hold on the outgoing queue is weak, so that it does not keep the connection open.
    let reader = Reader { incoming, calls: calls.clone(), out: out.downgrade() };
    tokio::spawn(write(sink, outgoing));
    tokio::spawn(reader.run(stream));
    let hello = request(&out, &calls, &url, method::INITIALIZE, params).await?;
    let connection = Connection { out, calls, hello: Arc::new(hello), url };
    Ok((connection, receiver))
}

impl Connection {
    /// What the host answered to `initialize`.
    pub fn hello(&self) -> &InitializeResult {
        &self.hello
    }

    /// Whether it still stands, as far as this side knows.
    pub fn is_open(&self) -> bool {
        !self.out.is_closed() && self.calls.lock().is_some()
    }

    /// Takes a delivery: from here on the harness answers for it.
    pub async fn ack(&self, request_id: &Id) -> Result<()> {
        self.write(&Response::result(request_id, Accepted { accepted: true })).await
    }

    /// Does not take it; the host offers it again.
    pub async fn nack(&self, request_id: &Id, error: ErrorObject) -> Result<()> {
        self.write(&Response::error(Some(request_id), error)).await
    }

    /// Makes a call and reads its result.
    pub async fn request<P: Serialize, R: DeserializeOwned>(
        &self,
        method: &str,
        params: &P,
    ) -> Result<R> {
        request(&self.out, &self.calls, &self.url, method, params).await
    }

    /// Calls a chat tool; a tool's refusal is [`Error::Refused`].
    pub async fn call_tool<A: Serialize>(&self, name: &str, arguments: &A) -> Result<Value> {
        let params = json!({"name": name, "arguments": arguments});
        let result: CallResult = self.request(method::TOOLS_CALL, &params).await?;
        result.into_result().map_err(Error::from_body)
    }

    pub async fn list_tools(&self) -> Result<ToolList> {
        self.request(method::TOOLS_LIST, &json!({})).await
    }

    /// Says how a delivery ended; `turn` is its turn's token.
    pub async fn disposition(
        &self,
        event_id: &str,
        disposition: Disposition,
        note: Option<String>,
        turn: Option<String>,
    ) -> Result<DispositionResult> {
        let params = DispositionParams { event_id: event_id.to_owned(), disposition, note, turn };
        self.request(method::DISPOSITION, &params).await
    }

    /// Says how far some work got; proof of life of the run.
    pub async fn progress(&self, progress: &Progress) -> Result<()> {
        self.notify(method::PROGRESS, progress).await
    }

    pub async fn typing(&self, conversation: &str, typing: bool) -> Result<()> {
        let conversation = conversation.to_owned();
        self.notify(method::TYPING, &Typing { conversation, author: None, typing }).await
    }

    /// Puts a line into the host's log.
    pub async fn log(&self, message: &LogMessage) -> Result<()> {
        self.notify(method::MESSAGE, message).await
    }

    pub async fn notify<P: Serialize>(&self, method: &str, params: &P) -> Result<()> {
        self.write(&Notification::new(method, params)).await
    }

    /// Ends the connection in good order.
    pub async fn close(&self) {
        // Already ended is just as well.
        let _ = self.out.send(Message::Close(None)).await;
    }

    async fn write<T: Serialize>(&self, message: &T) -> Result<()> {
        write_json(&self.out, &self.url, message).await
    }
}

impl Calls {
    fn new() -> Self {
        Self { next: AtomicI64::new(1), open: Mutex::new(Some(HashMap::new())) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<HashMap<i64, oneshot::Sender<Answer>>>> {
        // A map of senders is whole whatever panicked beside it.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new call; none when the connection has ended.
    fn begin(&self) -> Option<(i64, oneshot::Receiver<Answer>)> {
        let (sender, receiver) = oneshot::channel();
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().as_mut()?.insert(id, sender);
        Some((id, receiver))
    }

    fn take(&self, id: i64) -> Option<oneshot::Sender<Answer>> {
        self.lock().as_mut()?.remove(&id)
    }

    /// Fails all calls that wait, and those to come.
    fn end(&self) {
        self.lock().take();
    }
}

async fn request<P: Serialize, R: DeserializeOwned>(
    out: &mpsc::Sender<Message>,
    calls: &Calls,
    url: &str,
    method: &str,
    params: &P,
) -> Result<R> {
    let ended = || Error::unreachable(url, "the connection ended");
    let (number, answer) = calls.begin().ok_or_else(ended)?;
    let id = Id::Number(number);
    if let Err(error) = write_json(out, url, &Request::new(&id, method, params)).await {
        calls.take(number);
        return Err(error);
    }
    let result = match tokio::time::timeout(ANSWER, answer).await {
        Ok(answer) => answer.map_err(|_| ended())?.map_err(|e| Error::from_body(e.body()))?,
        Err(_) => {
            calls.take(number);
            return Err(Error::unreachable(url, format!("no answer to {method} in time")));
        }
    };
    serde_json::from_str(result.get()).map_err(|e| Error::Protocol(format!("{method}: {e}")))
}

async fn write_json<T: Serialize>(
    out: &mpsc::Sender<Message>,
    url: &str,
    message: &T,
) -> Result<()> {
    let text = serde_json::to_string(message)
        .map_err(|e| Error::Protocol(format!("a message that is no JSON: {e}")))?;
    let sent = out.send(Message::text(text)).await;
    sent.map_err(|_| Error::unreachable(url, "the connection ended"))
}

/// Writes what is queued until every handle is gone or the socket fails.
async fn write(mut sink: SplitSink<Socket, Message>, mut outgoing: mpsc::Receiver<Message>) {
    while let Some(message) = outgoing.recv().await {
        let last = matches!(message, Message::Close(_));
        if sink.send(message).await.is_err() || last {
            return;
        }
    }
    let _ = sink.close().await;
}

struct Reader {
    incoming: mpsc::Sender<Incoming>,
    calls: Arc<Calls>,
    out: mpsc::WeakSender<Message>,
}

impl Reader {
    async fn run(self, mut stream: SplitStream<Socket>) {
        let reason = self.read(&mut stream).await;
        self.calls.end();
        tracing::debug!(reason, "the C2A connection ended");
        // Waits: this is the one message that must not be lost, and nothing comes after it.
        let _ = self.incoming.send(Incoming::Closed { reason }).await;
    }

    /// Reads until the end, and says why it came.
    async fn read(&self, stream: &mut SplitStream<Socket>) -> String {
        let mut life = Life::new(Instant::now());
        let mut look = tokio::time::interval(LOOK);
        loop {
            let frame = tokio::select! {
                frame = stream.next() => frame,
                _ = look.tick() => {
                    match life.look(Instant::now()) {
                        Verdict::Alive => continue,
                        Verdict::Ask => self.try_write(Message::Ping(Default::default())),
                        Verdict::Dead => return "the host has gone silent".to_owned(),
                    }
                    continue;
                }
            };
            life.heard(Instant::now());
            let done = match frame {
                Some(Ok(Message::Text(text))) => self.text(&text),
                Some(Ok(Message::Close(frame))) => Err(frame
                    .map(|frame| frame.reason.to_string())
                    .filter(|reason| !reason.is_empty())
                    .unwrap_or_else(|| "closed".to_owned())),
                // Pings are answered by the socket itself.
                Some(Ok(_)) => Ok(()),
                Some(Err(error)) => Err(error.to_string()),
                None => Err("the connection broke".to_owned()),
            };
            if let Err(reason) = done {
                return reason;
            }
        }
    }

    /// Sorts one frame; the error ends the connection.
    fn text(&self, text: &str) -> std::result::Result<(), String> {
        match jsonrpc::Incoming::parse(text) {
            Ok(jsonrpc::Incoming::Request { id, method, params }) => {
                self.requested(id, &method, params)
            }
            Ok(jsonrpc::Incoming::Notification { method, params }) => {
                self.notified(&method, params)
            }
            Ok(jsonrpc::Incoming::Response { id, answer }) => {
                if let Some(Id::Number(number)) = id
                    && let Some(call) = self.calls.take(number)
                {
                    // Whoever called may have gone.
                    let _ = call.send(answer.map(RawValue::to_owned));
                } else if let Err(error) = answer {
                    tracing::warn!(
                        code = error.code,
                        message = error.message,
                        "an error without a call"
                    );
                }
                Ok(())
            }
            Err(error) => {
                tracing::warn!(error = error.message, "a frame that is no message");
                self.answer(&error.response(""));
                Ok(())
            }
        }
    }

    fn requested(
        &self,
        id: Id,
        method: &str,
        params: Option<&RawValue>,
    ) -> std::result::Result<(), String> {
        match method {
            method::DELIVER => match jsonrpc::params::<Deliver>(params) {
                Ok(deliver) => {
                    self.hand(Incoming::Deliver { request_id: id, deliver: Box::new(deliver) })?;
                }
                Err(error) => {
                    tracing::warn!(error, "a delivery that cannot be read");
                    self.answer(&Response::error(
                        Some(&id),
                        ErrorObject::invalid_params(error, ""),
                    ));
                }
            },
            method::PING => self.answer(&Response::result(&id, json!({}))),
            _ => {
                let error = ErrorObject::method_not_found(method, "");
                self.answer(&Response::error(Some(&id), error));
            }
        }
        Ok(())
    }

    fn notified(&self, method: &str, params: Option<&RawValue>) -> std::result::Result<(), String> {
        let message = match method {
            method::CANCELLED => jsonrpc::params(params).map(Incoming::Cancelled),
            method::TYPING => jsonrpc::params(params).map(Incoming::Typing),
            method::WAKE => jsonrpc::params(params).map(Incoming::Wake),
            method::CLOSING => jsonrpc::params(params).map(Incoming::Closing),
            // A newer host may say more.
            _ => return Ok(()),
        };
        match message {
            Ok(message) => self.hand(message),
            Err(error) => {
                tracing::warn!(method, error, "a notification that cannot be read");
                Ok(())
            }
        }
    }

    /// Hands a message to the harness without waiting.
    fn hand(&self, message: Incoming) -> std::result::Result<(), String> {
        match self.incoming.try_send(message) {
            Ok(()) | Err(mpsc::error::TrySendError::Full(Incoming::Typing(_))) => Ok(()),
            Err(mpsc::error::TrySendError::Full(_)) => {
                Err("the harness does not take what the host sends".to_owned())
            }
            Err(mpsc::error::TrySendError::Closed(_)) => Err("the harness has gone".to_owned()),
        }
    }

    fn answer<T: Serialize>(&self, message: &T) {
        if let Ok(text) = serde_json::to_string(message) {
            self.try_write(Message::text(text));
        }
    }

    /// Queues a small answer without waiting; when the queue is full the peer asks again.
    fn try_write(&self, message: Message) {
        if let Some(out) = self.out.upgrade() {
            let _ = out.try_send(message);
        }
    }
}

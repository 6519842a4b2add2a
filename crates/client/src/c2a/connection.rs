//! A connection: requests and their answers, deliveries and notifications, until it ends.
//!
//! Two tasks: one writes what [`Connection`] queues, one reads and sorts ([`super::reader`]). Both queues
//! are bounded. Callers wait when the outgoing one is full.

use std::sync::Arc;
use std::time::Duration;

use chorus_core::model::disposition::Disposition;
use chorus_wire::attention::deliver::Accepted;
use chorus_wire::attention::disposition::{DispositionParams, DispositionResult};
use chorus_wire::attention::initialize::{InitializeParams, InitializeResult};
use chorus_wire::attention::method;
use chorus_wire::attention::notifications::{LogMessage, Progress, Typing};
use chorus_wire::attention::tools::CallResult;
use chorus_wire::jsonrpc::{ErrorObject, Id, Notification, Request, Response};
use chorus_wire::tool_list::ToolList;
use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;

use super::calls::Calls;
use super::reader::{Incoming, Reader};
use super::socket::{self, Socket};
use crate::{Error, Result};

/// Frames waiting to be written.
const OUTGOING: usize = 64;
/// Messages waiting to be taken: 32 unacknowledged deliveries, and room for what is said about them.
const INCOMING: usize = 256;
/// Longest wait for the answer to a call.
const ANSWER: Duration = Duration::from_secs(30);

/// A handle on a connection; cheap to clone. When the last is dropped the connection is closed.
#[derive(Clone, Debug)]
pub struct Connection {
    out: mpsc::Sender<Message>,
    calls: Arc<Calls>,
    hello: Arc<InitializeResult>,
    url: Arc<str>,
}

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
        !self.out.is_closed() && self.calls.is_open()
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
        let params = DispositionParams {
            event_id: event_id.to_owned(),
            disposition: disposition.into(),
            note,
            turn,
        };
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

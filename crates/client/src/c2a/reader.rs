//! What the host sends, read and sorted: answers go to their calls, the rest to the harness.
//!
//! The reader never waits for the harness, since the answer to a call may stand behind what nobody takes:
//! typing and digests are dropped when the queue is full, and anything else that finds it full ends the connection, after
//! which the host offers again what is unsettled.

use std::sync::Arc;

use chorus_wire::attention::deliver::Deliver;
use chorus_wire::attention::method;
use chorus_wire::attention::notifications::{Cancelled, Closing, Digest, Typing};
use chorus_wire::attention::screen::Watch;
use chorus_wire::attention::wake::Wake;
use chorus_wire::jsonrpc::{self, ErrorObject, Id, Response};
use futures_util::StreamExt;
use futures_util::stream::SplitStream;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use super::calls::Calls;
use super::life::{LOOK, Life, Verdict};
use super::socket::Socket;

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
    Digest(Box<Digest>),
    Wake(Box<Wake>),
    Watch(Watch),
    Closing(Closing),
    /// The last one: the connection is over.
    Closed {
        reason: String,
    },
}

pub(super) struct Reader {
    pub(super) incoming: mpsc::Sender<Incoming>,
    pub(super) calls: Arc<Calls>,
    /// Weak, so that the reader does not keep the connection open.
    pub(super) out: mpsc::WeakSender<Message>,
}

impl Reader {
    pub(super) async fn run(self, mut stream: SplitStream<Socket>) {
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
    fn text(&self, text: &str) -> Result<(), String> {
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

    fn requested(&self, id: Id, method: &str, params: Option<&RawValue>) -> Result<(), String> {
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

    fn notified(&self, method: &str, params: Option<&RawValue>) -> Result<(), String> {
        let message = match method {
            method::CANCELLED => jsonrpc::params(params).map(Incoming::Cancelled),
            method::TYPING => jsonrpc::params(params).map(Incoming::Typing),
            method::DIGEST => jsonrpc::params(params).map(|d| Incoming::Digest(Box::new(d))),
            method::WAKE => jsonrpc::params(params).map(|wake| Incoming::Wake(Box::new(wake))),
            method::WATCH => jsonrpc::params(params).map(Incoming::Watch),
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
    fn hand(&self, message: Incoming) -> Result<(), String> {
        match self.incoming.try_send(message) {
            Ok(()) => Ok(()),
            // Soft: one that is missed is worth no connection.
            Err(mpsc::error::TrySendError::Full(
                Incoming::Typing(_) | Incoming::Digest(_) | Incoming::Watch(_),
            )) => Ok(()),
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

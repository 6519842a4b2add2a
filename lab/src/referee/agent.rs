//! An agent's end of a C2A connection, which does what a scene wants and nothing by itself.
//!
//! One task reads frames and sorts them: answers to whoever asked, deliveries and cancellations to where scenes look for
//! them. It ends with the connection.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::house::{House, Member, Said, outcome};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// How long a call may take.
const ANSWER: Duration = Duration::from_secs(30);

pub(super) struct Agent {
    pub(super) id: String,
    pub(super) session: String,
    sink: tokio::sync::Mutex<SplitSink<Socket, Message>>,
    next: AtomicU64,
    heard: Arc<Heard>,
    pump: JoinHandle<()>,
}

#[derive(Default)]
struct Heard {
    inbox: Mutex<Inbox>,
    news: Notify,
    gone: AtomicBool,
}

#[derive(Default)]
struct Inbox {
    answers: HashMap<u64, oneshot::Sender<Value>>,
    offers: VecDeque<Offer>,
    cancelled: Vec<Value>,
}

/// One offer of an event.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) frame: Value,
    pub(super) params: Value,
}

impl Offer {
    pub(super) fn event(&self) -> &str {
        self.params["eventId"].as_str().unwrap_or_default()
    }

    pub(super) fn turn(&self) -> &Value {
        &self.params["turn"]["token"]
    }

    pub(super) fn policy(&self) -> &str {
        self.params["attention"]["policy"].as_str().unwrap_or_default()
    }

    pub(super) fn conversation(&self) -> &str {
        self.params["conversation"]["id"].as_str().unwrap_or_default()
    }
}

impl Heard {
    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Agent {
    /// Connects, as a new session or as one that it had before.
    pub(super) async fn connect(
        house: &House,
        member: &Member,
        session: Option<&str>,
    ) -> Result<Self, String> {
        let url = house.url.replace("http://", "ws://");
        let failed = |e: &dyn std::fmt::Display| format!("{} does not connect: {e}", member.id);
        let mut request = format!("{url}/v1/c2a").into_client_request().map_err(|e| failed(&e))?;
        let bearer = format!("Bearer {}", member.token).parse();
        request.headers_mut().insert("authorization", bearer.map_err(|_| failed(&"its token"))?);
        let (socket, _) = tokio_tungstenite::connect_async_with_config(request, None, true)
            .await
            .map_err(|e| failed(&e))?;
        let (sink, stream) = socket.split();
        let heard = Arc::new(Heard::default());
        let mut agent = Self {
            id: member.id.clone(),
            session: String::new(),
            sink: tokio::sync::Mutex::new(sink),
            next: AtomicU64::new(1),
            pump: tokio::spawn(pump(stream, heard.clone())),
            heard,
        };
        let session = session.map_or(json!({}), |id| json!({ "id": id }));
        let hello = json!({
            "protocolVersion": "2026-06-02",
            "clientInfo": { "name": "referee", "version": "1" },
            "session": session,
        });
        let hello = agent.call("initialize", hello).await.given()?;
        agent.session = hello["session"]["id"].as_str().unwrap_or_default().to_owned();
        Ok(agent)
    }

    /// Whether the connection has ended.
    pub(super) fn is_gone(&self) -> bool {
        self.heard.gone.load(Ordering::SeqCst)
    }

    /// Drops the connection without a word.
    pub(super) fn drop_connection(self) {
        self.pump.abort();
    }

    pub(super) async fn call(&self, method: &str, params: Value) -> Said {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, wait) = oneshot::channel();
        self.heard.inbox().answers.insert(id, answer);
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        if self.is_gone() || self.write(&call).await.is_err() {
            return Said::Lost;
        }
        match tokio::time::timeout(ANSWER, wait).await {
            Ok(Ok(answer)) => outcome(&answer),
            _ => Said::Lost,
        }
    }

    pub(super) async fn tool(&self, name: &str, arguments: Value) -> Said {
        self.call("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    /// Acknowledges an offer. It says nothing else, so that nothing else counts as life.
    pub(super) async fn accept(&self, offer: &Offer) {
        let taken = json!({ "jsonrpc": "2.0", "id": offer.frame, "result": { "accepted": true } });
        // A connection that has ended is seen by whoever asks next.
        let _ = self.write(&taken).await;
    }

    /// The next offer, not acknowledged.
    pub(super) async fn offer(&self, limit: Duration) -> Option<Offer> {
        self.offer_that(limit, |_| true).await
    }

    /// The next offer of this event; others stay for whoever asks for them.
    pub(super) async fn offer_of(&self, event: &str, limit: Duration) -> Option<Offer> {
        self.offer_that(limit, |offer| offer.event() == event).await
    }

    pub(super) async fn offer_that(
        &self,
        limit: Duration,
        wanted: impl Fn(&Offer) -> bool,
    ) -> Option<Offer> {
        self.look(limit, |inbox| {
            let place = inbox.offers.iter().position(&wanted)?;
            inbox.offers.remove(place)
        })
        .await
    }

    /// The next offer of this event, acknowledged.
    pub(super) async fn take(&self, event: &str, limit: Duration) -> Result<Offer, String> {
        let offer = self.offer_of(event, limit).await;
        let offer = offer.ok_or_else(|| format!("{} was not offered {event}", self.id))?;
        self.accept(&offer).await;
        Ok(offer)
    }

    /// Whether it was told within the limit that this event is wanted no more.
    pub(super) async fn is_cancelled(&self, event: &str, limit: Duration) -> bool {
        let found = self.look(limit, |inbox| {
            inbox.cancelled.iter().any(|told| told["eventId"] == event).then_some(())
        });
        found.await.is_some()
    }

    /// Looks until there is something, the limit is over or the connection has ended.
    async fn look<T>(
        &self,
        limit: Duration,
        mut find: impl FnMut(&mut Inbox) -> Option<T>,
    ) -> Option<T> {
        let began = Instant::now();
        loop {
            let news = self.heard.news.notified();
            if let Some(found) = find(&mut self.heard.inbox()) {
                return Some(found);
            }
            if self.is_gone() {
                return None;
            }
            let left = limit.checked_sub(began.elapsed())?;
            // A wake that was meant for another look is made up for by the next.
            let _ = tokio::time::timeout(left.min(Duration::from_millis(200)), news).await;
        }
    }

    /// Answers an event in its turn, under the key that each of its runs would use.
    pub(super) async fn reply(&self, offer: &Offer, words: &str) -> Said {
        self.tool("chat.send_message", answer(offer, words)).await
    }

    /// Ends a run with a disposition.
    pub(super) async fn dispose(&self, offer: &Offer, disposition: &str) -> Said {
        let end =
            json!({ "eventId": offer.event(), "disposition": disposition, "turn": offer.turn() });
        self.call("chat/disposition", end).await
    }

    pub(super) async fn react(&self, offer: &Offer, signal: &str) -> Said {
        let args = json!({ "inReplyTo": offer.event(), "signal": signal, "turn": offer.turn() });
        self.tool("chat.react", args).await
    }

    async fn write(&self, frame: &Value) -> Result<(), ()> {
        let sent = self.sink.lock().await.send(Message::text(frame.to_string())).await;
        sent.map_err(|_| ())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.pump.abort();
    }
}

/// The arguments of an answer.
pub(super) fn answer(offer: &Offer, words: &str) -> Value {
    let dm = offer.params["conversation"]["kind"] == "dm";
    json!({
        "target": { "conversation": offer.conversation() },
        "inReplyTo": offer.event(),
        "idempotencyKey": format!("reply:{}:1", offer.event()),
        "visibility": if dm { "dm" } else { "channel" },
        "directedness": "to_other",
        "text": words,
        "turn": offer.turn(),
    })
}

async fn pump(mut stream: SplitStream<Socket>, heard: Arc<Heard>) {
    while let Some(Ok(message)) = stream.next().await {
        let Message::Text(text) = message else { continue };
        let Ok(frame) = serde_json::from_str::<Value>(&text) else { continue };
        let mut inbox = heard.inbox();
        match frame["method"].as_str() {
            None => {
                let asked = frame["id"].as_u64().and_then(|id| inbox.answers.remove(&id));
                if let Some(asked) = asked {
                    // Who asked may have given up.
                    let _ = asked.send(frame);
                }
            }
            Some("chat/deliver") => {
                let (frame, params) = (frame["id"].clone(), frame["params"].clone());
                inbox.offers.push_back(Offer { frame, params });
            }
            Some("notifications/cancelled") => inbox.cancelled.push(frame["params"].clone()),
            Some(_) => {}
        }
        drop(inbox);
        heard.news.notify_waiters();
    }
    heard.gone.store(true, Ordering::SeqCst);
    heard.inbox().answers.clear();
    heard.news.notify_waiters();
}

//! One C2A connection, from its `initialize` to its end. One task: it reads frames, answers calls in the order
//! in which they are decided, and writes offers and notes from the connection's queues.
//!
//! Everything is bounded: calls under way, offers unacknowledged, queues, and the time a write may take. A
//! connection that does not keep up stops being read from, and hurts nobody else.

mod acknowledged;

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use acknowledged::TOO_MANY_PINGS;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use chorus_core::model::attention::Mode;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::EventRef;
use chorus_core::model::offer::Offer;
use chorus_wire::attention::initialize::Capabilities;
use chorus_wire::attention::method;
use chorus_wire::attention::notifications::Closing;
use chorus_wire::jsonrpc::{ErrorObject, Incoming, Notification, Response};
use chorus_wire::tool::Names;
use futures_util::stream::{FuturesUnordered, SplitStream};
use futures_util::{FutureExt, SinkExt, StreamExt};
use serde_json::value::RawValue;

use super::dispatch::{self, Context};
use super::hello;
use super::outbound::Outbound;
use super::sink::{Out, json};
use crate::auth::{Caller, SKEW_MS};
use crate::dispatch::connections::{
    BACKLOG, Connection, Note, Outgoing, Queues, STOPPING, TOKEN_ENDED,
};
use crate::dispatch::frames::{self, Granted};
use crate::dispatch::recent_offers::RecentOffers;
use crate::limits::{Bucket, Wait};
use crate::request;
use crate::services::App;
use crate::traces;
use crate::transport::refused::{log, request_id, too_much};

/// The longest that saying why a connection ends may take.
const GOODBYE: Duration = Duration::from_secs(5);
/// Calls of one connection under way; when there are more, it is not read from.
const CALLS: usize = 64;

/// Why a connection ends on which a text was none.
const NO_TEXT: &str = "a text frame is not UTF-8";

type Calls = FuturesUnordered<Pin<Box<dyn Future<Output = Option<String>> + Send>>>;

/// The end of a connection: the reason, when there is one to tell.
struct Ended(Option<&'static str>);

/// Serves one connection to its end.
pub(super) async fn serve(app: Arc<App>, caller: Caller, names: Names, socket: WebSocket) {
    let (mut out, mut frames) = socket.split();
    let hello_within = app.shared.pace.hello_within;
    let hello = tokio::time::timeout(
        hello_within,
        hello::greet(&app, caller, names, &mut out, &mut frames),
    );
    let Ok(Some((context, session))) = hello.await else {
        let _ =
            tokio::time::timeout(hello_within, close(&mut out, "initialize did not come")).await;
        return;
    };
    let can = context.can.unwrap_or_else(Capabilities::all);
    let (connection, queues) = app.shared.connections.open_with(session.key, session.member, can);
    let by = context.caller.by;
    app.sessions.listens(by, &session);
    let run = Run {
        app: app.clone(),
        stands: RecentOffers::default(),
        context: Arc::new(context),
        connection: connection.clone(),
        queues,
        outbound: Outbound::new(),
        bucket: app.shared.limits.bucket(),
        pings: app.shared.limits.ping_bucket(),
        pinged: false,
        calls: Calls::new(),
        heard: Instant::now(),
        out,
    };
    run.until_end(&mut frames).await;
    if app.shared.connections.remove(&connection) {
        app.sessions.close_session(by, session.key);
    }
}

struct Run {
    app: Arc<App>,
    context: Arc<Context>,
    connection: Arc<Connection>,
    queues: Queues,
    outbound: Outbound,
    /// How much it may still ask for.
    bucket: Bucket,
    /// How much it may still send that asks for nothing.
    pings: Bucket,
    /// A ping of ours is to be answered.
    pinged: bool,
    calls: Calls,
    /// Where the events stand that it was offered.
    stands: RecentOffers,
    heard: Instant,
    out: Out,
}

impl Run {
    async fn until_end(mut self, frames: &mut SplitStream<WebSocket>) {
        let Ended(why) = match self.turn_around(frames).await {
            Ok(never) => match never {},
            Err(ended) => ended,
        };
        let longest = GOODBYE.min(self.app.shared.pace.dead_after);
        let Some(why) = why else {
            // Its close frame is answered.
            let _ = tokio::time::timeout(longest, self.out.flush()).await;
            return;
        };
        let closing = Notification::new(method::CLOSING, Closing { reason: why.to_owned() });
        let goodbye = async {
            if why == STOPPING {
                // What was asked is answered first.
                while let Some(answer) = self.calls.next().await {
                    if let Some(text) = answer {
                        let _ = self.out.send(Message::text(text)).await;
                    }
                }
            }
            let _ = self.out.send(Message::text(json(&closing))).await;
            close(&mut self.out, why).await;
        };
        // A peer that does not read does not hear why.
        let _ = tokio::time::timeout(longest, goodbye).await;
    }

    async fn turn_around(
        &mut self,
        frames: &mut SplitStream<WebSocket>,
    ) -> Result<std::convert::Infallible, Ended> {
        let mut ping = tokio::time::interval(self.app.shared.pace.ping_every);
        ping.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let caller = &self.context.caller;
        let left = caller.expires.plus(SKEW_MS).since(self.app.now());
        let expiry = tokio::time::sleep(Duration::from_millis(left as u64));
        tokio::pin!(expiry);
        let connection = self.connection.clone();
        loop {
            self.write_what_is_ready().await?;
            let takes_more = self.outbound.takes_more();
            tokio::select! {
                why = connection.closed() => return Err(Ended(Some(why))),
                frame = frames.next(), if self.calls.len() < CALLS => self.frame(frame)?,
                Some(answer) = self.calls.next() => {
                    if let Some(text) = answer {
                        self.feed(Message::text(text)).await?;
                    }
                }
                Some(note) = self.queues.notes.recv() => self.note(note).await?,
                Some(outgoing) = self.queues.offers.recv(), if takes_more => self.outbound.hold(*outgoing),
                _ = ping.tick() => self.ping().await?,
                () = &mut expiry => self.check_token()?,
                () = connection.token_in_doubt() => self.check_token()?,
            }
        }
    }

    /// Writes all that needs no waiting for, then hands it to the network at once.
    async fn write_what_is_ready(&mut self) -> Result<(), Ended> {
        while let Some(Some(answer)) = self.calls.next().now_or_never() {
            if let Some(text) = answer {
                self.feed(Message::text(text)).await?;
            }
        }
        self.ask_what_is_owed().await;
        self.collect();
        // What an edit takes back is taken back before anything else is offered.
        while let Ok(note) = self.queues.notes.try_recv() {
            self.note(note).await?;
        }
        while self.outbound.has_room()
            && let Some(offer) = self.outbound.backlog.pop_front()
        {
            let directory = self.app.directory();
            let id = &self.app.shared.workspace_id;
            let shared = Arc::new(frames::shared(&offer.entry, &directory, id));
            let span = self.app.shared.traces.offer(&offer);
            self.offer(Outgoing { shared, offer, span }).await?;
        }
        while let Some(outgoing) = self.outbound.next() {
            self.offer(outgoing).await?;
        }
        self.within(|out| Box::pin(out.flush())).await
    }

    /// Takes what came live out of the queue, so that acknowledgements and withdrawals find it.
    fn collect(&mut self) {
        while self.outbound.takes_more()
            && let Ok(outgoing) = self.queues.offers.try_recv()
        {
            self.outbound.hold(*outgoing);
        }
    }

    /// Once nothing is under way: what the session missed while it was away, before what comes live, or what it was
    /// too slow for, after that.
    async fn ask_what_is_owed(&mut self) {
        self.outbound.behind |= self.connection.take_lagging();
        let due = !self.outbound.is_up_to_date()
            || (self.outbound.behind && self.queues.offers.is_empty());
        if !due || !self.outbound.is_idle() {
            return;
        }
        self.outbound.caught_up(false);
        let by = self.context.caller.by;
        match self.app.sessions.owed(by, self.connection.session, BACKLOG).await {
            Ok((mut offers, more)) => {
                offers.retain(|offer| self.shown_as(offer).is_some());
                // Where nothing can be sent, nothing waits behind it.
                self.outbound.caught_up(more && !offers.is_empty());
                self.outbound.backlog.extend::<Vec<Offer>>(offers);
            }
            // The host stops, or the session is gone; the connection ends of itself.
            Err(refusal) => {
                tracing::debug!(code = ?refusal.code, "what is owed could not be asked for")
            }
        }
    }

    fn frame(&mut self, frame: Option<Result<Message, axum::Error>>) -> Result<(), Ended> {
        let frame = match frame {
            Some(Ok(frame)) => frame,
            // The only word there is for it is the library's.
            Some(Err(error)) if error.to_string().contains("UTF-8") => {
                return Err(Ended(Some(NO_TEXT)));
            }
            _ => return Err(Ended(None)),
        };
        self.heard = Instant::now();
        match frame {
            Message::Text(text) => self.incoming(text.as_bytes()),
            Message::Binary(bytes) => self.incoming(&bytes),
            Message::Close(_) => Err(Ended(None)),
            // Pings are answered by the socket itself.
            Message::Ping(_) => self.asked_for_nothing(),
            Message::Pong(_) if self.pinged => {
                self.pinged = false;
                Ok(())
            }
            Message::Pong(_) => self.asked_for_nothing(),
        }
    }

    fn incoming(&mut self, bytes: &[u8]) -> Result<(), Ended> {
        let incoming = Incoming::parse_bytes(bytes);
        // An acknowledgement asks for nothing.
        let asks = !matches!(incoming, Ok(Incoming::Response { .. }));
        let is_ping =
            matches!(&incoming, Ok(Incoming::Request { method, .. }) if *method == method::PING);
        if asks && let Some(wait) = self.too_much(is_ping) {
            self.app.shared.metrics.refused(Code::RateLimited);
            // Nobody waits for the answer to anything but a request.
            if let Ok(Incoming::Request { id, .. }) = incoming {
                let text = dispatch::refused(&id, &too_much(wait));
                self.call(async move { Some(text) });
            }
            return Ok(());
        }
        match incoming {
            Ok(Incoming::Request { id, method, params }) => {
                let (context, method) = (self.context.clone(), method.into_owned());
                let params = params.map(RawValue::to_owned);
                let stopped = context.under_way.begin(&id);
                self.call(async move {
                    let answer = dispatch::requested(&context, &id, &method, params.as_deref());
                    let text = tokio::select! {
                        // What is answered already is answered.
                        biased;
                        text = answer => Some(text),
                        Ok(()) = stopped => None,
                    };
                    context.under_way.end(&id);
                    text
                });
            }
            Ok(Incoming::Notification { method, params }) => {
                let (context, method) = (self.context.clone(), method.into_owned());
                let params = params.map(RawValue::to_owned);
                self.call(async move {
                    let taken = dispatch::notified(&context, &method, params.as_deref()).await;
                    if let Err(refusal) = taken {
                        log(&refusal, &request_id());
                    }
                    None
                });
            }
            Ok(Incoming::Response { id, answer }) => {
                self.acknowledged(id, answer.is_ok())?;
            }
            Err(error) => {
                let text = json(&error.response(request_id()));
                self.call(async move { Some(text) });
            }
        }
        Ok(())
    }

    /// Whether the connection, its session or its member has asked for too much; of pings there are fewer.
    fn too_much(&mut self, is_ping: bool) -> Option<Wait> {
        let (by, now) = (self.context.caller.by, self.app.now());
        let pings = if is_ping { self.pings.take(now) } else { Ok(()) };
        pings.and_then(|()| self.app.shared.limits.frame(&mut self.bucket, by, now)).err()
    }

    fn call(&mut self, call: impl Future<Output = Option<String>> + Send + 'static) {
        let span = self.app.shared.traces.begin("call", None);
        // Its state is large, and would be moved with each layer around it.
        let call = Box::pin(call);
        self.calls.push(Box::pin(request::scoped(async move {
            traces::within(span.as_ref(), call).await
        })));
    }

    /// How the harness is shown it; none where it cannot be, or takes nothing twice and has it.
    fn shown_as(&self, offer: &Offer) -> Option<Mode> {
        let Capabilities { delivery, injection, .. } = self.connection.can;
        let again = offer.taken || self.outbound.was_sent(offer.entry.event.uid);
        injection.shows(offer.decision.mode).filter(|_| delivery.redelivery || !again)
    }

    /// Sends it as it was agreed on at `initialize`: what the harness cannot be shown, or not twice, stays in its
    /// mailbox, where `chat.list_events` shows it as unsettled.
    async fn offer(&mut self, outgoing: Outgoing) -> Result<(), Ended> {
        let Outgoing { shared, mut offer, span } = outgoing;
        let event = offer.entry.event.uid;
        if self.outbound.is_stale(event, offer.attempt) || self.app.messages.is_gone(&offer) {
            return Ok(());
        }
        let Some(mode) = self.shown_as(&offer) else { return Ok(()) };
        offer.decision.mode = mode;
        let delivery = self.connection.can.delivery;
        if !delivery.redelivery {
            self.outbound.once(event);
        }
        let channel = self.app.runs.channel_delivery(&self.context.caller, &offer).await;
        let (now, directory) = (self.app.now(), self.app.directory());
        let granted = Granted::to(&self.context.caller, &self.app.shared.auth, now);
        let frame = if delivery.ack { frames::frame } else { frames::unanswered };
        let text = frame(&shared, &offer, channel.as_ref(), &directory, granted);
        self.connection.listen(offer.entry.conversation.uid, now);
        if delivery.ack {
            let span = self.app.shared.traces.delivery(span);
            self.outbound.sent(event, offer.attempt, Instant::now(), span);
            self.stands.put(event, offer.entry.conversation, offer.entry.event.seq);
            return self.feed(Message::text(text)).await;
        }
        self.outbound.told(event, offer.attempt);
        self.feed(Message::text(text)).await?;
        // Nothing more will be heard of it: what was written is taken.
        let seq = offer.entry.event.seq;
        let at = EventRef { conversation: offer.entry.conversation.key, seq };
        let refused = |refusal| log(&refusal, &request_id());
        self.app.dispositions.accept(self.context.caller.by, at, offer.attempt, refused);
        Ok(())
    }

    async fn note(&mut self, note: Note) -> Result<(), Ended> {
        if let Some(event) = note.withdraws {
            self.collect();
            self.outbound.withdrawn(event);
            if !self.connection.can.utilities.cancellation {
                return Ok(());
            }
        }
        self.feed(Message::text(note.text)).await
    }

    async fn ping(&mut self) -> Result<(), Ended> {
        if self.heard.elapsed() >= self.app.shared.pace.dead_after {
            return Err(Ended(Some("nothing was heard for too long")));
        }
        self.outbound.forget_old(Instant::now());
        self.check_token()?;
        self.pinged = true;
        self.feed(Message::Ping(Default::default())).await
    }

    fn check_token(&self) -> Result<(), Ended> {
        if self.app.identity.still_valid(&self.context.caller) {
            return Ok(());
        }
        Err(Ended(Some(TOKEN_ENDED)))
    }

    async fn feed(&mut self, message: Message) -> Result<(), Ended> {
        self.within(|out| Box::pin(out.feed(message))).await
    }

    /// A write, unless it takes so long that the peer must be dead or stuck.
    async fn within<'a>(
        &'a mut self,
        write: impl FnOnce(
            &'a mut Out,
        )
            -> Pin<Box<dyn Future<Output = Result<(), axum::Error>> + Send + 'a>>,
    ) -> Result<(), Ended> {
        let mut write = write(&mut self.out);
        // Most writes end at once, and need no timer.
        let written = match (&mut write).now_or_never() {
            Some(written) => Ok(written),
            None => tokio::time::timeout(self.app.shared.pace.dead_after, write).await,
        };
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Ended(None)),
            Err(_) => Err(Ended(Some("the connection is not read from"))),
        }
    }
}

async fn close(out: &mut Out, why: &'static str) {
    let code = match why {
        STOPPING => close_code::RESTART,
        TOKEN_ENDED | TOO_MANY_PINGS => close_code::POLICY,
        NO_TEXT => close_code::INVALID,
        _ => close_code::NORMAL,
    };
    let frame = CloseFrame { code, reason: why.into() };
    let _ = out.send(Message::Close(Some(frame))).await;
}

/// An error that answers no request: JSON-RPC gives it the id null.
fn unasked(refusal: &Refusal) -> String {
    let request_id = request_id();
    log(refusal, &request_id);
    json(&Response::error(None, ErrorObject::of(refusal, request_id)))
}

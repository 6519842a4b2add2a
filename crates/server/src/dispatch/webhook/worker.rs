//! One endpoint, served: its session, what it is offered, and the posts under way.

mod joining;
mod taking;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue};
use chorus_core::commands::{directory, endpoints};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::delivery::Retry;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::endpoint::{Act, Endpoint, RUNTIME};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{ConversationKey, EventRef, Prefix, SessionKey, Timestamp, Uid};
use chorus_core::model::member::Session;
use chorus_core::model::offer::Offer;
use chorus_wire::webhook::IDEMPOTENCY_KEY;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hashlink::LruCache;
use tokio::sync::watch;

use super::health::Health;
use super::payload;
use super::queue::{Queue, next};
use super::state::Webhooks;
use crate::auth::{Caller, Stem};
use crate::dispatch::connections::{BACKLOG, Connection, Queues, STOPPING};
use crate::dispatch::webhook::handles::Handles;
use crate::egress::{self, Answer, To};
use crate::services::endpoints::Reached;
use crate::telemetry::Outcome as Posted;

/// Posts of one delivery before it is a dead letter: with the waits between them two minutes, or as long as the
/// breaker lets the endpoint be.
const TRIES: u8 = 8;
/// Deliveries that were taken lately and are remembered.
const LATELY: usize = 4_096;
/// Offers held for one endpoint beyond those in its connection's queue.
const HELD: usize = 256;
/// What is owed is asked for when fewer than so many are held.
const FEW: usize = 64;
/// How long a worker waits that could not have its session, or has lost it.
const PAUSE: Duration = Duration::from_secs(1);

type Posts = FuturesUnordered<Pin<Box<dyn Future<Output = (ConversationKey, Answer)> + Send>>>;

/// Why a worker stops being served.
enum End {
    /// The endpoint is another one now, or gone, or the host stops.
    Over,
    /// It is down: it is let be for so long.
    Down(Duration),
    /// Its connection has ended, as when the database was away.
    Cut,
}

pub(super) struct Worker {
    host: Arc<Handles>,
    endpoint: Arc<Endpoint>,
    health: Arc<Health>,
    stop: watch::Receiver<bool>,
    /// What was taken lately, with which attempt, and how that ended it.
    lately: LruCache<Uid, (u16, Option<Disposition>)>,
}

/// The session while it is held, and what goes through it.
struct Held {
    by: By,
    caller: Caller,
    session: SessionKey,
    connection: Arc<Connection>,
    queues: Queues,
    lines: HashMap<ConversationKey, Queue>,
    posts: Posts,
    /// Offers in the lines.
    count: usize,
    behind: bool,
}

impl Worker {
    pub(super) fn of(
        host: Arc<Handles>,
        endpoint: Arc<Endpoint>,
        stop: watch::Receiver<bool>,
    ) -> Self {
        let health = host.webhooks.health(endpoint.member);
        Self { host, endpoint, health, stop, lately: LruCache::new(LATELY) }
    }

    pub(super) async fn run(mut self) {
        let to = match self.host.endpoints.reached(&self.endpoint) {
            Ok(to) => Arc::new(to),
            Err(refusal) => return self.health.refused(refusal.message, self.host.clock.now()),
        };
        while !*self.stop.borrow() {
            let Some(mut held) = self.open().await else {
                self.rest(PAUSE).await;
                continue;
            };
            self.resume_runs(&mut held).await;
            let end = self.serve(&to, &mut held).await;
            if self.host.connections.remove(&held.connection) {
                self.host.webhooks.acceptances.flush();
                self.host.sessions.close_session(held.by, held.session);
            }
            self.host.webhooks.runs.forget(self.endpoint.member);
            self.health.waiting(0);
            match end {
                End::Over => return,
                End::Down(rest) => {
                    self.rest(rest).await;
                    self.health.try_again();
                }
                End::Cut => self.rest(PAUSE).await,
            }
        }
    }

    /// Waits, unless it is stopped.
    async fn rest(&mut self, time: Duration) {
        tokio::select! {
            () = stopped(&mut self.stop) => {}
            () = self.host.clock.wait(time) => {}
        }
    }

    /// Takes the agent's session up.
    async fn open(&mut self) -> Option<Held> {
        let host = &self.host;
        let member =
            host.directory.load().member(self.endpoint.member).filter(|m| !m.removed)?.clone();
        if host.drain.is_draining() {
            return None;
        }
        let known = self.session();
        let by = By { member: member.key, session: None, authority: Authority::Worker, turn: None };
        let open = directory::OpenSession {
            uid: known.map(|s| s.uid),
            runtime: RUNTIME.to_owned(),
            ..Default::default()
        };
        let session = match host.commands.change(by, open).await {
            Ok(session) => session,
            other => {
                let code = other.err().map(|refusal| refusal.code);
                tracing::debug!(?code, "an endpoint's session could not be opened");
                return None;
            }
        };
        let (connection, queues) = host.connections.open(session.key, member.key);
        let by = By { session: Some(session.key), ..by };
        let caller = Caller {
            member,
            by,
            jti: None,
            expires: Timestamp(i64::MAX),
            session: Some(session.uid),
            turn: None,
            turn_key: None,
            stem: Stem::Endpoint { epoch: self.endpoint.epoch },
            parents: [].into(),
        };
        Some(Held {
            by,
            caller,
            session: session.key,
            connection,
            queues,
            lines: HashMap::new(),
            posts: Posts::new(),
            count: 0,
            behind: true,
        })
    }

    /// The session with which the endpoint was served before.
    fn session(&self) -> Option<Arc<Session>> {
        let directory = self.host.directory.load();
        let mut sessions = directory.sessions.values();
        let mine = |s: &&Arc<Session>| s.member == self.endpoint.member && *s.runtime == *RUNTIME;
        sessions.find(mine).cloned()
    }

    async fn serve(&mut self, to: &Arc<Reached>, held: &mut Held) -> End {
        let (connection, mut stop) = (held.connection.clone(), self.stop.clone());
        let ended = async {
            tokio::select! {
                why = connection.closed() => if why == STOPPING { End::Over } else { End::Cut },
                () = stopped(&mut stop) => End::Over,
            }
        };
        // Made once: each delivery goes through the loop twice, and what seldom happens is not to be waited for anew
        // each time.
        let (host, mut sleeps_until) = (self.host.clone(), None);
        let (sleep, lagged) = (host.clock.until(sleeps_until), connection.token_in_doubt());
        tokio::pin!(ended, sleep, lagged);
        loop {
            self.ask_what_is_owed(held).await;
            let now = self.host.clock.now();
            if self.post_what_is_ready(to, held, now).await.is_err() {
                // Whatever is owed is offered anew once there is a session again.
                return End::Down(PAUSE);
            }
            self.health.waiting(held.count);
            let until = next(held.lines.values(), now);
            if sleeps_until != until {
                sleeps_until = until;
                sleep.set(host.clock.until(until));
            }
            tokio::select! {
                end = &mut ended => return end,
                Some((key, answer)) = held.posts.next() => {
                    if let Some(end) = self.answered(held, key, answer).await {
                        return end;
                    }
                }
                Some(note) = held.queues.notes.recv() => {
                    self.heard(held, &note);
                }
                Some(outgoing) = held.queues.offers.recv(), if held.count < HELD => {
                    self.take(held, outgoing.offer);
                    while held.count < HELD && let Ok(next) = held.queues.offers.try_recv() {
                        self.take(held, next.offer);
                    }
                }
                () = &mut sleep => {
                    sleeps_until = None;
                    sleep.set(host.clock.until(None));
                }
                // Nothing is pulled while the queue is full: who lags asks for what it is owed.
                () = &mut lagged => lagged.set(connection.token_in_doubt()),
            }
        }
    }

    fn take(&mut self, held: &mut Held, mut offer: Offer) {
        // The database was away before it was noted that the agent has it, or it was offered before a post that was taken.
        let known = self.lately.peek(&offer.entry.event.uid).copied();
        if let Some((_, ends)) = known.filter(|(attempt, _)| offer.attempt <= *attempt) {
            return self.note_taken(held.by, &offer, ends);
        }
        offer.retry = offer.retry.filter(|retry| retry.epoch == self.endpoint.epoch);
        let conversation = &offer.entry.conversation;
        let (key, compose, now) =
            (conversation.key, self.host.webhooks.compose, self.host.clock.now());
        // Who types there from now on is told to it.
        held.connection.listen(conversation.uid, now);
        let line = held.lines.entry(key).or_insert_with(|| Queue::new(compose));
        if !offer.reminds {
            self.add_to_run(line, &offer);
        }
        line.push(offer, now);
        held.count += 1;
    }

    async fn ask_what_is_owed(&mut self, held: &mut Held) {
        held.behind |= held.connection.take_lagging();
        if !held.behind || held.count >= FEW || !held.queues.offers.is_empty() {
            return;
        }
        held.behind = false;
        match self.host.sessions.owed(held.by, held.session, BACKLOG).await {
            Ok((offers, more)) => {
                held.behind = more;
                offers.into_iter().for_each(|offer| self.take(held, offer));
            }
            Err(refusal) => {
                tracing::debug!(code = ?refusal.code, "what is owed could not be asked for")
            }
        }
    }

    /// Begins the posts that are due, as many as may be under way.
    async fn post_what_is_ready(
        &mut self,
        to: &Arc<Reached>,
        held: &mut Held,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let most = match self.health.is_half_open() {
            true => 1,
            false => self.host.webhooks.concurrency,
        };
        let (host, member) = (self.host.clone(), self.endpoint.member);
        let runs = &host.webhooks.runs;
        let Held { lines, posts, caller, by, .. } = held;
        lines.values_mut().for_each(|line| line.ripen(now));
        while posts.len() < most {
            // Who has waited longest is first.
            let due = lines.iter_mut().filter_map(|(key, line)| Some((line.due(now)?, key, line)));
            let Some((_, key, line)) = due.min_by_key(|(since, key, _)| (*since, **key)) else {
                break;
            };
            self.join(*by, line).await;
            match self.is_to_be_posted(*by, line).await {
                Ok(true) => {}
                Ok(false) => {
                    self.taken(*by, line, now);
                    continue;
                }
                // It was settled so long ago that nobody remembers the offer.
                Err(refusal) if refusal.code == Code::Conflict => {
                    line.done();
                    continue;
                }
                Err(refusal) => return Err(refusal),
            }
            let Some(thought) = line.start() else { break };
            let Some(offer) = thought.newest().map(|f| &f.item) else { break };
            if self.host.messages.is_gone(offer) {
                line.done();
                continue;
            }
            let turn = self.host.runs.channel_delivery(caller, offer).await;
            let Some(body) = payload::encode(&self.host, &self.endpoint, thought, turn) else {
                line.done();
                continue;
            };
            let mut id = offer.entry.event.uid.show(Prefix::Event);
            if offer.reminds {
                // Whoever knows messages by their ids would drop it for the message.
                id = format!("{id}-reminder-{}", thought.posted);
            }
            // Before it goes out: the agent may answer sooner than the post does.
            if self.host.webhooks.compose.is_some() && !offer.reminds {
                runs.begin(member, at(offer));
            }
            let (host, to, key) = (self.host.clone(), to.clone(), *key);
            let whose = To::Endpoint(self.endpoint.member);
            posts.push(Box::pin(async move {
                let Webhooks { places, egress, timeout, .. } = &*host.webhooks;
                let _place = places.take(whose).await;
                // Signed as of now: it may have waited.
                let headers = headers(&to, &id, host.clock.now(), &body);
                (key, egress.post(&to.url, Bytes::from(body), headers, *timeout).await)
            }));
        }
        lines.retain(|_, line| {
            runs.left(member, line.forget(now));
            !line.is_empty()
        });
        held.count = held.lines.values().map(Queue::len).sum();
        Ok(())
    }

    /// What came of a post.
    async fn answered(
        &mut self,
        held: &mut Held,
        key: ConversationKey,
        answer: Answer,
    ) -> Option<End> {
        let now = self.host.clock.now();
        let line = held.lines.get_mut(&key)?;
        // What refuses one delivery is there, and has not taken it either: what was known stays.
        if !matches!(answer, Answer::Refused { .. }) {
            self.health.posted(self.endpoint.epoch, matches!(answer, Answer::Taken));
        }
        match answer {
            Answer::Taken => {
                self.host.metrics.webhook(Posted::Taken);
                self.health.taken(now);
                self.taken(held.by, line, now);
            }
            // It does not know reminders: its run goes on all the same.
            Answer::Refused { .. } if line.reminds() => {
                self.host.metrics.webhook(Posted::Refused);
                self.health.taken(now);
                let thought = line.done();
                self.accept(held.by, &thought);
            }
            Answer::Refused { status } => {
                self.host.metrics.webhook(Posted::Refused);
                self.health.refused(format!("HTTP {status}"), now);
                self.give_up(held.by, line, now).await;
            }
            Answer::Gone => {
                self.host.metrics.webhook(Posted::Refused);
                self.health.refused("HTTP 410: it wants nothing more".to_owned(), now);
                let (member, epoch) = (self.endpoint.member, self.endpoint.epoch);
                let gone = endpoints::Endpoint { member, act: Act::Gone { epoch } };
                if let Err(refusal) = self.host.commands.change(By::host(), gone).await {
                    tracing::warn!(%refusal, "an endpoint that is gone could not be noted");
                }
                return Some(End::Over);
            }
            Answer::Again { .. } | Answer::Address => {
                let (why, after) = match answer {
                    Answer::Again { why, after } => (why.to_string(), after),
                    _ => ("its address may not be posted to".to_owned(), None),
                };
                self.host.metrics.webhook(Posted::Failed);
                let random = self.host.id_generator.number();
                let rest = self.health.failed(why, now, random);
                let failed = line.retry().map_or(0, |retry| retry.failed).saturating_add(1);
                if failed >= TRIES && line.reminds() {
                    let thought = line.done();
                    self.accept(held.by, &thought);
                } else if failed >= TRIES {
                    self.give_up(held.by, line, now).await;
                } else {
                    let wait = egress::backoff(failed.into(), random, after);
                    let (until, epoch) = (now.plus(wait.as_millis() as i64), self.endpoint.epoch);
                    let retry = Retry { failed, until, epoch };
                    if let Some(offer) = line.failed(retry) {
                        let (event, attempt) = (at(offer), offer.attempt);
                        self.host
                            .commands
                            .hand(held.by, endpoints::PostFailed { event, attempt, retry });
                    }
                }
                return rest.map(End::Down);
            }
        }
        None
    }
}

fn headers(to: &Reached, id: &str, now: Timestamp, body: &[u8]) -> HeaderMap {
    let mut headers = match &to.signing {
        Some(secret) => egress::sign(secret, id, now, body),
        None => HeaderMap::new(),
    };
    // The same for every attempt.
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(IDEMPOTENCY_KEY, id);
    }
    headers
}

/// Until the worker is to end.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    // Its sender goes with the worker's entry: that is an end too.
    let _ = stop.wait_for(|stop| *stop).await;
}

fn at(offer: &Offer) -> EventRef {
    EventRef { conversation: offer.entry.conversation.key, seq: offer.entry.event.seq }
}

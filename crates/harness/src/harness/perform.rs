//! Acting: runs, claims and the outbox, each beside the loop, and what comes back from them.

use chorus_client::backoff;
use chorus_client::c2a::Connection;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_wire::attention::deliver::Deliver;
use chorus_wire::attention::tools::{Claim, Claimed};
use chorus_wire::error::sentence;
use tokio::sync::mpsc;

use super::{Done, Harness};
use crate::Error;
use crate::journal::{Offer, SessionKey};
use crate::outbound::{self, Sent};
use crate::runtime::{Bounds, End};
use crate::turn::{self, Early, Outcome, Setting, Stop};
use crate::turns::{ClaimAnswer, Effect, Input, Place, Turn};

impl Harness {
    /// Begins what was decided. Records have been committed before.
    pub(super) fn act(&mut self, effect: Effect) -> Result<(), Error> {
        match effect {
            Effect::Record(_) => {}
            Effect::Start(turn) => self.start(*turn)?,
            Effect::Stop(turn) => {
                tracing::info!(turn, "turn stopped");
                if let Some(stop) = self.runs.remove(&turn) {
                    let _ = stop.send(Stop::Now);
                }
            }
            Effect::Join(turn) => {
                tracing::info!(
                    turn,
                    "more came for the turn; it begins again unless it has spoken"
                );
                if let Some(stop) = self.runs.get(&turn) {
                    let _ = stop.send(Stop::UnlessSeen);
                }
            }
            Effect::Claim(event) => self.claim(event),
        }
        Ok(())
    }

    fn start(&mut self, turn: Turn) -> Result<(), Error> {
        let done = self.done.clone();
        let id = turn.id;
        let Some(connection) = self.connection.clone() else {
            // The link went while this was decided; the turn goes back to wait.
            let outcome = Outcome::Ended { end: End::Cancelled, acted: false };
            let _ = done.send(Done::Turn { turn: id, outcome });
            return Ok(());
        };
        if let Some(anchor) = turn.anchor() {
            let (events, attempt) = (turn.batch.len(), turn.attempt);
            tracing::info!(
                "turn {id} started for {}: {events} events, attempt {attempt}",
                anchor.event_id
            );
        }
        let setting = Setting {
            connection,
            runtime: self.options.runtime.clone(),
            bounds: Bounds::of_turn(self.options.turn_timeout),
            keepalive: self.options.keepalive,
            context: self.options.context,
            url: self.options.url.clone(),
            state: self.options.state.clone(),
            folder: self.options.folder.clone(),
        };
        let place = turn.place.clone();
        let session = self.journal.program_session(&self.session_key(&place))?;
        let (stop, stops) = mpsc::unbounded_channel();
        self.runs.insert(id, stop);
        self.beside.spawn(async move {
            let early = |early| {
                let _ = done.send(Done::Early { turn: id, place: place.clone(), early });
            };
            let outcome = turn::perform(&setting, &turn, session, stops, early).await;
            // The loop ends only after it has stopped this.
            let _ = done.send(Done::Turn { turn: id, outcome });
        });
        Ok(())
    }

    /// What the session of the program at this place is kept under.
    fn session_key<'a>(&'a self, place: &'a Place) -> SessionKey<'a> {
        SessionKey {
            program: self.options.runtime.name(),
            folder: &self.options.folder,
            conversation: &place.conversation,
            thread: place.thread.as_deref(),
        }
    }

    fn claim(&mut self, event: String) {
        let (connection, done) = (self.connection.clone(), self.done.clone());
        self.beside.spawn(async move {
            let answer = match &connection {
                Some(connection) => claim(connection, &event).await,
                None => ClaimAnswer::Unreachable,
            };
            let _ = done.send(Done::Claim { event, answer });
        });
    }

    /// Sends what the journal holds and what is not on its way already.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        let Some(connection) = &self.connection else { return Ok(()) };
        for outgoing in self.journal.outbox()? {
            if self.sending.is_full() || self.send_again.is_some() {
                break;
            }
            let event = outgoing.event().to_owned();
            if !self.sending.begin(&event) {
                continue;
            }
            let (connection, done) = (connection.clone(), self.done.clone());
            self.beside.spawn(async move {
                let sent = outbound::send(&connection, outgoing).await;
                let _ = done.send(Done::Sent { event, sent });
            });
        }
        Ok(())
    }

    /// Takes back what ran beside the loop.
    pub(super) fn finished(&mut self, done: Done) -> Result<(), Error> {
        match done {
            Done::Turn { turn, outcome } => {
                self.runs.remove(&turn);
                self.turn_ended(turn, outcome)
            }
            Done::Early { turn, early: Early::Seen, .. } => self.decide(Input::Seen { turn }),
            Done::Early { turn, place, early: Early::Session(session) } => {
                tracing::debug!(turn, %session, "the program's session");
                let (key, now) = (self.session_key(&place), self.clock.now());
                Ok(self.journal.keep_program_session(&key, &session, now)?)
            }
            Done::Claim { event, answer } => self.claim_answered(event, answer),
            Done::Sent { event, sent } => self.sent(&event, sent),
        }
    }

    fn turn_ended(&mut self, turn: u64, outcome: Outcome) -> Result<(), Error> {
        match outcome {
            Outcome::ActedBefore => {
                tracing::info!("turn {turn} not run: it was answered before");
                self.decide(Input::ActedBefore { turn })
            }
            Outcome::Ended { end, acted } => {
                match &end {
                    End::Said(text) => tracing::info!("turn {turn} said {} bytes", text.len()),
                    End::Silent if acted => tracing::info!("turn {turn} answered by itself"),
                    End::Silent => tracing::info!("turn {turn} was silent"),
                    End::Disposed => tracing::info!("turn {turn} ended its event by itself"),
                    End::Cancelled => tracing::info!("turn {turn} was stopped"),
                    End::Failed { note } | End::TimedOut { note } => {
                        tracing::warn!("turn {turn} failed: {note}");
                    }
                }
                self.decide(Input::Ended { turn, end, acted })
            }
        }
    }

    fn claim_answered(&mut self, event: String, answer: ClaimAnswer) -> Result<(), Error> {
        match &answer {
            ClaimAnswer::Held(delivery) => {
                tracing::info!("claimed {event}");
                if let Ok(body) = serde_json::to_string(delivery) {
                    let fence = delivery.turn.as_ref().map_or(0, |grant| grant.fence.into());
                    let offer = Offer { event: &event, delivery: &body, fence, knock: false };
                    self.journal.refresh(&offer)?;
                }
            }
            ClaimAnswer::Lost { note } => tracing::info!("not claimed {event}: {note}"),
            ClaimAnswer::Unreachable => {}
        }
        self.decide(Input::Claimed { event, answer })
    }

    fn sent(&mut self, event: &str, sent: Sent) -> Result<(), Error> {
        let overtaken = self.sending.ended(event);
        let now = self.clock.now();
        if !matches!(sent, Sent::Later { .. }) {
            self.send_failures = 0;
        }
        match sent {
            Sent::Replied { key } => {
                tracing::info!("replied to {event}");
                self.journal.sent(event, &key, now)?;
            }
            // Refused or put off as things stood before: it is sent again as they stand now.
            _ if overtaken => tracing::debug!(%event, ?sent, "overtaken"),
            Sent::Dropped { key, disposition, note, tell } => {
                match disposition {
                    // The host has it, and posts it once a person agrees.
                    Disposition::Deferred => {
                        tracing::info!("the reply to {event} waits for a person: {note}");
                    }
                    _ => tracing::warn!("the reply to {event} was dropped: {note}"),
                }
                self.journal.dropped(event, &key, disposition, &note, tell, now)?;
            }
            Sent::Told => {
                tracing::debug!("the host knows how {event} ended");
                self.journal.told(event)?;
            }
            Sent::Withheld { note } => {
                tracing::info!("the reply to {event} waits until the host takes it: {note}");
                self.sending.withhold(event);
            }
            Sent::Later { note } => {
                tracing::warn!("{event} will be sent again: {note}");
                let wait = backoff(self.send_failures, uuid::Uuid::now_v7().as_u64_pair().1);
                self.send_failures = self.send_failures.saturating_add(1);
                let ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
                self.send_again.get_or_insert(now.plus(ms));
            }
        }
        self.flush()
    }
}

async fn claim(connection: &Connection, event: &str) -> ClaimAnswer {
    let arguments = Claim { event_id: event.to_owned(), release: false, turn: None };
    let answer = match connection.call_tool("chat.claim", &arguments).await {
        Ok(answer) => answer,
        Err(error) if error.is_retryable() => return ClaimAnswer::Unreachable,
        Err(error) => {
            let note = match error.code() {
                Some(Code::ClaimedByOther) => "claimed by another".to_owned(),
                _ => sentence(&error.to_string()),
            };
            return ClaimAnswer::Lost { note };
        }
    };
    let held = serde_json::from_value::<Claimed>(answer).and_then(|claimed| {
        let mut delivery: Deliver = serde_json::from_str(claimed.event.get())?;
        delivery.turn = Some(claimed.turn);
        Ok(delivery)
    });
    match held {
        Ok(delivery) => ClaimAnswer::Held(Box::new(delivery)),
        Err(error) => {
            ClaimAnswer::Lost { note: format!("the claimed event cannot be read: {error}") }
        }
    }
}

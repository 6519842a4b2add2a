//! The loop: everything that happens comes through here, one at a time; what takes time runs beside it.
//!
//! Order of each step: decide ([`Turns`]), record ([`Journal`]), then act. A journal that fails ends the
//! harness, since nothing may be acknowledged any more.

mod inbound;
mod perform;

use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use chorus_client::backoff;
use chorus_client::c2a::Connection;
use chorus_core::attention::compose::Settings;
use chorus_core::model::ids::Timestamp;
use chorus_wire::attention::deliver::Deliver;
use chorus_wire::attention::initialize::SessionHello;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::Error;
use crate::clock::Clock;
use crate::journal::Journal;
use crate::link::{self, Hello, Link};
use crate::options::Options;
use crate::outbound::Sent;
use crate::runtime::{End, orphans};
use crate::sending::Sending;
use crate::turn::{Early, Outcome, Stop};
use crate::turns::{ClaimAnswer, Effect, Input, Place, Rules, Turns};

/// A connection that held this long was a good one: the next is tried at once.
const GOOD: Duration = Duration::from_secs(10);
/// How long runs have to end at shutdown.
const LAST_RUNS: Duration = Duration::from_secs(6);
/// The journal forgets what is old this often.
const PRUNE: Duration = Duration::from_secs(3_600);

/// What comes back from the work that runs beside the loop.
enum Done {
    Turn {
        turn: u64,
        outcome: Outcome,
    },
    /// What a run tells before it ends.
    Early {
        turn: u64,
        place: Place,
        early: Early,
    },
    Claim {
        event: String,
        answer: ClaimAnswer,
    },
    Sent {
        event: String,
        sent: Sent,
    },
}

struct Harness {
    options: Options,
    clock: Clock,
    journal: Journal,
    turns: Turns,
    connection: Option<Connection>,
    session: Option<String>,
    /// What was open when the harness before this one ended was taken up. That waits for the host, which may be the wrong one.
    recovered: bool,
    /// The host could not be reached when it was last tried.
    away: bool,
    /// Failed or short connections in a row.
    failures: u32,
    up_since: Instant,
    /// Runs under way, with what stops them.
    runs: HashMap<u64, mpsc::UnboundedSender<Stop>>,
    sending: Sending,
    /// When the outbox is looked at again after a failure, and how many there were in a row.
    send_again: Option<Timestamp>,
    send_failures: u32,
    done: mpsc::UnboundedSender<Done>,
    link: mpsc::Sender<Link>,
    /// All that runs beside the loop; it ends with the harness, however that ends.
    beside: JoinSet<()>,
}

pub(crate) async fn run(
    options: Options,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), Error> {
    let clock = Clock::start();
    let journal = Journal::open(&options.state, clock.now())?;
    let left = orphans::kill_left(&options.state);
    if left > 0 {
        tracing::warn!(left, "runs of a harness before this one were killed");
    }
    let (done, mut finished) = mpsc::unbounded_channel();
    let (link, mut said) = mpsc::channel(link::QUEUE);
    let mut harness = Harness::new(options, clock, journal, done, link)?;
    harness.connect(Duration::ZERO)?;
    let mut prune = tokio::time::interval(PRUNE);
    tokio::pin!(shutdown);
    loop {
        let due = harness.due();
        tokio::select! {
            () = &mut shutdown => break,
            Some(link) = said.recv() => harness.linked(link)?,
            Some(done) = finished.recv() => harness.finished(done)?,
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => harness.tick()?,
            // Nothing is learned from it; it only must not pile up.
            Some(_) = harness.beside.join_next(), if !harness.beside.is_empty() => {}
            _ = prune.tick() => {
                harness.journal.prune(harness.clock.now())?;
            }
        }
    }
    harness.stop(&mut finished).await
}

impl Harness {
    fn new(
        options: Options,
        clock: Clock,
        journal: Journal,
        done: mpsc::UnboundedSender<Done>,
        link: mpsc::Sender<Link>,
    ) -> Result<Self, Error> {
        let session = match &options.session {
            Some(session) => Some(session.clone()),
            None => journal.session()?,
        };
        let ms = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        let rules = Rules {
            compose: Settings {
                quiet_ms: ms(options.quiet),
                unfinished_ms: ms(options.unfinished),
                cap_ms: ms(options.cap),
            },
            knocks: options.knocks,
            parallel: options.parallel.max(1),
        };
        Ok(Self {
            options,
            clock,
            journal,
            turns: Turns::new(rules),
            connection: None,
            session,
            recovered: false,
            away: false,
            failures: 0,
            up_since: Instant::now(),
            runs: HashMap::new(),
            sending: Sending::default(),
            send_again: None,
            send_failures: 0,
            done,
            link,
            beside: JoinSet::new(),
        })
    }

    /// Takes up what was open when the harness before this one ended, once.
    fn recover(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.recovered, true) {
            return Ok(());
        }
        for entry in self.journal.unanswered()? {
            match serde_json::from_str::<Deliver>(&entry.delivery) {
                Ok(delivery) => {
                    tracing::info!(event = %entry.event, attempts = entry.attempts, "taken up again");
                    self.decide(Input::Recovered { delivery, attempts: entry.attempts })?;
                }
                Err(error) => {
                    // Written by another version; the host offers it again in the words of now.
                    tracing::warn!(event = %entry.event, %error, "the journaled delivery cannot be read");
                    self.journal.forget(&entry.event)?;
                }
            }
        }
        Ok(())
    }

    /// Opens a connection beside the loop.
    fn connect(&mut self, wait: Duration) -> Result<(), Error> {
        let hello = Hello {
            url: self.options.url.clone(),
            token: self.options.token.clone(),
            session: SessionHello {
                id: self.session.clone(),
                runtime: Some(self.options.runtime.name().to_owned()),
                // A command is started anew for each turn, by us: there is nothing else to resume
                // or to type into.
                resumable: Some(true),
                managed: Some(true),
                ..SessionHello::default()
            },
            last_event: self.journal.last_event()?,
        };
        self.beside.spawn(link::hold(hello, wait, self.link.clone()));
        Ok(())
    }

    fn reconnect(&mut self) -> Result<(), Error> {
        if self.up_since.elapsed() >= GOOD && self.connection.is_some() {
            self.failures = 0;
        }
        let wait = backoff(self.failures, uuid::Uuid::now_v7().as_u64_pair().1);
        self.failures = self.failures.saturating_add(1);
        self.connection = None;
        self.decide(Input::Linked(false))?;
        self.connect(wait)
    }

    /// When [`Harness::tick`] has something to do.
    fn due(&self) -> Option<Instant> {
        let again = self.send_again.filter(|_| self.connection.is_some());
        let due = self.turns.due().into_iter().chain(again).min();
        due.map(|at| self.clock.instant(at))
    }

    fn tick(&mut self) -> Result<(), Error> {
        let now = self.clock.now();
        let effects = self.turns.poll(now);
        self.carry_out(effects)?;
        if self.send_again.is_some_and(|at| at <= now) {
            self.send_again = None;
            self.flush()?;
        }
        Ok(())
    }

    /// Decides about one input, records the decision, and acts on it.
    fn decide(&mut self, input: Input) -> Result<(), Error> {
        let effects = self.turns.handle(input, self.clock.now());
        self.carry_out(effects)
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> Result<(), Error> {
        let mut steps = Vec::new();
        let mut acts = Vec::new();
        for effect in effects {
            match effect {
                Effect::Record(step) => steps.push(step),
                act => acts.push(act),
            }
        }
        self.journal.record(&steps, self.clock.now())?;
        for act in acts {
            self.act(act)?;
        }
        if !steps.is_empty() {
            self.flush()?;
        }
        Ok(())
    }

    /// Stops every run and waits for its end, so that it is journaled as stopped and not as failed.
    async fn stop(mut self, finished: &mut mpsc::UnboundedReceiver<Done>) -> Result<(), Error> {
        self.decide(Input::Linked(false))?;
        for (_, stop) in self.runs.drain() {
            let _ = stop.send(Stop::Now);
        }
        let until = Instant::now() + LAST_RUNS;
        while self.turns.running().next().is_some() || !self.sending.is_idle() {
            let Ok(Some(done)) = tokio::time::timeout_at(until, finished.recv()).await else {
                break;
            };
            self.finished(done)?;
        }
        for turn in self.turns.running().collect::<Vec<_>>() {
            self.decide(Input::Ended { turn, end: End::Cancelled, acted: false })?;
        }
        if let Some(connection) = &self.connection {
            connection.close().await;
        }
        tracing::info!("the harness has stopped");
        Ok(())
    }
}

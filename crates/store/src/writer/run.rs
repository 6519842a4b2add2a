//! The writer's thread: takes waiting commands, runs them as a batch, and handles failures.
//!
//! A batch that fails because of a statement or a panic is rolled back, and each of its commands is
//! run separately, so that one cannot make the others fail. A commit that fails ends the writer.

mod away;
mod commit;
mod copy;
mod recover;
mod reload;
mod space;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{ConversationKey, Timestamp};
use chorus_core::model::limits;
use chorus_core::state::directory::Directory;
use chorus_core::state::workspace::Workspace;
pub(super) use space::no_space;

use super::batch::{Batch, Ledger, TIMERS, Trace};
use super::cache::Ages;
use super::job::Job;
use super::publish::{self, Publisher, Publishing};
use super::queue::Next;
use super::{Setup, Shared};
use crate::clock::Clock;
use crate::cpu_time;
use crate::damage::Damage;
use crate::db::{Db, Error};
use crate::durable::Durable;
use crate::sqlite::Folder;
use crate::stamps::Stamps;

/// Timers wake the writer at most this often. Due timers join the next batch, because a commit for
/// timers alone would delay a post that arrives meanwhile.
const TIMER_STRIDE: Duration = Duration::from_millis(25);

/// Delay before scrubbing is retried after a reader was in the way.
const SCRUB_AGAIN_MS: i64 = 250;

/// How often, and with what delay, the writer tries to empty the log when the host stops.
const LAST_TRIES: u32 = 50;
const LAST_WAIT: Duration = Duration::from_millis(10);

/// The state of the writer's thread.
pub(super) struct Run {
    shared: Arc<Shared>,
    /// Shared with a running copy, on this thread.
    db: Rc<dyn Db>,
    tenant: i64,
    workspace: Workspace,
    clock: Arc<dyn Clock>,
    batching: bool,
    answer_first: bool,
    stamps: Arc<Stamps>,
    damage: Arc<Damage>,
    durable: Arc<Durable>,
    ages: Ages,
    /// Dropped rooms that must be loaded again. Until then their timers do not fire.
    missing: BTreeSet<ConversationKey>,
    /// Rooms that fail, and until when they are left alone, so that they delay no other.
    resting: BTreeMap<ConversationKey, Timestamp>,
    fired_at: Option<Instant>,
    more_due: bool,
    /// The latest time seen, to detect that the clock was set back.
    latest: Timestamp,
    /// Why it temporarily does no work.
    pause: Option<Pause>,
    /// A batch whose commit has an unknown outcome.
    unknown: Option<Vec<Job>>,
    ledger: Ledger,
    /// Nothing in memory can be trusted: it is loaded again before anything is decided.
    stale: bool,
    /// Something was erased, and the files still contain it.
    unscrubbed: bool,
    /// What the current batch has touched, and the directory before it.
    trace: Trace,
    before: Arc<Directory>,
    publishing: Publishing,
    /// Held until the connection is closed: fields are dropped in this order.
    folder: Arc<Folder>,
}

/// A failed batch, and the code for refusing its command when it was run alone.
struct Broken {
    code: Code,
    why: String,
    /// The failure is not caused by a command; no work can be done for now.
    pause: Option<Hindrance>,
}

/// Whether a batch takes commands that arrive while it is decided.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Intake {
    Open,
    Closed,
}

/// What prevents all work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hindrance {
    /// The disk has no space.
    Full,
    /// The database cannot be reached.
    Away,
}

/// No work is done until the next attempt; the last one was at `tried`.
#[derive(Clone, Copy, Debug)]
enum Pause {
    Full {
        tried: Timestamp,
    },
    Away {
        tried: Timestamp,
        /// Milliseconds before the next attempt.
        rest: i64,
    },
}

impl Run {
    pub(super) fn new(setup: Setup, shared: Arc<Shared>) -> Self {
        let publishing = Publishing::new(Publisher {
            shared: shared.clone(),
            sink: setup.sink,
            sync: setup.sync,
            durable: setup.durable.clone(),
            newest: setup.newest,
            slower_sync: setup.slower_sync,
        });
        Self {
            publishing,
            pause: setup.full.then(|| Pause::Full { tried: setup.clock.now() }),
            before: setup.workspace.directory().clone(),
            trace: Trace::default(),
            shared,
            db: setup.db.into(),
            tenant: setup.tenant,
            workspace: setup.workspace,
            clock: setup.clock,
            batching: setup.batching,
            answer_first: setup.answer_first,
            stamps: setup.stamps,
            damage: setup.damage,
            durable: setup.durable,
            ages: Ages::default(),
            missing: setup.damaged,
            resting: BTreeMap::new(),
            fired_at: None,
            more_due: false,
            unknown: None,
            stale: false,
            ledger: Ledger::new(setup.audit),
            // An earlier process may have ended between an erasure and its scrubbing.
            unscrubbed: true,
            latest: Timestamp::default(),
            folder: setup.folder,
        }
    }

    pub(super) fn run(mut self) {
        let shared = self.shared.clone();
        let ended = catch_unwind(AssertUnwindSafe(|| self.work()));
        let why = match ended {
            Ok(Ok(())) => "the host is stopped".to_owned(),
            Ok(Err(error @ Error::Fenced(_))) => error.to_string(),
            Ok(Err(error)) => format!("writing failed, and what is on disk is unknown: {error}"),
            Err(_) => "the writer thread panicked; see the log above".to_owned(),
        };
        self.give_up();
        // Whatever a reader may have seen and is not on disk yet will not be.
        self.durable.fail();
        for job in shared.queue.close(why.clone()) {
            job.refuse(Refusal::new(Code::Unavailable, why.clone()));
        }
    }

    fn work(&mut self) -> Result<(), Error> {
        // Rooms that are restored after a crash write their obligations at once.
        let begun = self.batch(Vec::new());
        self.outlive(begun)?;
        loop {
            let due = self.until_due();
            self.tell_due(due);
            let worked = cpu_time::of_this_thread().as_micros();
            let worked = u64::try_from(worked).unwrap_or(u64::MAX);
            self.shared.counters.cpu_us.store(worked, Ordering::Relaxed);
            match self.shared.queue.take(due, self.batching) {
                Next::Work(jobs) => {
                    let done = self.round(jobs);
                    self.outlive(done)?;
                }
                Next::Stop => break,
            }
            if let Some(order) = self.shared.queue.take_copy() {
                self.copy(order)?;
            }
        }
        self.workspace.store_open();
        self.ledger.closing = true;
        self.batch(Vec::new())?;
        self.publishing.settle()?;
        match self.empty_log() {
            Err(Error::Full(_)) => Ok(()),
            other => other,
        }
    }

    /// Before the host stops: copies all commits into the database and empties the log, so that it
    /// contains nothing erased or dropped. A slow reader is not waited for; the next start does it
    /// then.
    fn empty_log(&self) -> Result<(), Error> {
        for _ in 0..LAST_TRIES {
            if self.db.scrub()? {
                break;
            }
            std::thread::sleep(LAST_WAIT);
        }
        self.publishing.sync_newest();
        Ok(())
    }

    /// One batch and the work after it.
    fn round(&mut self, jobs: Vec<Job>) -> Result<(), Error> {
        let idle = jobs.is_empty();
        self.batch(jobs)?;
        let idle = idle && self.shared.queue.len() == 0;
        match self.scrub().and_then(|()| self.db.housekeep(idle)) {
            // The log was not checkpointed and is intact.
            Err(error @ Error::Full(_)) => self.mark_full(&error.to_string()),
            Ok(true) => self.publishing.sync_newest(),
            other => drop(other?),
        }
        if let Some(rooms) = self.ages.trim(&mut self.workspace) {
            self.shared.counters.rooms.store(rooms as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    fn tell_due(&self, due: Option<Duration>) {
        let ms = |due: Duration| i64::try_from(due.as_millis()).unwrap_or(i64::MAX);
        let at = due.map_or(i64::MAX, |due| self.clock.now().0.saturating_add(ms(due)));
        self.shared.counters.due.store(at, Ordering::Relaxed);
    }

    /// How long until a timer is due; none if there is none.
    fn until_due(&self) -> Option<Duration> {
        let now = self.clock.now();
        if let Some(pause) = self.pause {
            let ms = pause.left(now);
            return Some(Duration::from_millis(u64::try_from(ms).unwrap_or(0)));
        }
        if self.more_due {
            return Some(Duration::ZERO);
        }
        let resting = self.resting.values().min().copied();
        let audit = self.ledger.due();
        let scrub = self.unscrubbed.then(|| now.plus(SCRUB_AGAIN_MS));
        let next =
            self.workspace.next_due().into_iter().chain(resting).chain(scrub).chain(audit).min()?;
        let ms = next.since(now);
        let due = Duration::from_millis(u64::try_from(ms).unwrap_or(0));
        let rested = self.fired_at.map(|at| at + TIMER_STRIDE);
        Some(rested.map_or(due, |at| due.max(at.saturating_duration_since(Instant::now()))))
    }

    /// Runs waiting commands and due timers under one commit. An error ends the writer.
    fn batch(&mut self, jobs: Vec<Job>) -> Result<(), Error> {
        let now = self.clock.now();
        // Their rooms in memory look undamaged.
        let mut damaged = self.damage.news();
        self.missing.retain(|key| !damaged.contains(key));
        damaged
            .retain(|key| self.workspace.room(*key).is_some_and(|room| room.damaged().is_none()));
        self.workspace.forget(damaged);
        self.see_whether_lost(now);
        let begun = self.goes_on(now).and_then(|goes_on| {
            if goes_on {
                self.reload_if_stale(now)?;
                self.revive(now)?;
            }
            Ok(())
        });
        if let Err(error) = begun {
            return refuse_all(jobs, error);
        }
        if self.pause.is_some() {
            self.refuse_for_now(jobs);
            return Ok(());
        }
        // Small clock adjustments are normal.
        if now < self.latest.plus(-limits::CLOCK_SKEW_MS) {
            tracing::warn!(ms = self.latest.since(now), "the clock was set back");
            self.workspace.set_back(now);
            self.latest = now;
        }
        self.latest = self.latest.max(now);
        if self.is_due(now) {
            self.fired_at = Some(Instant::now());
        }
        let mut jobs = jobs;
        match self.decide(&mut jobs, Intake::Open, TIMERS, now) {
            Ok(()) => self.finish(jobs),
            Err(Broken { pause: Some(by), why, .. }) => self.stand_still(by, jobs, &why),
            Err(broken) => self.one_by_one(jobs, &broken, now),
        }
    }

    fn count_split(&self) {
        self.shared.counters.split.fetch_add(1, Ordering::Relaxed);
    }

    fn is_due(&self, now: Timestamp) -> bool {
        self.workspace.next_due().is_some_and(|due| due <= now)
    }

    /// Fires at most `timers` timers, decides the commands and writes; commits nothing. While the batch before is being
    /// synced, this one stays open for what arrives: committed sooner it would only wait.
    fn decide(
        &mut self,
        jobs: &mut Vec<Job>,
        intake: Intake,
        timers: usize,
        now: Timestamp,
    ) -> Result<(), Broken> {
        self.trace = Trace { now, ..Trace::default() };
        self.before = self.workspace.directory().clone();
        let mut batch = Batch {
            damage: &self.damage,
            workspace: &mut self.workspace,
            before: &self.before,
            db: &*self.db,
            tenant: self.tenant,
            now,
            trace: &mut self.trace,
        };
        let (more_due, ledger) = (&mut self.more_due, &self.ledger);
        let (queue, batching) = (&self.shared.queue, intake == Intake::Open && self.batching);
        let decided = catch_unwind(AssertUnwindSafe(|| {
            if timers > 0 {
                *more_due = batch.fire(timers)?;
            }
            batch.run(jobs)?;
            let mut done = jobs.len();
            while batching && done > 0 && queue.take_more(jobs) {
                batch.run(&mut jobs[done..])?;
                done = jobs.len();
            }
            batch.audit(ledger)?;
            batch.flush()?;
            Ok(())
        }));
        match decided {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                let pause = match error {
                    Error::Full(_) => Some(Hindrance::Full),
                    _ if self.db.is_lost() => Some(Hindrance::Away),
                    _ => None,
                };
                Err(Broken { code: Code::Unavailable, why: error.to_string(), pause })
            }
            Err(_) => {
                let why = "a decision panicked".into();
                Err(Broken { code: Code::Internal, why, pause: None })
            }
        }
    }

    /// Commits, and has the batch answered and its effects handed out, in this order.
    fn finish(&mut self, jobs: Vec<Job>) -> Result<(), Error> {
        let counters = &self.shared.counters;
        counters.batches.fetch_add(1, Ordering::Relaxed);
        counters.commands.fetch_add(jobs.len() as u64, Ordering::Relaxed);
        if self.answer_first {
            publish::answer(jobs);
            self.commit()?;
            return self.publish(Vec::new());
        }
        match self.commit() {
            Err(error @ Error::Full(_)) => {
                self.stand_still(Hindrance::Full, jobs, &error.to_string())
            }
            Err(error @ Error::Lost(_)) => {
                self.park(jobs, &error.to_string());
                Ok(())
            }
            Err(Error::Refused(why)) => {
                let broken = Broken { code: Code::Unavailable, why, pause: None };
                self.one_by_one(jobs, &broken, self.trace.now)
            }
            Err(error) => {
                // Nobody can see it. If one before it failed, that is what ends the writer.
                let undone = self.uncommitted();
                refuse_all(jobs, undone.err().unwrap_or(error))
            }
            Ok(()) => self.publish(jobs),
        }
    }
}

/// Refuses these commands; none of them was done.
fn refuse(jobs: Vec<Job>, code: Code, why: &str) {
    for job in jobs {
        if catch_unwind(AssertUnwindSafe(|| job.refuse(Refusal::new(code, why)))).is_err() {
            tracing::error!("receiving an answer panicked");
        }
    }
}

/// The writer ends: refuses all waiting commands and passes the error on.
fn refuse_all(jobs: Vec<Job>, error: Error) -> Result<(), Error> {
    publish::refuse(jobs, &error);
    Err(error)
}

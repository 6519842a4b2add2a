//! The single writer of a workspace: takes commands, commits once per batch, and gives answers and
//! effects.
//!
//! Invariant: a command is answered only when the commit of its changes is on disk, and effects are
//! visible only after the answers. A refused command has written nothing. When a commit or its sync
//! fails, its outcome is unknown: it is never retried, the writer accepts no more work, and
//! [`Writer::health`] says why.

mod batch;
mod cache;
mod fair;
mod job;
mod orders;
mod publish;
mod queue;
mod run;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use chorus_core::commands::{Command, NotDone};
use chorus_core::model::caller::By;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{ConversationKey, Timestamp};
use chorus_core::model::seed::CommandSeed;
use chorus_core::state::effect::Effect;
use chorus_core::state::workspace::Workspace;
use job::Job;
use orders::CopyOrder;
use queue::Queue;
use run::Run;

use crate::audit::AuditHead;
use crate::clock::Clock;
use crate::damage::Damage;
use crate::db::{Db, Error, SyncLog};
use crate::durable::Durable;
use crate::newest::Newest;
use crate::sqlite::Folder;
use crate::stamps::Stamps;

/// Receives the answer of one command, on a thread of the writer; must not block.
pub trait Reply<T>: FnOnce(Result<T, NotDone>) + Send + 'static {}
impl<T, F: FnOnce(Result<T, NotDone>) + Send + 'static> Reply<T> for F {}

/// Receives the effects of one batch, on a thread of the writer; must not block.
pub trait Sink: FnMut(Vec<Effect>) + Send + 'static {}
impl<F: FnMut(Vec<Effect>) + Send + 'static> Sink for F {}

/// Whether the writer accepts work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub ok: bool,
    /// Why it does not.
    pub reason: Option<String>,
}

/// Statistics since the writer started, and its present queue length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub batches: u64,
    pub commands: u64,
    pub commits: u64,
    /// Time spent in commits, in microseconds.
    pub commit_us: u64,
    /// Time that the writer's threads have had of a core, in microseconds.
    pub cpu_us: u64,
    /// Batches that were repeated command by command, because a statement failed or a decision
    /// panicked.
    pub split: u64,
    /// Rooms in memory.
    pub rooms: u64,
    /// Commands waiting now.
    pub waiting: u64,
}

/// One commit: its time and its number of commands.
#[derive(Clone, Copy, Debug)]
pub struct Commit {
    pub began: Instant,
    pub ended: Instant,
    pub commands: usize,
}

/// The handle of the writer; cheap to clone.
#[derive(Clone)]
pub struct Writer {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    queue: Queue,
    counters: Counters,
    /// The commit of the batch that is being answered, if it had one.
    commit: std::sync::Mutex<Option<Commit>>,
    /// Why it temporarily accepts no work.
    trouble: std::sync::Mutex<Option<String>>,
    thread: std::sync::Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
pub(crate) struct Counters {
    batches: AtomicU64,
    commands: AtomicU64,
    commits: AtomicU64,
    commit_us: AtomicU64,
    cpu_us: AtomicU64,
    /// The same of the thread that publishes.
    publisher_cpu_us: AtomicU64,
    split: AtomicU64,
    rooms: AtomicU64,
    /// When the writer has something to do next; `i64::MAX` if it has nothing.
    due: AtomicI64,
}

impl Shared {
    fn trouble(&self, why: Option<String>) {
        *queue::lock(&self.trouble) = why;
    }
}

/// Everything the writer needs.
pub(crate) struct Setup {
    pub(crate) folder: Arc<Folder>,
    pub(crate) db: Box<dyn Db>,
    pub(crate) tenant: i64,
    pub(crate) workspace: Workspace,
    /// Rooms that could not be read at the start.
    pub(crate) damaged: BTreeSet<ConversationKey>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) sink: Box<dyn Sink>,
    pub(crate) audit: AuditHead,
    pub(crate) batching: bool,
    pub(crate) slower_sync: Duration,
    pub(crate) answer_first: bool,
    pub(crate) stamps: Arc<Stamps>,
    pub(crate) damage: Arc<Damage>,
    /// None where no extent is recorded next to the database.
    pub(crate) newest: Option<Newest>,
    /// Makes commits durable; none where that is done when they return, or never.
    pub(crate) sync: Option<SyncLog>,
    pub(crate) durable: Arc<Durable>,
    /// There is no space to write: the writer starts by waiting for some.
    pub(crate) full: bool,
}

/// Starts the writer's thread. It ends with [`Writer::stop`], or when a commit fails.
pub(crate) fn start(setup: Setup) -> std::io::Result<Writer> {
    let shared = Arc::new(Shared {
        queue: Queue::default(),
        counters: Counters::default(),
        commit: std::sync::Mutex::default(),
        trouble: std::sync::Mutex::default(),
        thread: std::sync::Mutex::default(),
    });
    if setup.full {
        // Set before anybody can ask for the writer's health.
        shared.trouble(Some(run::no_space("the data folder cannot be written to")));
    }
    let its = shared.clone();
    let thread = std::thread::Builder::new().name("writer".to_owned());
    let thread = thread.spawn(|| Run::new(setup, its).run())?;
    *queue::lock(&shared.thread) = Some(thread);
    Ok(Writer { shared })
}

impl Writer {
    /// Submits a command. `reply` is called once: on a thread of the writer, or immediately if the
    /// writer accepts no work.
    pub fn submit<C: Command>(
        &self,
        by: By,
        command: C,
        drawn: CommandSeed,
        reply: impl Reply<C::Output>,
    ) {
        let job = Job::new(by, command, drawn, reply);
        if let Err((job, refusal)) = self.shared.queue.push(job) {
            job.refuse(refusal);
        }
    }

    /// Submits a command and blocks until it is answered.
    pub fn execute<C: Command>(
        &self,
        by: By,
        command: C,
        drawn: CommandSeed,
    ) -> Result<C::Output, NotDone> {
        let (answer, answered) = mpsc::channel();
        self.submit(by, command, drawn, move |done| {
            // The receiver waits below.
            let _ = answer.send(done);
        });
        let lost = |_| Refusal::new(Code::OutcomeUnknown, "the writer broke off").into();
        answered.recv().map_err(lost).flatten()
    }

    /// Copies the database into a new file while work continues; the copy contains everything that
    /// was answered before. `reply` is called on the writer's thread when the copy is complete, not
    /// yet synced, or has failed and was removed. There is one copy at a time.
    pub fn copy_to(&self, to: PathBuf, reply: impl FnOnce(Result<(), Error>) + Send + 'static) {
        let order = CopyOrder { to, reply: Box::new(reply) };
        if let Err((order, why)) = self.shared.queue.ask_copy(order) {
            (order.reply)(Err(Error::Engine(why)));
        }
    }

    /// The time has changed, and timers may be due: for clocks that are set by hand.
    pub fn tick(&self) {
        self.shared.queue.wake();
    }

    /// When it has something to do by itself next, if it has.
    pub fn next_due(&self) -> Option<Timestamp> {
        let due = self.shared.counters.due.load(Ordering::Relaxed);
        (due < i64::MAX).then_some(Timestamp(due))
    }

    pub fn health(&self) -> Health {
        let trouble = || queue::lock(&self.shared.trouble).clone();
        let reason = self.ended().or_else(trouble);
        Health { ok: reason.is_none(), reason }
    }

    /// Why the writer has ended, if it has. It accepts no work until the host is restarted.
    pub fn ended(&self) -> Option<String> {
        self.shared.queue.closed()
    }

    /// Within a [`Reply`]: the commit that the command waited for. Otherwise, a recent commit.
    pub fn commit(&self) -> Option<Commit> {
        *queue::lock(&self.shared.commit)
    }

    pub fn stats(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.shared.counters;
        Stats {
            batches: read(&counters.batches),
            commands: read(&counters.commands),
            commits: read(&counters.commits),
            commit_us: read(&counters.commit_us),
            cpu_us: read(&counters.cpu_us) + read(&counters.publisher_cpu_us),
            split: read(&counters.split),
            rooms: read(&counters.rooms),
            waiting: self.shared.queue.len() as u64,
        }
    }

    /// Answers waiting commands, writes open events, and closes the folder. Returns when everything
    /// is done.
    pub fn stop(&self) {
        self.shared.queue.finish();
        let thread = queue::lock(&self.shared.thread).take();
        if thread.is_some_and(|t| t.join().is_err()) {
            tracing::error!("the writer's thread ended with a panic");
        }
    }
}

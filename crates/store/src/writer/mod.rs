//! The one writer of a workspace: commands in, one commit a batch, answers and effects out.
//!
//! Invariant: a command is answered only after the commit that holds what it changed, and effects are
//! seen only after the answers. A refusal has written nothing. When a commit fails, its outcome is
//! unknown: it is never tried again, the writer takes no more work, and [`Writer::health`] says why.

mod batch;
mod cache;
mod fair;
mod job;
mod orders;
mod queue;
mod run;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use chorus_core::commands::{Command, NotDone};
use chorus_core::model::caller::By;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::ConversationKey;
use chorus_core::model::seed::CommandSeed;
use chorus_core::state::effect::Effect;
use chorus_core::state::workspace::Workspace;

use crate::audit::AuditHead;
use crate::clock::Clock;
use crate::damage::Damage;
use crate::db::{Db, Error};
use crate::newest::Newest;
use crate::sqlite::Folder;
use crate::stamps::Stamps;
use job::Job;
use orders::{CopyOrder, RekeyOrder};
use queue::Queue;
use run::Run;

/// Takes the answer of one command, on the writer's thread; it must not block.
pub trait Reply<T>: FnOnce(Result<T, NotDone>) + Send + 'static {}
impl<T, F: FnOnce(Result<T, NotDone>) + Send + 'static> Reply<T> for F {}

/// Takes the effects of one batch, on the writer's thread; it must not block.
pub trait Sink: FnMut(Vec<Effect>) + Send + 'static {}
impl<F: FnMut(Vec<Effect>) + Send + 'static> Sink for F {}

/// Whether the writer takes work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub ok: bool,
    /// Why it does not.
    pub reason: Option<String>,
}

/// What the writer has done since it started, and what waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub batches: u64,
    pub commands: u64,
    pub commits: u64,
    /// Time spent in commits, in microseconds.
    pub commit_us: u64,
    /// Batches that had to be run one by one, because a statement failed or a decision panicked.
    pub split: u64,
    /// Rooms in memory.
    pub rooms: u64,
    /// Commands waiting now.
    pub waiting: u64,
}

/// One commit: when, and of how many commands.
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
    /// That of the batch which is answered, when it had one.
    commit: std::sync::Mutex<Option<Commit>>,
    /// Why it takes no work for the time being.
    trouble: std::sync::Mutex<Option<String>>,
    thread: std::sync::Mutex<Option<JoinHandle<()>>>,
    /// Another host has written, or asks to be let in.
    news: AtomicBool,
    /// It is time to look at the other hosts.
    pause: AtomicBool,
    /// Other hosts write to the same database.
    company: AtomicBool,
    /// This host does what one of them is to do.
    leads: AtomicBool,
    /// Which of them this is.
    host: AtomicU32,
}

#[derive(Default)]
pub(crate) struct Counters {
    batches: AtomicU64,
    commands: AtomicU64,
    commits: AtomicU64,
    commit_us: AtomicU64,
    split: AtomicU64,
    rooms: AtomicU64,
}

impl Shared {
    fn trouble(&self, why: Option<String>) {
        *queue::lock(&self.trouble) = why;
    }
}

/// All the writer needs to work.
pub(crate) struct Setup {
    pub(crate) folder: Folder,
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
    /// None where nothing is noted beside the database.
    pub(crate) newest: Option<Newest>,
    /// There is no space to write in: it begins with waiting for some.
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
        news: AtomicBool::new(false),
        pause: AtomicBool::new(false),
        company: AtomicBool::new(false),
        leads: AtomicBool::new(true),
        host: AtomicU32::new(0),
    });
    if setup.full {
        // Before anybody can ask how the writer does.
        shared.trouble(Some(run::no_space("the data folder cannot be written to")));
    }
    let its = shared.clone();
    let thread = std::thread::Builder::new().name("writer".to_owned());
    let thread = thread.spawn(|| Run::new(setup, its).run())?;
    *queue::lock(&shared.thread) = Some(thread);
    Ok(Writer { shared })
}

impl Writer {
    /// Hands a command in. `reply` is called once: on the writer's thread, or at once when it takes no work.
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

    /// Hands a command in, and blocks until it is answered.
    pub fn execute<C: Command>(
        &self,
        by: By,
        command: C,
        drawn: CommandSeed,
    ) -> Result<C::Output, NotDone> {
        let (answer, answered) = mpsc::channel();
        self.submit(by, command, drawn, move |done| {
            // The other end waits below.
            let _ = answer.send(done);
        });
        let lost = |_| Refusal::new(Code::Unavailable, "the writer has stopped").into();
        answered.recv().map_err(lost).flatten()
    }

    /// Copies the database into a new file while work goes on; all that was answered before is in the copy.
    /// `reply` is called on the writer's thread when the copy is made, not yet synced, or has failed and is
    /// removed. One copy is made at a time.
    pub fn copy_to(&self, to: PathBuf, reply: impl FnOnce(Result<(), Error>) + Send + 'static) {
        let order = CopyOrder { to, reply: Box::new(reply) };
        if let Err((order, why)) = self.shared.queue.ask_copy(order) {
            (order.reply)(Err(Error::Engine(why)));
        }
    }

    /// Asks whether this host may sign with other keys from here on, by their fingerprint: not while other hosts have
    /// the database too. `reply` is called on the writer's thread.
    pub fn rekey(
        &self,
        fingerprint: &[u8],
        reply: impl FnOnce(Result<bool, Error>) + Send + 'static,
    ) {
        let order = RekeyOrder { fingerprint: fingerprint.to_vec(), reply: Box::new(reply) };
        if let Err((order, why)) = self.shared.queue.ask_rekey(order) {
            (order.reply)(Err(Error::Engine(why)));
        }
    }

    /// Time has moved, and timers may be due: for clocks that are set by hand.
    pub fn tick(&self) {
        self.shared.queue.wake();
    }

    pub fn health(&self) -> Health {
        let trouble = || queue::lock(&self.shared.trouble).clone();
        let reason = self.ended().or_else(trouble);
        Health { ok: reason.is_none(), reason }
    }

    /// Why the writer has ended, when it has: it takes no work any more, until the host is started anew.
    pub fn ended(&self) -> Option<String> {
        self.shared.queue.closed()
    }

    /// The commit that the command had to wait for whose [`Reply`] asks; to anybody else, one of lately.
    pub fn commit(&self) -> Option<Commit> {
        *queue::lock(&self.shared.commit)
    }

    /// Whether other hosts write to the same database.
    pub fn has_company(&self) -> bool {
        self.shared.company.load(Ordering::Acquire)
    }

    /// Whether this host is to do what one of several does for all: it is alone, or was there before the others.
    pub fn leads(&self) -> bool {
        self.shared.leads.load(Ordering::Acquire)
    }

    /// Which of the database's hosts this is, counted as they came; 0 where it is shared with nobody ever.
    pub fn host(&self) -> u32 {
        self.shared.host.load(Ordering::Acquire)
    }

    pub fn stats(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.shared.counters;
        Stats {
            batches: read(&counters.batches),
            commands: read(&counters.commands),
            commits: read(&counters.commits),
            commit_us: read(&counters.commit_us),
            split: read(&counters.split),
            rooms: read(&counters.rooms),
            waiting: self.shared.queue.len() as u64,
        }
    }

    /// Answers what waits, writes what is open, and closes the folder. Returns when all is done.
    pub fn stop(&self) {
        self.shared.queue.finish();
        let thread = queue::lock(&self.shared.thread).take();
        if thread.is_some_and(|t| t.join().is_err()) {
            tracing::error!("the writer's thread ended with a panic");
        }
    }
}

//! What a committed batch still needs: its commit is made durable, its commands are answered, and its effects are
//! handed out.
//!
//! Where the engine leaves the sync to us ([`Db::defer_sync`](crate::db::Db::defer_sync)), this is done on a thread of
//! its own while the next batch is decided. A batch that nothing follows is done at once on the writer's thread, which
//! saves a lone client the change of threads.
//!
//! Invariant: batches are answered in the order of their commits, and only when they are on disk. When a sync
//! fails, its batch and all that were committed after it are refused, because nobody knows what of them is on
//! disk; the writer ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use chorus_core::model::error::{Code, Refusal};
use chorus_core::state::effect::Effect;

use super::job::Job;
use super::queue::lock;
use super::{Commit, Shared, Sink};
use crate::cpu_time;
use crate::db::{Error, SyncLog};
use crate::durable::Durable;
use crate::newest::Newest;

/// A batch that is committed, and not answered yet.
pub(super) struct Batch {
    pub(super) jobs: Vec<Job>,
    pub(super) effects: Vec<Effect>,
    /// What was written; none if nothing was.
    pub(super) written: Option<Written>,
}

pub(super) struct Written {
    /// Which commit this is, as [`Durable`] counts; 0 where commits are durable when they return.
    pub(super) number: u64,
    pub(super) began: Instant,
    /// The number of entries that it adds to the logs.
    pub(super) entries: u64,
    /// The end of the audit log, if it has grown.
    pub(super) block: Option<u64>,
}

/// Makes batches durable and answers them.
pub(super) struct Publisher {
    pub(super) shared: Arc<Shared>,
    pub(super) sink: Box<dyn Sink>,
    /// None where a commit that returned is durable, or need not be.
    pub(super) sync: Option<SyncLog>,
    pub(super) durable: Arc<Durable>,
    pub(super) newest: Option<Newest>,
    pub(super) slower_sync: Duration,
}

impl Publisher {
    fn publish(&mut self, batch: Batch) -> Result<(), Error> {
        let Batch { jobs, effects, written } = batch;
        let commands = jobs.len();
        *lock(&self.shared.commit) = None;
        if let Some(written) = &written {
            if let Err(why) = self.make_durable(written) {
                let error = Error::Engine(why.to_string());
                self.durable.fail();
                refuse(jobs, &error);
                return Err(error);
            }
            // The next batch is committed while this one is answered.
            self.shared.queue.end_sync();
            let (began, ended) = (written.began, Instant::now());
            *lock(&self.shared.commit) = Some(Commit { began, ended, commands });
            let took = u64::try_from((ended - began).as_micros()).unwrap_or(u64::MAX);
            self.shared.counters.commits.fetch_add(1, Ordering::Relaxed);
            self.shared.counters.commit_us.fetch_add(took, Ordering::Relaxed);
        }
        answer(jobs);
        self.hand_out(effects);
        Ok(())
    }

    fn make_durable(&mut self, written: &Written) -> std::io::Result<()> {
        if let Some(sync) = &mut self.sync {
            sync()?;
        }
        if !self.slower_sync.is_zero() {
            std::thread::sleep(self.slower_sync);
        }
        if let Some(newest) = &mut self.newest {
            newest.committed(written.entries, written.block);
        }
        self.durable.reached(written.number);
        Ok(())
    }

    pub(super) fn hand_out(&mut self, effects: Vec<Effect>) {
        if !effects.is_empty() && catch_unwind(AssertUnwindSafe(|| (self.sink)(effects))).is_err() {
            tracing::error!("handing out the effects of a batch panicked");
        }
    }
}

pub(super) fn answer(jobs: Vec<Job>) {
    for job in jobs {
        if catch_unwind(AssertUnwindSafe(|| job.answer())).is_err() {
            tracing::error!("receiving an answer panicked");
        }
    }
}

/// The writer ends, with these commands not answered.
pub(super) fn refuse(jobs: Vec<Job>, error: &Error) {
    for job in jobs {
        job.refuse(match error {
            Error::Fenced(_) => {
                let why = format!("{error}; nothing of this was written: try again");
                Refusal::new(Code::Unavailable, why)
            }
            error => {
                let why = format!("it is unknown whether this was written: {error}");
                Refusal::new(Code::OutcomeUnknown, why)
            }
        });
    }
}

/// The publisher, and the thread that runs it once batches follow each other.
pub(super) struct Publishing {
    shared: Arc<Shared>,
    publisher: Arc<Mutex<Publisher>>,
    /// Whether commits are made durable apart from the commit.
    defers: bool,
    thread: Option<(mpsc::Sender<Batch>, JoinHandle<()>)>,
}

impl Publishing {
    pub(super) fn new(publisher: Publisher) -> Self {
        Self {
            shared: publisher.shared.clone(),
            defers: publisher.sync.is_some(),
            publisher: Arc::new(Mutex::new(publisher)),
            thread: None,
        }
    }

    pub(super) fn defers(&self) -> bool {
        self.defers
    }

    /// Answers a batch when it is durable, which it may not be on return. The ones before it come first.
    pub(super) fn publish(&mut self, batch: Batch) -> Result<(), Error> {
        let follows = batch.jobs.len() > 1 || self.shared.queue.len() > 0;
        let syncs = self.defers && batch.written.is_some();
        if syncs && follows && self.has_thread() && self.shared.queue.begin_sync() {
            // Its thread takes batches as long as this lives.
            let given = self.thread.as_ref().is_some_and(|(give, _)| give.send(batch).is_ok());
            return given.then_some(()).ok_or(Error::Engine("its thread is gone".to_owned()));
        }
        match self.settle() {
            Ok(()) => lock(&self.publisher).publish(batch),
            Err(error) => {
                refuse(batch.jobs, &error);
                Err(error)
            }
        }
    }

    /// Begins the thread if there is none. Without it everything is done on the writer's.
    fn has_thread(&mut self) -> bool {
        if self.thread.is_none() {
            let (give, take) = mpsc::channel();
            let (shared, publisher) = (self.shared.clone(), self.publisher.clone());
            let thread = std::thread::Builder::new().name("publisher".to_owned());
            let thread = thread.spawn(move || work(&shared, &publisher, &take));
            self.thread = thread.ok().map(|thread| (give, thread));
        }
        self.thread.is_some()
    }

    /// Waits until everything that was handed over is answered.
    pub(super) fn settle(&self) -> Result<(), Error> {
        if let Some(why) = self.shared.queue.until_synced() {
            return Err(Error::Engine(why));
        }
        // Held while a batch is answered.
        drop(lock(&self.publisher));
        Ok(())
    }

    /// What is told to everybody, and no part of a batch.
    pub(super) fn hand_out(&self, effects: Vec<Effect>) -> Result<(), Error> {
        self.settle()?;
        lock(&self.publisher).hand_out(effects);
        Ok(())
    }

    /// The log was checkpointed: what is recorded beside it is made as durable.
    pub(super) fn sync_newest(&self) {
        lock(&self.publisher).newest.iter().for_each(Newest::sync);
    }
}

impl Drop for Publishing {
    fn drop(&mut self) {
        let Some((give, thread)) = self.thread.take() else { return };
        drop(give);
        if thread.join().is_err() {
            tracing::error!("the thread that answers panicked");
        }
    }
}

fn work(shared: &Shared, publisher: &Mutex<Publisher>, batches: &mpsc::Receiver<Batch>) {
    while let Ok(batch) = batches.recv() {
        let published = catch_unwind(AssertUnwindSafe(|| lock(publisher).publish(batch)));
        let worked = u64::try_from(cpu_time::of_this_thread().as_micros()).unwrap_or(u64::MAX);
        shared.counters.publisher_cpu_us.store(worked, Ordering::Relaxed);
        let why = match published {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "answering panicked; see the log above".to_owned(),
        };
        shared.queue.fail_sync(why);
    }
}

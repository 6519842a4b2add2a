//! Keeping the index of search: a thread of its own reads what the logs have gained (`chorus_store::search`).
//!
//! It is hinted at, never waited for: a hint costs the writer an entry of a set, and one that is lost is found by comparing
//! places with heads, as at the start. While a lot is posted, in this workspace or in others of this process, all of
//! these threads together work about a twentieth of the time, so that posting does not pay for searching. The index is
//! then behind, and is read up for a search that waits for it; searches say where it is too far behind for that.

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use chorus_core::model::ids::{ConversationKey, EventRef};
use chorus_store::Readers;
use chorus_store::search::Index;
use tokio::sync::{oneshot, watch};

/// Events read before it is looked whether something is more urgent.
const EVENTS: usize = 500;
/// So many hints a second are a lot.
const LOT_PER_SECOND: f64 = 500.0;
/// What the thread rests after a stretch of work while a lot is posted, in lengths of that stretch.
const REST: u32 = 19;
/// So many hints behind, nobody waits for it to catch up.
const FAR_BEHIND: u64 = 2_000;
/// The longest rest.
const LONGEST_REST: Duration = Duration::from_secs(2);
/// How long it is waited before a place that failed is looked at again; doubled each time it fails once more.
const AGAIN: Duration = Duration::from_secs(1);
/// When what was taken out is tried to be scrubbed again, after a search was in the way.
const SCRUB_AGAIN: Duration = Duration::from_millis(250);
const LATEST_AGAIN: Duration = Duration::from_secs(60);

/// What all the workspaces of this process ask for.
static ALL: Load = Load { hints: AtomicU64::new(0), busy: AtomicU32::new(0) };

struct Load {
    /// Hints there have been.
    hints: AtomicU64,
    /// Threads that have something to read.
    busy: AtomicU32,
}

/// A thread that has something to read.
struct Busy;

impl Busy {
    fn now() -> Self {
        ALL.busy.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        ALL.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What there is to look at.
#[derive(Default)]
pub(crate) struct Hints {
    given: Mutex<Given>,
    wake: Condvar,
    /// Up to which hint everything was looked at.
    done: watch::Sender<u64>,
}

#[derive(Default)]
struct Given {
    rooms: HashSet<ConversationKey>,
    everywhere: bool,
    /// The index was found damaged.
    damaged: bool,
    /// Its files are still to be emptied of what was taken out.
    scrub: bool,
    forget: Vec<(EventRef, oneshot::Sender<()>)>,
    /// Hints there have been.
    count: u64,
    /// Up to which hint somebody waits: there is no rest before.
    awaited: u64,
    /// It rests, and more of the same does not wake it.
    resting: bool,
    stop: bool,
}

impl Hints {
    fn lock(&self) -> MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These conversations have moved on.
    pub(crate) fn look(&self, rooms: impl IntoIterator<Item = ConversationKey>) {
        let mut given = self.lock();
        let before = given.count;
        for room in rooms {
            given.rooms.insert(room);
            given.count += 1;
        }
        if given.count > before {
            ALL.hints.fetch_add(given.count - before, Ordering::Relaxed);
            if !given.resting {
                self.wake.notify_one();
            }
        }
    }

    /// Any may have.
    pub(crate) fn look_everywhere(&self) {
        let mut given = self.lock();
        given.everywhere = true;
        given.count += 1;
        self.wake.notify_one();
    }

    /// The index was found damaged by who searched it.
    pub(crate) fn make_anew(&self) {
        self.lock().damaged = true;
        self.look_everywhere();
    }

    /// What a message said goes from the index, before anything else; over when it has.
    pub(crate) fn forget(&self, at: EventRef) -> oneshot::Receiver<()> {
        let (gone, going) = oneshot::channel();
        self.lock().forget.push((at, gone));
        self.wake.notify_one();
        going
    }

    pub(crate) fn stop(&self) {
        self.lock().stop = true;
        self.wake.notify_one();
    }

    /// Waits until all that was hinted so far was looked at, and no longer than that; whether it was.
    pub(crate) async fn caught_up(&self, within: Duration) -> bool {
        let mut done = self.done.subscribe();
        let count = {
            let mut given = self.lock();
            if given.count - *done.borrow() > FAR_BEHIND {
                return false;
            }
            given.awaited = given.count;
            self.wake.notify_one();
            given.count
        };
        tokio::time::timeout(within, done.wait_for(|done| *done >= count)).await.is_ok()
    }

    /// Waits until there is something to do.
    fn wait(&self) -> MutexGuard<'_, Given> {
        let idle = |given: &mut Given| {
            let nothing = given.rooms.is_empty() && given.forget.is_empty();
            !given.stop && !given.everywhere && !given.scrub && nothing
        };
        self.wake.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner)
    }

    /// Rests, unless there is something urgent; a search that waits is, where resting is only courtesy.
    fn rest(&self, long: Duration, courteous: bool) {
        let quiet = |given: &mut Given| {
            let awaited = courteous && given.awaited > *self.done.borrow();
            !given.stop && given.forget.is_empty() && !awaited
        };
        let mut given = self.lock();
        given.resting = true;
        let waited = self.wake.wait_timeout_while(given, long, quiet);
        waited.unwrap_or_else(PoisonError::into_inner).0.resting = false;
    }
}

/// Starts the thread. It ends when it is told to stop.
pub(crate) fn start(
    hints: Arc<Hints>,
    index: Index,
    readers: Readers,
) -> std::io::Result<JoinHandle<()>> {
    let last = (Instant::now(), ALL.hints.load(Ordering::Relaxed));
    let indexer = Indexer { hints, index, readers, waiting: BTreeSet::new(), last, again: AGAIN };
    std::thread::Builder::new().name("search".to_owned()).spawn(move || indexer.run())
}

struct Indexer {
    hints: Arc<Hints>,
    index: Index,
    readers: Readers,
    waiting: BTreeSet<ConversationKey>,
    /// When it began to read a log last, and the hints there had been by then.
    last: (Instant, u64),
    /// How long to wait after the next failure.
    again: Duration,
}

impl Indexer {
    fn run(mut self) {
        self.hints.look_everywhere();
        loop {
            let mut given = self.hints.wait();
            if given.stop {
                drop(given);
                return self.finish();
            }
            let (count, everywhere) = (given.count, std::mem::take(&mut given.everywhere));
            let forget = std::mem::take(&mut given.forget);
            let damaged = std::mem::take(&mut given.damaged);
            given.scrub = false;
            self.waiting.extend(given.rooms.drain());
            drop(given);
            if damaged {
                self.index.spoil();
            }
            let looked = self.look(everywhere, forget);
            match looked {
                // Somebody searches just now, and the log beside the index cannot be emptied.
                Ok(false) => {
                    self.hints.rest(SCRUB_AGAIN, false);
                    let mut given = self.hints.lock();
                    given.rooms.extend(self.waiting.iter());
                    given.scrub = true;
                }
                Ok(true) if self.waiting.is_empty() => {
                    self.again = AGAIN;
                    self.hints.done.send_replace(count);
                }
                // Something more urgent came; what waits is gone on with after it.
                Ok(true) => self.hints.lock().rooms.extend(self.waiting.iter()),
                Err(why) => {
                    tracing::warn!(%why, "the index of search cannot be kept now");
                    self.hints.rest(self.again, false);
                    self.again = (self.again * 2).min(LATEST_AGAIN);
                    // Whatever it was, what is behind then is found by comparing.
                    self.hints.lock().everywhere = true;
                }
            }
        }
    }

    /// What the logs have dropped leaves the index with the host.
    fn finish(&mut self) {
        if let Err(why) = self.index.finish(&self.readers) {
            tracing::warn!(%why, "the index of search is tidied at the next start");
        }
    }

    /// False when something that was taken out is still in the files.
    fn look(
        &mut self,
        everywhere: bool,
        forget: Vec<(EventRef, oneshot::Sender<()>)>,
    ) -> Result<bool, chorus_store::db::Error> {
        for (at, gone) in forget {
            self.index.forget(at)?;
            let _ = gone.send(());
        }
        if everywhere {
            self.waiting.extend(self.index.behind(&self.readers)?);
        }
        let _busy = Busy::now();
        while let Some(key) = self.waiting.pop_first() {
            let (began, hints) = (Instant::now(), ALL.hints.load(Ordering::Relaxed));
            let (last, before) = std::mem::replace(&mut self.last, (began, hints));
            match self.index.step(&self.readers, key, EVENTS) {
                Ok(step) if step.more => drop(self.waiting.insert(key)),
                Ok(_) => {}
                // The log itself is damaged there: the doctor says where, and searching goes on beside it.
                Err(why @ chorus_store::db::Error::Corrupt(_)) if self.index.is_open() => {
                    tracing::warn!(%why, %key, "a conversation cannot be indexed");
                }
                Err(why) => {
                    self.waiting.insert(key);
                    return Err(why);
                }
            }
            let given = self.hints.lock();
            if given.stop || !given.forget.is_empty() {
                return Ok(true);
            }
            drop(given);
            let (worked, since) = (began.elapsed(), began.duration_since(last));
            if (hints - before) as f64 > LOT_PER_SECOND * since.as_secs_f64() {
                let rest = worked * REST * ALL.busy.load(Ordering::Relaxed);
                self.hints.rest(rest.min(LONGEST_REST), true);
            }
        }
        self.index.scrub()
    }
}

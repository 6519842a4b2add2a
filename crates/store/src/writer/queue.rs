//! The writer's queue: bounded per member and in total, and served fairly ([`Lines`]).

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chorus_core::model::error::{Code, Refusal};

use super::fair::Lines;
use super::job::Job;
use super::orders::CopyOrder;

/// Waiting commands. More are refused, so that a slow disk cannot exhaust memory.
const WAITING: usize = 65_536;
/// Waiting commands of one member, so that one member cannot fill the queue.
const WAITING_EACH: usize = 16_384;
/// Commands per batch. Beyond this a commit gets no cheaper, and the first command waits longer.
const BATCH: usize = 256;
/// Bytes of messages per batch, for the same reason.
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// The writer's next action.
pub(crate) enum Next {
    /// These jobs; none when a timer woke it.
    Work(Vec<Job>),
    /// Nothing waits and nothing more will come.
    Stop,
}

#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    jobs: Lines,
    /// The writer sleeps. Waking it costs a system call, so it is done only then.
    asleep: bool,
    /// It waits for the end of a sync only: jobs do not wake it.
    sleeps_on: bool,
    woken: bool,
    finishing: bool,
    closed: Option<String>,
    copy: Option<CopyOrder>,
    copying: bool,
    /// A batch is being synced.
    syncing: bool,
    /// Why one failed.
    sync_failed: Option<String>,
}

impl Queue {
    /// Queues a job, or returns it with a refusal.
    #[allow(clippy::result_large_err, reason = "the job goes back to its caller, which is rare")]
    pub(crate) fn push(&self, job: Job) -> Result<(), (Job, Refusal)> {
        let mut state = lock(&self.state);
        if let Some(why) = &state.closed {
            let refusal = Refusal::new(Code::Unavailable, why.clone());
            return Err((job, refusal));
        }
        if state.finishing {
            return Err((job, Refusal::new(Code::Unavailable, "the host is stopping")));
        }
        if state.jobs.len() >= WAITING {
            let refusal = Refusal::new(Code::Unavailable, "too many commands wait; try again");
            return Err((job, refusal));
        }
        if state.jobs.of(job.by.member) >= WAITING_EACH {
            let why = "too many requests in flight; wait for answers before you send more";
            return Err((job, Refusal::new(Code::RateLimited, why)));
        }
        state.jobs.push(job);
        if !state.sleeps_on {
            self.rouse(state);
        }
        Ok(())
    }

    /// Waits for the first job, a wake-up, or `due`; then takes the waiting jobs.
    pub(crate) fn take(&self, due: Option<Duration>, batching: bool) -> Next {
        let mut state = lock(&self.state);
        while state.jobs.len() == 0 && !state.woken {
            if state.finishing {
                return Next::Stop;
            }
            state.asleep = true;
            let (woken, timed_out) = match due {
                Some(due) if due.is_zero() => break,
                Some(due) => {
                    let waited = self.arrived.wait_timeout(state, due);
                    let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                    (state, timeout.timed_out())
                }
                None => (self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner), false),
            };
            state = woken;
            if timed_out {
                break;
            }
        }
        state.asleep = false;
        state.woken = false;
        let mut taken = Vec::with_capacity(state.jobs.len().min(BATCH));
        fill(&mut taken, &mut state.jobs, if batching { BATCH } else { 1 });
        Next::Work(taken)
    }

    /// While the batch before is being synced: waits for jobs, and adds them to the next one. False when the sync has
    /// ended or the batch is full.
    pub(crate) fn take_more(&self, taken: &mut Vec<Job>) -> bool {
        let before = taken.len();
        let mut state = lock(&self.state);
        if before >= BATCH {
            return false;
        }
        while state.syncing && state.jobs.len() == 0 {
            state.asleep = true;
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep = false;
        }
        if state.syncing {
            fill(taken, &mut state.jobs, BATCH);
        }
        taken.len() > before
    }

    /// Waits for the sync before, and says that another begins; not if that one failed.
    pub(crate) fn begin_sync(&self) -> bool {
        let mut state = self.when_synced();
        let may = state.sync_failed.is_none();
        state.syncing = may;
        may
    }

    /// Another may begin.
    pub(crate) fn end_sync(&self) {
        let mut state = lock(&self.state);
        state.syncing = false;
        self.rouse(state);
    }

    /// It has failed, and no other begins.
    pub(crate) fn fail_sync(&self, why: String) {
        let mut state = lock(&self.state);
        state.syncing = false;
        state.sync_failed = Some(why);
        state.woken = true;
        self.rouse(state);
    }

    /// Waits for the sync, and says why it failed if it did.
    pub(crate) fn until_synced(&self) -> Option<String> {
        self.when_synced().sync_failed.clone()
    }

    fn when_synced(&self) -> MutexGuard<'_, State> {
        let mut state = lock(&self.state);
        state.sleeps_on = state.syncing;
        while state.syncing {
            state.asleep = true;
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep = false;
        }
        state.sleeps_on = false;
        state
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.state).jobs.len()
    }

    /// Queues a copy, or returns the request with a refusal.
    pub(crate) fn ask_copy(&self, order: CopyOrder) -> Result<(), (CopyOrder, String)> {
        let mut state = lock(&self.state);
        if let Some(why) = &state.closed {
            return Err((order, why.clone()));
        }
        if state.finishing {
            return Err((order, "the host is stopping".to_owned()));
        }
        if std::mem::replace(&mut state.copying, true) {
            return Err((order, "another copy is being made".to_owned()));
        }
        state.copy = Some(order);
        state.woken = true;
        self.rouse(state);
        Ok(())
    }

    pub(crate) fn take_copy(&self) -> Option<CopyOrder> {
        lock(&self.state).copy.take()
    }

    /// The copy has ended, and another may be requested.
    pub(crate) fn copied(&self) {
        lock(&self.state).copying = false;
    }

    pub(crate) fn wake(&self) {
        let mut state = lock(&self.state);
        state.woken = true;
        self.rouse(state);
    }

    /// Accepts no more jobs; waiting ones are still done.
    pub(crate) fn finish(&self) {
        let mut state = lock(&self.state);
        state.finishing = true;
        self.rouse(state);
    }

    /// Stops; returns the waiting jobs.
    pub(crate) fn close(&self, why: String) -> Vec<Job> {
        let mut state = lock(&self.state);
        state.closed.get_or_insert(why);
        state.jobs.drain()
    }

    pub(crate) fn closed(&self) -> Option<String> {
        lock(&self.state).closed.clone()
    }

    fn rouse(&self, mut state: MutexGuard<'_, State>) {
        let asleep = std::mem::take(&mut state.asleep);
        drop(state);
        if asleep {
            self.arrived.notify_one();
        }
    }
}

/// A panic elsewhere cannot leave inconsistent data under a lock, because every change under one is
/// complete.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn fill(taken: &mut Vec<Job>, from: &mut Lines, most: usize) {
    let mut bytes: usize = taken.iter().map(|job| job.bytes()).sum();
    while taken.len() < most && bytes < BATCH_BYTES {
        let Some(job) = from.pop() else { break };
        bytes += job.bytes();
        taken.push(job);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use std::sync::mpsc;

    use chorus_core::model::caller::{Authority, By};
    use chorus_core::model::ids::MemberKey;
    use chorus_core::model::seed::CommandSeed;
    use chorus_core::queries::Barrier;

    use super::*;

    /// What identifies a job, and its answer.
    type Answered = (u32, u64, Code);

    fn job(member: u32, n: u64, answers: &mpsc::Sender<Answered>) -> Job {
        let by = By {
            member: MemberKey(member),
            session: None,
            authority: Authority::Worker,
            turn: None,
        };
        let answers = answers.clone();
        Job::new(by, Barrier, CommandSeed::default(), move |done| {
            let _ = answers.send((member, n, Refusal::from(done.unwrap_err()).code));
        })
    }

    /// Takes the next batch and refuses all of its jobs.
    fn taken(queue: &Queue, answered: &mpsc::Receiver<Answered>) -> Vec<(u32, u64)> {
        let Next::Work(jobs) = queue.take(Some(Duration::ZERO), true) else { panic!("it stopped") };
        jobs.into_iter().for_each(|job| job.refuse(Refusal::new(Code::Unavailable, "a test")));
        answered.try_iter().map(|(member, n, _)| (member, n)).collect()
    }

    // covers: OPS-100
    #[test]
    fn fifty_small_talkers_are_in_the_first_batch_beside_a_flood() {
        let queue = Queue::default();
        let (answers, answered) = mpsc::channel();
        for n in 0..10_000 {
            assert!(queue.push(job(1, n, &answers)).is_ok());
        }
        for talker in 2..52 {
            assert!(queue.push(job(talker, 0, &answers)).is_ok());
            assert!(queue.push(job(talker, 1, &answers)).is_ok());
        }
        let first = taken(&queue, &answered);
        // Two rounds: first everybody's first job, then everybody's second, each with one of the
        // flooding member's.
        let last = first.iter().rposition(|(member, _)| *member != 1).unwrap();
        assert_eq!((first.len(), last), (BATCH, 101));
        for talker in 2..52 {
            let own: Vec<u64> =
                first.iter().filter(|(m, _)| *m == talker).map(|(_, n)| *n).collect();
            assert_eq!(own, [0, 1], "in order");
        }
        let mut loud: Vec<u64> = first.iter().filter(|(m, _)| *m == 1).map(|(_, n)| *n).collect();
        while queue.len() > 0 {
            loud.extend(taken(&queue, &answered).iter().map(|(_, n)| *n));
        }
        assert_eq!(
            loud,
            (0..10_000).collect::<Vec<u64>>(),
            "nothing is lost and the order is kept"
        );
    }

    // covers: OPS-101
    #[test]
    fn one_member_cannot_fill_the_line_for_all() {
        let queue = Queue::default();
        let (answers, answered) = mpsc::channel();
        for n in 0..WAITING_EACH as u64 {
            assert!(queue.push(job(1, n, &answers)).is_ok());
        }
        let Err((refused, refusal)) = queue.push(job(1, 0, &answers)) else {
            panic!("it was taken")
        };
        assert_eq!(refusal.code, Code::RateLimited);
        refused.refuse(refusal);
        assert_eq!(answered.recv().unwrap(), (1, 0, Code::RateLimited));
        assert!(queue.push(job(2, 0, &answers)).is_ok());
        // When some of them are done there is room again.
        assert_eq!(taken(&queue, &answered).len(), BATCH);
        assert!(queue.push(job(1, 0, &answers)).is_ok());
        // When the writer ends, all waiting jobs are returned.
        let waits = queue.len();
        assert_eq!(queue.close("it ended".to_owned()).len(), waits);
        let Err((_, refusal)) = queue.push(job(2, 0, &answers)) else { panic!("it was taken") };
        assert_eq!(refusal.code, Code::Unavailable);
    }
}

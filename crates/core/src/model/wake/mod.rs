//! A wake: the durable job of bringing an agent back that sleeps in a terminal (threads spec section
//! 3.8; design section 5, "Wake").
//!
//! A runner's session is offered nothing. What its agent owes waits, and the host keeps one open
//! wake for the session, which names the threads to read and up to where. The runner picks a lane,
//! wakes the program and reports. The states are [`WakeState`]; all effects of reports are in
//! [`Wake::report`] and all effects of time in [`Wake::due`] and [`Wake::fire`].
//!
//! Invariant: the fence rises whenever the host takes the wake back, so that what an older run
//! reports can be told from the present one. Only a confirmed lane ends the search, and a wake is
//! done only when nothing that it covers is owed any more.

mod due;
mod outgoing;
mod report;
mod words;

use std::sync::Arc;

pub use due::Fired;
pub use outgoing::{OutgoingThread, OutgoingWake};
pub use report::{HUMAN_INPUT, Left, Report, Stale, Step};

use crate::model::ids::{
    ConversationKey, EventRef, MemberKey, Seq, SessionKey, ThreadKey, Timestamp, Uid,
};
use crate::model::limits;

/// A way to wake a program, in the order in which runners try them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// Codex's control socket.
    CodexSocket,
    /// Claude Code's inbox socket.
    ClaudeInbox,
    /// The Agent Client Protocol.
    Acp,
    /// Keys into the supervised terminal.
    Pty,
    /// The program is started again with its memory. Never while the session is alive.
    Resume,
    /// The program is started anew, with a summary. Never while the session is alive.
    NewSession,
    /// A plain command.
    Command,
}

/// What a runner reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReportResult {
    /// The wake is in its hands, or the turn runs.
    Working,
    /// A person is typing.
    Deferred,
    /// The lane woke the program, which showed it.
    Confirmed,
    Failed,
    /// The lane may have woken the program.
    Unknown,
    /// The turn has ended.
    Ended,
    /// No lane served.
    Exhausted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WakeState {
    /// It waits for its runner, or for its time.
    Pending,
    /// It was sent to the runner.
    Handed,
    /// A person is typing; the runner waits.
    Deferred,
    /// The program is awake and its turn runs.
    Running,
    Done,
    /// Given up: a dead letter that is shown.
    Dead,
}

/// How a wake ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The turn ran and nothing is owed any more.
    Answered,
    /// Nothing was owed any more before it ran.
    Obsolete,
    /// No lane served.
    WakeFailed,
    /// Turns ran and left what they owed.
    NoProgress,
    /// No runner was there for [`limits::WAKE_RUNNER_MS`].
    NoRunner,
}

/// One try of a lane.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Attempt {
    pub lane: Lane,
    pub result: ReportResult,
    /// The runner's words.
    #[redact(fixed = 3)]
    pub why: Option<Arc<str>>,
    /// How it is known: a turn's id, a status, a hook.
    #[redact(fixed = 3)]
    pub evidence: Option<Arc<str>>,
    pub fence: u32,
    pub at: Timestamp,
}

/// A failure of a lane, which counts for [`limits::WAKE_FAILURES_MS`], also in the next wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    pub lane: Lane,
    pub at: Timestamp,
}

/// A place to read, and up to where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeThread {
    pub conversation: ConversationKey,
    /// None: the conversation itself.
    pub thread: Option<ThreadKey>,
    /// The newest event to read, by its place in the conversation's log.
    pub through_seq: Seq,
    /// Up to where the runner was told; 0 where it was not.
    pub sent_seq: Seq,
}

/// A wake of one runner's session.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Wake {
    pub uid: Uid,
    pub session: SessionKey,
    pub member: MemberKey,
    /// Why it was opened: [`MUST_RESPOND`], or what its caller says.
    #[redact(fixed = 3)]
    pub reason: Arc<str>,
    /// Who asked for it; none where the host opened it.
    pub asked_by: Option<MemberKey>,
    /// The words of who asked for it.
    #[redact(fixed = 3)]
    pub prompt: Option<Arc<str>>,
    pub state: WakeState,
    pub fence: u32,
    /// An operator insists although a person is typing.
    pub force: bool,
    pub threads: Vec<WakeThread>,
    /// The newest tries, oldest first.
    pub attempts: Vec<Attempt>,
    /// Recent failures of lanes, also of earlier wakes of the session.
    pub failures: Vec<Failure>,
    /// Lanes that the runner must not take.
    pub skip: Vec<Lane>,
    /// Turns that ended and left what they owed.
    pub no_progress: u8,
    /// When the host takes it back, unless the runner reports.
    pub lease_until: Option<Timestamp>,
    /// While it is deferred: until when. While it is pending: not before then.
    pub deferred_until: Option<Timestamp>,
    /// Since when a person's typing has kept it from running.
    pub deferred_since: Option<Timestamp>,
    /// Since when nothing was heard of a runner.
    pub silent_since: Option<Timestamp>,
    /// When it was handed to the runner, or asked for, within the last minute, oldest first.
    pub woken: Vec<Timestamp>,
    /// When the runner was last told of it.
    pub sent_at: Option<Timestamp>,
    pub opened_at: Timestamp,
    pub changed_at: Timestamp,
    pub outcome: Option<Outcome>,
    /// The program's last lines, as the runner saw them.
    #[redact(fixed = 3)]
    pub lines: Option<Arc<str>>,
}

/// The reason of a wake that the host opened for mail that must be answered.
pub const MUST_RESPOND: &str = "must_respond";

/// A minute in milliseconds.
const MINUTE_MS: i64 = 60_000;

impl WakeThread {
    fn is_of(&self, other: &Self) -> bool {
        (self.conversation, self.thread) == (other.conversation, other.thread)
    }
}

impl Wake {
    /// A pending wake. `before` is the newest earlier wake of its session: lanes that failed there
    /// too often are skipped here.
    pub fn open(
        uid: Uid,
        session: SessionKey,
        member: MemberKey,
        before: Option<&Self>,
        now: Timestamp,
    ) -> Self {
        let mut wake = Self {
            uid,
            session,
            member,
            reason: MUST_RESPOND.into(),
            asked_by: None,
            prompt: None,
            state: WakeState::Pending,
            fence: 1,
            force: false,
            threads: Vec::new(),
            attempts: Vec::new(),
            failures: before.map_or_else(Vec::new, |before| before.failures.clone()),
            skip: Vec::new(),
            no_progress: 0,
            lease_until: None,
            deferred_until: None,
            deferred_since: None,
            silent_since: Some(now),
            woken: Vec::new(),
            sent_at: None,
            opened_at: now,
            changed_at: now,
            outcome: None,
            lines: None,
        };
        wake.skip_failing(now);
        wake
    }

    pub fn is_open(&self) -> bool {
        !matches!(self.state, WakeState::Done | WakeState::Dead)
    }

    /// Whether the runner has it.
    pub fn is_out(&self) -> bool {
        matches!(self.state, WakeState::Handed | WakeState::Deferred | WakeState::Running)
    }

    /// Adds a place to read, or raises up to where. False if it says nothing new, or names more
    /// places than a wake has.
    pub fn add(&mut self, place: WakeThread, now: Timestamp) -> bool {
        let is_full = self.threads.len() >= limits::WAKE_THREADS;
        match self.threads.iter_mut().find(|known| known.is_of(&place)) {
            Some(known) if known.through_seq >= place.through_seq => return false,
            Some(known) => known.through_seq = place.through_seq,
            None if is_full => return false,
            None => self.threads.push(WakeThread { sent_seq: Seq(0), ..place }),
        }
        self.changed_at = now;
        true
    }

    fn place_of(&self, at: EventRef, thread: Option<ThreadKey>) -> Option<&WakeThread> {
        let here =
            |place: &&WakeThread| (place.conversation, place.thread) == (at.conversation, thread);
        self.threads.iter().find(here)
    }

    /// Whether it is about an event of this thread.
    pub fn covers(&self, at: EventRef, thread: Option<ThreadKey>) -> bool {
        self.place_of(at, thread).is_some_and(|place| at.seq <= place.through_seq)
    }

    /// Whether the runner was told of an event of this thread.
    pub fn has_sent(&self, at: EventRef, thread: Option<ThreadKey>) -> bool {
        self.place_of(at, thread).is_some_and(|place| at.seq <= place.sent_seq)
    }

    /// Whether there is mail of which the runner was not told.
    pub fn has_unsent(&self) -> bool {
        self.threads.iter().any(|place| place.sent_seq < place.through_seq)
    }

    /// The runner is to be told of this event again.
    pub fn tell_again(&mut self, at: EventRef, thread: Option<ThreadKey>) {
        for place in &mut self.threads {
            if (place.conversation, place.thread) == (at.conversation, thread) {
                place.sent_seq = place.sent_seq.min(Seq(at.seq.0.saturating_sub(1)));
            }
        }
    }

    /// How often the agent of a wake was woken about a place within the last minute, by this and
    /// all other wakes, and when the first of these no longer counts.
    pub fn count_woken<'a>(
        wakes: impl Iterator<Item = &'a Arc<Self>>,
        of: &Self,
        place: &WakeThread,
        now: Timestamp,
    ) -> (usize, Option<Timestamp>) {
        let about = |wake: &&Self| {
            let is_other = wake.member == of.member && wake.uid != of.uid;
            is_other && wake.threads.iter().any(|known| known.is_of(place))
        };
        let recent = |at: &&Timestamp| now.since(**at) < MINUTE_MS;
        let others = wakes.map(|wake| &**wake).filter(about).flat_map(|wake| &wake.woken);
        let handed = others.chain(&of.woken).filter(recent);
        let (mut count, mut first) = (0, None);
        for at in handed {
            count += 1;
            first = Some(first.map_or(*at, |first: Timestamp| first.min(*at)));
        }
        (count, first.map(|at| at.plus(MINUTE_MS)))
    }

    /// It is sent to its runner.
    pub fn hand(&mut self, now: Timestamp) {
        self.state = WakeState::Handed;
        self.deferred_until = None;
        self.note_woken(now);
        self.sent(now);
    }

    /// It counts as one more wake of its agent ([`limits::WAKES_PER_MINUTE`]).
    pub fn note_woken(&mut self, now: Timestamp) {
        self.woken.retain(|at| now.since(*at) < MINUTE_MS);
        self.woken.push(now);
    }

    /// It is sent to its runner again, with the same fence: the runner is back, or there is more
    /// mail.
    pub fn sent(&mut self, now: Timestamp) {
        for place in &mut self.threads {
            place.sent_seq = place.through_seq;
        }
        self.sent_at = Some(now);
        self.changed_at = now;
        let lease = now.plus(limits::WAKE_LEASE_MS);
        self.lease_until = Some(self.lease_until.map_or(lease, |until| until.max(lease)));
    }

    /// It is not handed before `until`.
    pub fn put_off(&mut self, until: Timestamp, now: Timestamp) {
        self.deferred_until = Some(until);
        self.changed_at = now;
    }

    /// Whether a person's typing has kept it from running for longer than a wake waits for that.
    pub fn is_blocked_by_person(&self, now: Timestamp) -> bool {
        let since = self.deferred_since.filter(|_| self.is_open());
        since.is_some_and(|since| now.since(since) >= limits::WAKE_DEFER_MS)
    }

    /// The lane that woke the program, if one did in this fence.
    pub fn lane(&self) -> Option<Lane> {
        let here = |attempt: &&Attempt| {
            attempt.fence == self.fence && attempt.result == ReportResult::Confirmed
        };
        self.attempts.iter().rev().find(here).map(|attempt| attempt.lane)
    }

    /// Lanes that failed too often lately are not taken.
    fn skip_failing(&mut self, now: Timestamp) {
        self.failures.retain(|failure| now.since(failure.at) < limits::WAKE_FAILURES_MS);
        let excess = self.failures.len().saturating_sub(limits::WAKE_ATTEMPTS);
        self.failures.drain(..excess);
        for lane in self.failures.iter().map(|failure| failure.lane).collect::<Vec<_>>() {
            let count = self.failures.iter().filter(|failure| failure.lane == lane).count();
            if count >= limits::WAKE_FAILURES {
                self.skip(lane);
            }
        }
    }

    fn skip(&mut self, lane: Lane) {
        if !self.skip.contains(&lane) {
            self.skip.push(lane);
        }
    }
}

#[cfg(test)]
mod tests;

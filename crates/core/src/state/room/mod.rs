//! A room: all in-memory state of one conversation that decisions need.
//!
//! A room is the replay of its conversation's log, plus what is still open: deliveries, claims and
//! cursors. It is valid if and only if its `head.version` is the store's. The store loads it with
//! [`Room::restore`], commands change it by its operations, which record what must be written, and
//! the store writes the result of [`Room::take_version`]. Nobody else can change its fields.
//! A refused command changes nothing.

pub mod apply;
pub mod context;
mod dirty;
mod erase;
mod idle;
mod log_snapshot;
mod open;
mod read;
mod recover;
mod remote;
pub mod turns;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::model::attention::{Attention, Intent};
use crate::model::conversation::{Conversation, Participation};
use crate::model::cursor::ReadCursor;
use crate::model::delivery::Open;
use crate::model::digest::Tally;
use crate::model::event::{Event, Hash};
use crate::model::ids::{ConversationKey, MemberKey, Seq, ThreadKey, Timestamp, Uid};
use crate::model::inbox::Remote;
use crate::model::limits;
use crate::model::maps::KeyMap;
use crate::model::message_state::MessageState;
use crate::model::schedule::Schedule;
use crate::model::stimulus::Stimulus;
use crate::model::stimulus::queue::{self, Queue};
use crate::model::thread::Thread;
use crate::model::turn::Turn;
use crate::state::directory::Directory;
use crate::state::talk::Talk;
pub use dirty::Dirty;
pub use turns::Turns;

/// The end of a conversation's log, and how far everything in it is accounted for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub seq: Seq,
    pub hash: Hash,
    /// Increases with every recorded change of the room.
    pub version: u64,
    /// Every event up to this one has a receipt or a pending row, or notified nobody. Events above
    /// it are offered again after a crash.
    pub settled: Seq,
    /// Time never goes back within a conversation.
    pub last_at: Timestamp,
    /// Agents' messages in the main timeline since a person spoke there.
    pub unattended: u32,
    /// The newest event that was dropped, or 0: the log begins after it.
    pub base: Seq,
}

/// The newest message of one timeline (the main one, or a thread), in the form that the next
/// message is read against.
#[derive(Clone, veil::Redact)]
pub struct Line {
    pub seq: Seq,
    pub uid: Uid,
    pub author: MemberKey,
    pub at: Timestamp,
    #[redact(fixed = 3)]
    pub text: Arc<str>,
    pub intent: Intent,
    pub hop: u8,
    pub attention: Option<Arc<Attention>>,
}

#[derive(Clone, Debug)]
pub struct Room {
    conversation: Arc<Conversation>,
    /// What is wrong with its log and how to fix it. While set, nothing can be posted.
    damaged: Option<Arc<str>>,
    head: Head,
    roster: KeyMap<MemberKey, Participation>,
    /// Members of the roster who listen to everything, so that a decision need not look at each
    /// membership.
    listeners: BTreeSet<MemberKey>,
    threads: KeyMap<ThreadKey, Arc<Thread>>,
    /// `None` is the main timeline.
    lines: KeyMap<Option<ThreadKey>, Line>,
    /// The newest events, oldest first.
    tail: VecDeque<Arc<Event>>,
    /// The messages among them, in the form that the flow of talk is read from.
    talk: Talk,
    /// Events for which somebody still owes something or holds a claim.
    open: BTreeMap<Seq, Open>,
    /// How recently closed events ended, newest last. Older ones have receipts only.
    closed: VecDeque<Open>,
    /// Messages that were edited, deleted or reacted to, as far as this room has loaded or changed
    /// them.
    messages: KeyMap<Seq, MessageState>,
    /// Read cursors that were looked up: of the conversation and of its threads.
    cursors: KeyMap<(MemberKey, Option<ThreadKey>), ReadCursor>,
    /// Idempotency keys within the window, with their senders and events.
    sent: Sent,
    /// When agents opened subjects unprompted within the last hour.
    autonomous: VecDeque<(MemberKey, Timestamp)>,
    /// Members who have left without giving up their membership: the whole room (`None`), or a
    /// thread.
    gone: BTreeSet<(MemberKey, Option<ThreadKey>)>,
    /// Its queue of stimuli, and recently ended ones.
    stimuli: Queue,
    /// When to look for silent threads next; none when no thread is watched. It may be too early
    /// but never too late.
    silence_at: Option<Timestamp>,
    /// Its schedules of recurring stimuli.
    schedules: BTreeMap<Uid, Arc<Schedule>>,
    /// The external channel that this conversation mirrors, if any.
    remote: Option<Remote>,
    /// What was said since the last digest. Nothing is counted while nobody follows the
    /// conversation.
    tally: Tally,
    /// Who speaks about which subject.
    turns: Turns,
    /// The canonical threads of root messages.
    roots: KeyMap<Seq, ThreadKey>,
    /// Open events without a row: after a crash they must be rebuilt from the log.
    fresh: BTreeSet<Seq>,
    dirty: Dirty,
}

/// How many of the newest events a room keeps.
pub const TAIL: usize = 64;

/// The idempotency window of one conversation.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    by_key: KeyMap<[u8; 16], Seq>,
    order: VecDeque<(Timestamp, [u8; 16])>,
}

impl Sent {
    pub fn get(&self, key: &[u8; 16]) -> Option<Seq> {
        self.by_key.get(key).copied()
    }

    fn put(&mut self, key: [u8; 16], seq: Seq, at: Timestamp) {
        let is_old = |(t, _): &(Timestamp, _)| at.since(*t) > limits::IDEMPOTENCY_MS;
        while self.order.len() >= limits::IDEMPOTENCY_KEYS
            || self.order.len() >= limits::IDEMPOTENCY_NEWEST
                && self.order.front().is_some_and(is_old)
        {
            let Some((_, old)) = self.order.pop_front() else { break };
            self.by_key.remove(&old);
        }
        self.by_key.insert(key, seq);
        self.order.push_back((at, key));
    }

    /// Idempotency keys up to `through` are no longer known.
    pub(super) fn forget(&mut self, through: Seq) {
        self.by_key.retain(|_, seq| *seq > through);
        let by_key = &self.by_key;
        self.order.retain(|(_, key)| by_key.contains_key(key));
    }
}

/// A room as the store has it.
#[derive(Clone, Debug)]
pub struct Parts {
    pub conversation: Arc<Conversation>,
    pub head: Head,
    pub roster: Vec<(MemberKey, Participation)>,
    pub threads: Vec<Thread>,
    /// The newest [`TAIL`] events and every event above `head.settled`, in order.
    pub events: Vec<Arc<Event>>,
    pub pending: Vec<Open>,
    pub gone: Vec<(MemberKey, Option<ThreadKey>)>,
    pub stimuli: Vec<Stimulus>,
    pub schedules: Vec<Schedule>,
    pub remote: Option<Remote>,
    /// The position up to which digests cover the log, if it was ever recorded. If the conversation
    /// is followed, `events` begin there or earlier, or [`limits::DIGEST_EVENTS`] before the end.
    pub digested: Option<Seq>,
    /// Events above `head.settled` that have a receipt.
    pub receipts: BTreeSet<Seq>,
    /// Idempotency keys of the window: time, key and event.
    pub sent: Vec<(Timestamp, [u8; 16], Seq)>,
    /// Who speaks about each subject or waits to.
    pub turns: Vec<(Seq, Turn)>,
}

impl Room {
    /// An empty room, before its first event.
    pub fn new(conversation: Conversation) -> Self {
        Self {
            conversation: Arc::new(conversation),
            damaged: None,
            head: Head::default(),
            roster: KeyMap::default(),
            listeners: BTreeSet::new(),
            threads: KeyMap::default(),
            lines: KeyMap::default(),
            tail: VecDeque::new(),
            talk: Talk::new(),
            open: BTreeMap::new(),
            closed: VecDeque::new(),
            messages: KeyMap::default(),
            cursors: KeyMap::default(),
            sent: Sent::default(),
            autonomous: VecDeque::new(),
            gone: BTreeSet::new(),
            stimuli: Queue::new(),
            silence_at: None,
            schedules: BTreeMap::new(),
            remote: None,
            tally: Tally::default(),
            turns: Turns::default(),
            roots: KeyMap::default(),
            fresh: BTreeSet::new(),
            dirty: Dirty::default(),
        }
    }

    /// Restores a room as it was before the last process ended. Events that notified an agent and
    /// are not accounted for are open again, one attempt later, and get their rows at once.
    pub fn restore(parts: Parts, directory: &Directory, now: Timestamp) -> Self {
        let mut room = Self::new(Conversation::clone(&parts.conversation));
        room.head = parts.head;
        room.listeners = listeners(&parts.roster);
        room.roster = parts.roster.into_iter().collect();
        room.threads = parts.threads.into_iter().map(|t| (t.key, Arc::new(t))).collect();
        room.roots = room.threads.values().filter_map(|t| Some((t.root?, t.key))).collect();
        room.turns.restore(parts.turns);
        room.stimuli = parts.stimuli.into_iter().map(|s| (s.uid, Arc::new(s))).collect();
        room.schedules = parts.schedules.into_iter().map(|s| (s.uid, Arc::new(s))).collect();
        room.remote = parts.remote;
        room.gone = parts.gone.into_iter().collect();
        room.tally = Tally::from(parts.digested.unwrap_or(room.head.seq));
        room.dirty.digested = parts.digested.is_none() && !room.listeners.is_empty();
        for (at, key, seq) in parts.sent {
            room.sent.put(key, seq, at);
        }
        for open in parts.pending {
            room.stand(open, now);
        }
        for event in parts.events {
            room.remember(&event, None);
            let unaccounted = event.seq > room.head.settled
                && !room.open.contains_key(&event.seq)
                && !parts.receipts.contains(&event.seq);
            if let Some(mut open) = Open::of(&event, directory).filter(|_| unaccounted) {
                open.deliveries.iter_mut().for_each(|d| d.attempt = 1);
                open.set_back(now);
                let seq = open.seq;
                room.open_event(open);
                room.must_store(seq);
            }
        }
        room.silence_at = room.next_silence();
        room
    }

    /// Whether nothing can be posted: the conversation is archived, or its log is damaged.
    pub fn is_closed(&self) -> bool {
        self.conversation.settings.archived || self.damaged.is_some()
    }

    /// Agents' messages in a timeline since a person spoke there.
    pub fn unattended(&self, thread: Option<ThreadKey>) -> u32 {
        match thread {
            Some(key) => self.threads.get(&key).map_or(0, |t| t.unattended),
            None => self.head.unattended,
        }
    }

    /// Whether the member has left the thread, or all of the room.
    pub fn has_left(&self, member: MemberKey, thread: Option<ThreadKey>) -> bool {
        !self.gone.is_empty()
            && (self.gone.contains(&(member, None)) || self.gone.contains(&(member, thread)))
    }

    /// Whether the member has a membership and has not left the thread.
    pub fn takes_part(&self, member: MemberKey, thread: Option<ThreadKey>) -> bool {
        self.roster.contains_key(&member) && !self.has_left(member, thread)
    }

    /// Adds or updates a stimulus. Ones that ended long ago are forgotten.
    pub fn put_stimulus(&mut self, stimulus: Stimulus) {
        let stimulus = Arc::new(stimulus);
        self.dirty.stimuli.insert(stimulus.uid, Some(stimulus.clone()));
        let ended = stimulus.ended_at;
        self.stimuli.insert(stimulus.uid, stimulus);
        for uid in ended.map(|at| queue::forgotten(&self.stimuli, at)).unwrap_or_default() {
            self.stimuli.remove(&uid);
            self.dirty.stimuli.insert(uid, None);
        }
    }

    /// Replaces a stimulus with a newer one about the same subject.
    pub fn replace_stimulus(&mut self, ended: Stimulus) {
        self.dirty.replaced += 1;
        self.put_stimulus(ended);
    }

    /// Adds or updates a schedule.
    pub fn put_schedule(&mut self, schedule: Schedule) {
        let schedule = Arc::new(schedule);
        self.dirty.schedules.insert(schedule.uid, Some(schedule.clone()));
        self.schedules.insert(schedule.uid, schedule);
    }

    pub fn remove_schedule(&mut self, uid: Uid) {
        self.schedules.remove(&uid);
        self.dirty.schedules.insert(uid, None);
    }

    /// When to look at its queue or its schedules next.
    pub fn queue_due(&self) -> Option<Timestamp> {
        let fires = self.schedules.values().filter_map(|s| s.next_at).min();
        queue::due(&self.stimuli).into_iter().chain(fires).chain(self.silence_at).min()
    }

    /// Whether something waits in its queue or will be put there.
    pub fn has_stimuli(&self) -> bool {
        self.queue_due().is_some()
    }

    /// Whether anything could wait in its queue.
    pub fn has_queue(&self) -> bool {
        !self.stimuli.is_empty() || !self.schedules.is_empty() || self.silence_at.is_some()
    }

    /// The live thread of an initiative; the oldest, if there are two.
    pub fn live_thread_of(&self, initiative: &str) -> Option<&Arc<Thread>> {
        let of = |t: &&Arc<Thread>| t.work.initiative_key.as_deref() == Some(initiative);
        self.threads.values().filter(of).filter(|t| t.is_live()).min_by_key(|t| t.key)
    }

    pub fn key(&self) -> ConversationKey {
        self.conversation.key
    }

    /// Returns what must be written, if anything, and the head of the new version. From here on
    /// the room counts it as written.
    pub fn take_version(&mut self) -> Option<(Head, Dirty)> {
        if !self.is_dirty() {
            return None;
        }
        self.head.version += 1;
        let dirty = self.take_dirty();
        Some((self.head, dirty))
    }

    /// Returns what must be written, as part of the present version. From here on the room counts
    /// it as written.
    pub fn take_dirty(&mut self) -> Dirty {
        self.settle_turn_rows();
        self.head.settled = self.settled_now();
        std::mem::take(&mut self.dirty)
    }

    /// Events of this batch. They are only in the room.
    pub fn unwritten(&self) -> &[Arc<Event>] {
        &self.dirty.events
    }

    pub fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// The position up to which every event is accounted for: the first open one without a row.
    fn settled_now(&self) -> Seq {
        self.fresh.first().map_or(self.head.seq, |seq| Seq(seq.0 - 1))
    }
}

fn listeners(roster: &[(MemberKey, Participation)]) -> BTreeSet<MemberKey> {
    roster.iter().filter(|(_, p)| *p == Participation::AlwaysListen).map(|(m, _)| *m).collect()
}

//! A workspace: runs commands against the directory and the rooms, one after the other.
//!
//! Load, decide, record: [`Workspace::execute`] loads the facts that a command needs through
//! [`Facts`], decides, and changes the rooms in memory. Pending writes and effects are collected
//! until [`Workspace::take_changes`]. A refused command has changed nothing. Nothing in here reads
//! a clock.

mod changes;
mod intervals;
mod jobs;
mod private_reads;
mod reload;
mod room_cache;
mod rooms;
mod timer;
mod wake_history;
mod wakes;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use changes::{Changes, RoomChanges};
use intervals::{Deferral, Every};
pub(crate) use private_reads::{PrivateReads, Whose};
use rooms::Rooms;
pub(crate) use rooms::Tracked;
pub use timer::Concern;
use timer::Timers;
pub(crate) use timer::{TimerKey, TimerOf};
pub(crate) use wake_history::{HOUR_MS, WakeHistory};

use crate::model::approval::{self, Approval};
use crate::model::budget::Budgets;
use crate::model::conversation::Keep;
use crate::model::error::Refusal;
use crate::model::flow;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Timestamp, Uid};
use crate::model::maps::KeyMap;
use crate::state::directory::Directory;
use crate::state::effect::Effect;
use crate::state::facts::Unavailable;
use crate::state::room::Room;

/// Why a command produced no output.
#[derive(Clone, Debug)]
pub enum Failure {
    Refused(Refusal),
    /// It waits for a person's approval.
    AwaitsApproval(Arc<Approval>),
    Unavailable(Unavailable),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Unavailable> for Failure {
    fn from(unavailable: Unavailable) -> Self {
        Self::Unavailable(unavailable)
    }
}

/// The whole state of one host.
#[derive(Debug, Default)]
pub struct Workspace {
    pub(crate) directory: Arc<Directory>,
    pub(crate) rooms: Rooms,
    pub(crate) by_uid: KeyMap<Uid, ConversationKey>,
    /// The events for which each agent owes something or may still speak.
    pub(crate) owed: KeyMap<MemberKey, BTreeSet<EventRef>>,
    /// Open events by public id, so that they are found without reading the log.
    pub(crate) open_by_uid: KeyMap<Uid, EventRef>,
    /// Open events whose obligation was not met in time.
    pub(crate) overdue: BTreeSet<EventRef>,
    /// What needs a person's approval, and how long it waits.
    pub(crate) approvals: approval::Rules,
    /// What agents were shown in private.
    pub(crate) private_reads: PrivateReads,
    /// What agents were last notified of, and how often they notified each other.
    pub(crate) wake_history: WakeHistory,
    pub(crate) timers: Timers,
    pub(crate) digests: Every,
    pub(crate) keep: Keep,
    pub(crate) granted: KeyMap<MemberKey, Timestamp>,
    pub(crate) running: KeyMap<MemberKey, usize>,
    pub(crate) last_session: u32,
    pub(crate) last_conversation: u64,
    pub(crate) budgets: Budgets,
    pub(crate) flow: flow::Settings,
    pub(crate) deferral: Deferral,
    /// Rooms that were restored with timers that do not match their open events.
    pub(crate) to_review: BTreeSet<ConversationKey>,
    pub(crate) changes: Changes,
    pub(crate) touched: BTreeSet<ConversationKey>,
    pub(crate) directory_changed: bool,
}

impl Workspace {
    /// A workspace with this directory, whose newest conversation has the key `last_conversation`.
    pub fn new(directory: Directory, last_conversation: u64) -> Self {
        let last_session = directory.sessions.last().map_or(0, |(key, _)| key.0);
        let private_reads = PrivateReads::after_start(directory.sessions.values());
        let (mut directory, mut changes) = (directory, Changes::default());
        // Older versions had no hashes, and calls kept their words.
        let decided = directory.approvals.values().filter(|a| a.decided.is_some() && a.has_words());
        changes.approvals = decided.map(|a| (a.uid, Some(Arc::new(a.emptied())))).collect();
        for (uid, approval) in &changes.approvals {
            approval.iter().for_each(|a| directory.approvals.insert_mut(*uid, a.clone()));
        }
        let directory = Arc::new(directory);
        let mut workspace = Self {
            directory,
            private_reads,
            changes,
            last_session,
            last_conversation,
            ..Self::default()
        };
        workspace.track_wakes();
        workspace
    }

    /// Replaces the default budgets for agents.
    pub fn with_budgets(self, budgets: Budgets) -> Self {
        Self { budgets, ..self }
    }

    /// Replaces the default settings for reading the flow of talk.
    pub fn with_flow(self, flow: flow::Settings) -> Self {
        Self { flow, ..self }
    }

    /// Replaces the default rules for approvals.
    pub fn with_approvals(self, approvals: approval::Rules) -> Self {
        Self { approvals, ..self }
    }

    /// Replaces the default deferral time, in milliseconds.
    pub fn with_deferral(self, ms: i64) -> Self {
        Self { deferral: Deferral(ms), ..self }
    }

    pub fn directory(&self) -> &Arc<Directory> {
        &self.directory
    }

    /// Sets how often followers receive digests, in milliseconds; none means never.
    pub fn set_digests(&mut self, every: Option<i64>) {
        self.digests = Every(every);
    }

    pub fn room(&self, key: ConversationKey) -> Option<&Room> {
        self.rooms.get(&key)
    }

    pub fn rooms(&self) -> impl Iterator<Item = &Room> {
        self.rooms.values()
    }

    /// Restores a previous directory after a failed batch.
    pub fn restore_directory(&mut self, directory: Arc<Directory>) {
        self.directory = directory;
        self.changes = Changes::default();
        self.directory_changed = false;
        self.private_reads.write_again();
        self.track_wakes();
        self.track_jobs();
    }

    /// Rooms that a batch has changed in memory and not yet handed over to be written.
    pub fn touched(&self) -> Vec<ConversationKey> {
        self.touched.iter().copied().collect()
    }

    /// The clock was set back to `now`: open events continue from that time and get their rows.
    pub fn set_back(&mut self, now: Timestamp) {
        self.wake_history.set_back(now);
        self.set_wakes_back(now);
        let mut changed = Vec::new();
        for (key, room) in self.rooms.iter_mut() {
            let at = |seq| EventRef { conversation: *key, seq };
            changed.extend(room.set_back(now).into_iter().map(at));
        }
        for at in changed {
            self.touched.insert(at.conversation);
            self.track(at);
        }
    }

    /// When a timer fires next.
    pub fn next_due(&self) -> Option<Timestamp> {
        let now = !self.to_review.is_empty() || self.rooms.has_changed();
        if now { Some(Timestamp::default()) } else { self.timers.next() }
    }

    /// What the next timer concerns.
    pub fn next_concern(&self) -> Option<Concern> {
        self.timers.next_concern()
    }

    /// Returns the pending writes and the effects to perform afterwards.
    pub fn take_changes(&mut self) -> Changes {
        let mut changes = std::mem::take(&mut self.changes);
        if std::mem::take(&mut self.directory_changed) {
            changes.effects.push(Effect::Directory(self.directory.clone()));
        }
        for key in std::mem::take(&mut self.touched) {
            let Some(room) = self.rooms.get_to_write(&key) else { continue };
            let due = self.digests.0.and_then(|every| room.tally().due(every));
            if due.is_some() {
                self.timers.set(TimerKey::digest(key), due);
            }
            if room.has_queue() {
                self.timers.set(TimerKey::queue(key), room.queue_due());
            }
            if let Some((head, dirty)) = room.take_version() {
                changes.rooms.push(RoomChanges { key, head, dirty });
            }
        }
        if self.private_reads.closing || !changes.records_nothing() {
            changes.told = self.private_reads.take_unwritten();
        }
        changes
    }
}

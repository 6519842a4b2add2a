//! What others read of a room. They change it only by its operations, which record the change.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::{Head, Line, Room, Sent, Turns};
use crate::model::conversation::{Conversation, Participation};
use crate::model::cursor::ReadCursor;
use crate::model::delivery::Open;
use crate::model::digest::Tally;
use crate::model::event::Event;
use crate::model::ids::{MemberKey, Seq, ThreadKey, Timestamp, Uid};
use crate::model::inbox::Remote;
use crate::model::maps::KeyMap;
use crate::model::message_state::MessageState;
use crate::model::schedule::Schedule;
use crate::model::stimulus::queue::Queue;
use crate::model::thread::Thread;
use crate::state::talk::Talk;

impl Room {
    #[inline]
    pub fn conversation(&self) -> &Arc<Conversation> {
        &self.conversation
    }

    /// What is wrong with its log and how to fix it. While set, nothing can be posted.
    #[inline]
    pub fn damaged(&self) -> Option<&Arc<str>> {
        self.damaged.as_ref()
    }

    #[inline]
    pub fn head(&self) -> &Head {
        &self.head
    }

    #[inline]
    pub fn roster(&self) -> &KeyMap<MemberKey, Participation> {
        &self.roster
    }

    /// Members of the roster who listen to everything.
    #[inline]
    pub fn listeners(&self) -> &BTreeSet<MemberKey> {
        &self.listeners
    }

    #[inline]
    pub fn threads(&self) -> &KeyMap<ThreadKey, Arc<Thread>> {
        &self.threads
    }

    #[inline]
    pub fn thread(&self, key: ThreadKey) -> Option<&Arc<Thread>> {
        self.threads.get(&key)
    }

    /// The newest message of each timeline; `None` is the main timeline.
    #[inline]
    pub fn lines(&self) -> &KeyMap<Option<ThreadKey>, Line> {
        &self.lines
    }

    /// The newest events, oldest first.
    #[inline]
    pub fn tail(&self) -> &VecDeque<Arc<Event>> {
        &self.tail
    }

    /// The messages among the newest events, in the form that the flow of talk is read from.
    #[inline]
    pub fn talk(&self) -> &Talk {
        &self.talk
    }

    /// Events for which somebody still owes something or holds a claim.
    #[inline]
    pub fn open(&self) -> &BTreeMap<Seq, Open> {
        &self.open
    }

    /// How recently closed events ended, newest last. Older ones have receipts only.
    #[inline]
    pub fn closed(&self) -> &VecDeque<Open> {
        &self.closed
    }

    /// Messages that were edited, deleted or reacted to, as far as this room knows them.
    #[inline]
    pub fn messages(&self) -> &KeyMap<Seq, MessageState> {
        &self.messages
    }

    /// Read cursors that were looked up: of the conversation and of its threads.
    #[inline]
    pub fn cursors(&self) -> &KeyMap<(MemberKey, Option<ThreadKey>), ReadCursor> {
        &self.cursors
    }

    /// Idempotency keys within the window, with their events.
    #[inline]
    pub fn sent(&self) -> &Sent {
        &self.sent
    }

    /// When agents opened subjects unprompted within the last hour, oldest first.
    #[inline]
    pub fn autonomous(&self) -> &VecDeque<(MemberKey, Timestamp)> {
        &self.autonomous
    }

    /// Members who have left without giving up their membership: the whole room (`None`), or a
    /// thread.
    #[inline]
    pub fn gone(&self) -> &BTreeSet<(MemberKey, Option<ThreadKey>)> {
        &self.gone
    }

    /// Its queue of stimuli, and recently ended ones.
    #[inline]
    pub fn stimuli(&self) -> &Queue {
        &self.stimuli
    }

    /// When to look for silent threads next; none when no thread is watched. It may be too early
    /// but never too late.
    #[inline]
    pub fn silence_at(&self) -> Option<Timestamp> {
        self.silence_at
    }

    /// Its schedules of recurring stimuli.
    #[inline]
    pub fn schedules(&self) -> &BTreeMap<Uid, Arc<Schedule>> {
        &self.schedules
    }

    /// The external channel that this conversation mirrors, if any.
    #[inline]
    pub fn remote(&self) -> Option<&Remote> {
        self.remote.as_ref()
    }

    /// What was said since the last digest. Nothing is counted while nobody follows the
    /// conversation.
    #[inline]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Who speaks about which subject.
    #[inline]
    pub fn turns(&self) -> &Turns {
        &self.turns
    }
}

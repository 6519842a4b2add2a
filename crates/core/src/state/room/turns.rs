//! The subjects of a channel in a room: which open events belong to each, and who has the turn.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::attention::{Mode, Policy, Rule};
use crate::model::conversation::{ConversationKind, Replies};
use crate::model::delivery::{Delivery, Open};
use crate::model::ids::{MemberKey, Seq, ThreadKey};
use crate::model::thread::ThreadKind;
use crate::model::turn::{Rules, Turn};
use crate::state::room::Room;

/// Idle subjects whose turns a room remembers.
const IDLE: usize = 1_024;

/// Turns by subject. A subject's key is the seq of its root message, or of the opening of a thread
/// without one.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    by_subject: BTreeMap<Seq, Turn>,
    /// Open events about each subject.
    open: BTreeMap<Seq, BTreeSet<Seq>>,
    /// Subjects that have a row.
    stored: BTreeSet<Seq>,
    /// Subjects with a member who rests after speaking.
    resting: BTreeSet<Seq>,
    /// Subjects with a change that affects turns: they must be arbitrated.
    changed: BTreeSet<Seq>,
}

impl Turns {
    pub fn get(&self, subject: Seq) -> Option<&Turn> {
        self.by_subject.get(&subject)
    }

    pub fn subjects(&self) -> impl Iterator<Item = (Seq, &Turn)> {
        self.by_subject.iter().map(|(subject, turn)| (*subject, turn))
    }

    /// The subject in which the member has the turn for this event.
    pub(crate) fn held_for(&self, member: MemberKey, cause: Seq) -> Option<Seq> {
        self.subjects().find(|(_, turn)| turn.holds(member, cause)).map(|(subject, _)| subject)
    }

    /// Subjects with open events.
    pub fn with_open(&self) -> impl Iterator<Item = Seq> {
        self.open.keys().copied()
    }

    pub fn open(&self, subject: Seq) -> impl Iterator<Item = Seq> {
        self.open.get(&subject).into_iter().flatten().copied()
    }

    /// Whether anybody speaks, waits or rests, so that the turns need a row.
    pub fn is_live(&self, subject: Seq) -> bool {
        let Some(turn) = self.by_subject.get(&subject) else { return false };
        !turn.is_idle() || self.open.contains_key(&subject) || self.resting.contains(&subject)
    }

    /// Whether a member who has spoken about the subject is resting.
    pub fn rests(&self, subject: Seq) -> bool {
        self.resting.contains(&subject)
    }

    /// Records whether a member who has spoken about the subject is resting. While one is, its
    /// turns are kept.
    pub(super) fn rest(&mut self, subject: Seq, on: bool) {
        match on {
            true => self.resting.insert(subject),
            false => self.resting.remove(&subject),
        };
    }

    /// Marks the subject for arbitration.
    pub(super) fn note(&mut self, subject: Seq) {
        self.changed.insert(subject);
    }

    /// Marks all subjects for arbitration.
    pub(super) fn note_all(&mut self) {
        self.changed.extend(self.by_subject.keys().chain(self.open.keys()));
    }

    pub fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Returns a subject that must be arbitrated, once.
    pub(super) fn take_changed(&mut self) -> Option<Seq> {
        self.changed.pop_first()
    }

    /// Whether the turns have a row and need none, or need one and have none.
    pub fn is_row_due(&self, subject: Seq) -> bool {
        self.is_live(subject) != self.stored.contains(&subject)
    }

    pub(super) fn restore(&mut self, rows: Vec<(Seq, Turn)>) {
        self.stored = rows.iter().map(|(subject, _)| *subject).collect();
        self.by_subject = rows.into_iter().collect();
        // Arbitration finds out whether anybody is still resting.
        let spoken = self.by_subject.iter().filter(|(_, turn)| !turn.spoke.is_empty());
        self.resting = spoken.map(|(subject, _)| *subject).collect();
        self.note_all();
    }
}

impl Room {
    /// The subject of a message where turns are used: in the conversation threads of a channel, and
    /// in its main timeline if answers go into threads. A thread that a stimulus opened uses turns
    /// everywhere.
    pub fn subject_of(&self, seq: Seq, thread: Option<ThreadKey>) -> Option<Seq> {
        if self.conversation.kind != ConversationKind::Channel {
            return None;
        }
        match thread {
            Some(key) => {
                let thread = self.threads.get(&key)?;
                let talk = thread.kind == ThreadKind::Conversation;
                talk.then(|| thread.root.unwrap_or(Seq(key.0)))
            }
            None => {
                let in_threads = self.conversation.settings.replies == Replies::Thread;
                (in_threads || self.is_by_stimulus(seq)).then_some(seq)
            }
        }
    }

    /// The open events of a thread: its messages, and its root where answers to the root go into
    /// the thread.
    pub fn open_in(&self, thread: ThreadKey) -> Vec<Seq> {
        let root = self.threads.get(&thread).and_then(|thread| thread.root);
        let answered_there = |open: &Open| {
            let message = open.edit_of.unwrap_or(open.seq);
            let is_subject = || self.subject_of(message, None).is_some();
            let is_shown = open.attention.only.is_none();
            open.thread.is_none() && root == Some(message) && is_shown && is_subject()
        };
        let here = |open: &&Open| open.thread == Some(thread) || answered_there(open);
        self.open.values().filter(here).map(|open| open.seq).collect()
    }

    /// Whether a message of the main timeline is the root of a thread that a stimulus opened.
    fn is_by_stimulus(&self, root: Seq) -> bool {
        let thread = self.thread_of_root(root).and_then(|key| self.threads.get(&key));
        thread.and_then(|t| t.work.spur).is_some_and(|spur| spur.opened)
    }

    /// The rules for turns here.
    pub fn turn_rules(&self) -> Rules {
        self.conversation.settings.turns.unwrap_or_default()
    }

    /// The turns of a subject. If they were forgotten, they are rebuilt from the thread's counts,
    /// and the remaining number of messages is never overestimated.
    pub fn turn(&self, subject: Seq) -> Turn {
        if let Some(turn) = self.turns.get(subject) {
            return turn.clone();
        }
        let thread = self.thread_of_root(subject).or(Some(ThreadKey(subject.0)));
        let said = thread.and_then(|t| self.threads.get(&t)).map_or(0, |t| t.unattended);
        Turn { spent: u16::try_from(said).unwrap_or(u16::MAX), ..Turn::default() }
    }

    /// The turns of a subject, to be changed and written.
    pub fn turn_mut(&mut self, subject: Seq) -> &mut Turn {
        self.dirty.turns.insert(subject);
        self.turns.note(subject);
        if !self.turns.by_subject.contains_key(&subject) && self.turns.by_subject.len() >= IDLE {
            let Turns { by_subject, open, resting, .. } = &mut self.turns;
            by_subject
                .retain(|s, turn| !turn.is_idle() || open.contains_key(s) || resting.contains(s));
        }
        let turn = self.turn(subject);
        self.turns.by_subject.entry(subject).or_insert(turn)
    }

    /// Marks the subject for arbitration.
    pub fn note_subject(&mut self, subject: Seq) {
        self.turns.note(subject);
    }

    /// Marks all subjects for arbitration.
    pub fn note_all_subjects(&mut self) {
        self.turns.note_all();
    }

    /// Returns a subject that must be arbitrated, once.
    pub fn take_changed_subject(&mut self) -> Option<Seq> {
        self.turns.take_changed()
    }

    /// Records whether a member who has spoken about the subject is resting.
    pub fn rest(&mut self, subject: Seq, on: bool) {
        self.turns.rest(subject, on);
    }

    /// Stores the turns of a subject after arbitration, without requiring arbitration again.
    pub fn put_turn(&mut self, subject: Seq, turn: Turn) {
        self.dirty.turns.insert(subject);
        self.turns.by_subject.insert(subject, turn);
    }

    /// Of the subjects whose turns may have changed, keeps those that get or lose a row.
    pub(super) fn settle_turn_rows(&mut self) {
        let Self { turns, dirty, .. } = self;
        dirty.turns.retain(|subject| match turns.is_live(*subject) {
            true => {
                turns.stored.insert(*subject);
                true
            }
            false => turns.stored.remove(subject),
        });
    }

    /// Granted turns, for the audit log.
    pub fn note_granted(&mut self, granted: Vec<(MemberKey, Seq)>) {
        self.dirty.granted.extend(granted);
    }

    /// Turns that were passed on to somebody else, for the audit log.
    pub fn note_expired(&mut self, expired: Vec<(MemberKey, Seq)>) {
        self.dirty.expired.extend(expired);
    }

    /// Files an open event under its subject.
    pub(super) fn file(&mut self, open: &mut Open) {
        open.subject = self.subject_of(open.edit_of.unwrap_or(open.seq), open.thread);
        if let Some(subject) = open.subject {
            self.turns.note(subject);
            self.turns.open.entry(subject).or_default().insert(open.seq);
        }
    }

    /// The main timeline has subjects from now on, or no longer has any.
    pub(super) fn file_all(&mut self) {
        for (seq, mut open) in std::mem::take(&mut self.open) {
            self.unfile(&open);
            self.file(&mut open);
            self.open.insert(seq, open);
        }
    }

    pub(super) fn unfile(&mut self, open: &Open) {
        let Some(subject) = open.subject else { return };
        self.turns.note(subject);
        let Some(events) = self.turns.open.get_mut(&subject) else { return };
        events.remove(&open.seq);
        if events.is_empty() {
            self.turns.open.remove(&subject);
        }
    }

    /// Whether this delivery must wait for the turn.
    pub fn waits_for_turn(&self, open: &Open, delivery: &Delivery) -> bool {
        let Some(subject) = open.subject.filter(|_| takes_turns(delivery)) else { return false };
        let (member, asked) = (delivery.member, is_asked(open, delivery));
        let turn = self.turns.get(subject);
        !turn.is_some_and(|t| t.holds(member, open.seq) || (asked && t.goes_along(member)))
    }
}

/// Whether a delivery would start a run that may speak, if it is offered. One that was passed on to
/// somebody else holds no turn.
pub fn takes_turns(delivery: &Delivery) -> bool {
    let runs = matches!(delivery.decision.mode, Mode::Immediate | Mode::Buffered);
    let speaks = matches!(delivery.decision.policy, Policy::MustRespond | Policy::MayRespond);
    runs && speaks && delivery.is_open() && !delivery.is_deferred() && !delivery.moved_on
}

/// Whether the subject waits for this member: it owes an answer, or was selected from a role that
/// was asked for one.
pub fn is_owed(delivery: &Delivery) -> bool {
    delivery.is_obligation() || delivery.decision.rule == Rule::RoleMention
}

/// Whether a person has asked for the answer. Such a turn is granted even if the turn budget is
/// used up.
pub fn is_asked(open: &Open, delivery: &Delivery) -> bool {
    is_owed(delivery) && open.hop == 0
}

//! How an event changes a room. This is the only place, for new and replayed events alike.

use std::sync::Arc;

use crate::codec;
use crate::language::features::Features;
use crate::model::attention::{Attention, Intent, Rule};
use crate::model::conversation::Participation;
use crate::model::digest::Tally;
use crate::model::event::{Change, Event, Idempotency, Message, Promotion};
use crate::model::ids::{EventRef, MemberKey, Seq, SessionKey, ThreadKey, Timestamp, Uid};
use crate::model::message_state::MessageState;
use crate::model::thread::work::{Summary, ThreadWork};
use crate::model::thread::{Thread, ThreadStatus};
use crate::state::room::{Line, Room, TAIL};
use crate::state::talk::Utterance;

/// How long subjects that agents opened unprompted are remembered.
const HOUR_MS: i64 = 3_600_000;

impl Line {
    fn of(event: &Event, message: &Message) -> Self {
        Self {
            seq: event.seq,
            uid: event.uid,
            author: event.actor,
            at: event.at,
            text: message.text.clone(),
            intent: event.attention.as_ref().map_or(Intent::Statement, |a| a.intent),
            hop: event.hop,
            attention: event.attention.clone(),
        }
    }
}

/// An event before it gets its place in the log.
pub struct Draft {
    pub uid: Uid,
    pub at: Timestamp,
    pub actor: MemberKey,
    pub session: Option<SessionKey>,
    pub thread: Option<ThreadKey>,
    pub reply_to: Option<Seq>,
    pub cause: Option<EventRef>,
    pub hop: u8,
    pub idempotency: Option<Idempotency>,
    pub attention: Option<Arc<Attention>>,
    pub change: Change,
    pub salt: [u8; 16],
    /// What the flow of talk extracts from its text, if that is known.
    pub heard: Option<Features>,
}

impl Room {
    /// Appends an event to the log and applies it. It is recorded with its batch.
    pub fn log(&mut self, draft: Draft) -> Arc<Event> {
        let seq = self.head.seq.next();
        let is_message = matches!(draft.change, Change::Posted(_));
        let shown_to_all = draft.attention.as_ref().is_none_or(|a| a.only.is_none());
        let thread_seq = match draft.thread.and_then(|t| self.threads.get(&t)) {
            // An ephemeral message is not counted, so that nobody sees a gap in its place.
            Some(thread) if is_message && shown_to_all => thread.last_seq + 1,
            _ => 0,
        };
        let content_hash = Event::content_hash(&draft.salt, &codec::body(&draft.change));
        let mut event = Event {
            conversation: self.key(),
            seq,
            uid: draft.uid,
            at: draft.at.max(self.head.last_at),
            actor: draft.actor,
            session: draft.session,
            thread: draft.thread,
            thread_seq,
            reply_to: draft.reply_to,
            cause: draft.cause,
            hop: draft.hop,
            idempotency: draft.idempotency,
            attention: draft.attention,
            change: draft.change,
            salt: Some(draft.salt),
            content_hash,
            hash: [0; 32],
        };
        event.hash = event.chain(&self.head.hash);
        let event = Arc::new(event);
        if let Some(idempotency) = event.idempotency {
            self.sent.put(idempotency.key, seq, event.at);
        }
        self.apply_heard(&event, draft.heard);
        self.dirty.events.push(event.clone());
        event
    }

    /// Applies one event of the log. Events must come in order.
    pub fn apply(&mut self, event: &Arc<Event>) {
        self.apply_heard(event, None);
    }

    fn apply_heard(&mut self, event: &Arc<Event>, heard: Option<Features>) {
        debug_assert_eq!(event.seq, self.head.seq.next(), "events are applied in order");
        self.head.seq = event.seq;
        self.head.hash = event.hash;
        self.head.last_at = self.head.last_at.max(event.at);
        self.project(event);
        self.expect_silence(event);
        self.remember(event, heard);
    }

    /// Updates the projections that readers see: roster, settings, threads and message states.
    pub(super) fn project(&mut self, event: &Event) {
        match &event.change {
            Change::Created { settings, .. } | Change::SettingsChanged(settings) => {
                let replies = self.conversation.settings.replies;
                Arc::make_mut(&mut self.conversation).settings = settings.clone();
                self.dirty.conversation = true;
                if replies != settings.replies {
                    self.file_all();
                }
            }
            Change::Joined { member, participation } => {
                self.seat(*member, Some(*participation));
                self.come_back(|gone| gone == *member);
            }
            Change::Left { member } => {
                self.seat(*member, None);
                self.forget_terms(*member);
                self.come_back(|gone| gone == *member);
            }
            Change::Withdrew { member } => {
                self.gone.insert((*member, event.thread));
                self.dirty.gone.insert((*member, event.thread));
            }
            Change::Posted(_) => {
                self.count_message(event);
                self.call_back(event);
            }
            Change::Continued => self.attend(event),
            Change::Edited { message, .. } => {
                if event.hop == 0 {
                    self.attend(event);
                }
                self.change_message(*message, |state| {
                    state.latest = Some(event.seq);
                    state.edited_at = Some(event.at);
                });
            }
            Change::Deleted { message } => {
                self.change_message(*message, |state| state.deleted_at = Some(event.at));
                self.dirty.unsaid.push(*message);
            }
            Change::Erased { message, .. } => {
                self.change_message(*message, |state| {
                    state.deleted_at.get_or_insert(event.at);
                });
                self.dirty.unsaid.push(*message);
            }
            Change::Reacted { message, signal, .. } => {
                self.change_message(*message, |state| {
                    state.reactions.retain(|r| *r != (event.actor, *signal));
                    state.reactions.push((event.actor, *signal));
                });
            }
            Change::Unreacted { message, signal } => {
                self.change_message(*message, |state| {
                    state.reactions.retain(|r| *r != (event.actor, *signal));
                });
            }
            Change::ThreadOpened(opening) => {
                let key = ThreadKey(event.seq.0);
                let thread = Thread {
                    key,
                    uid: opening.uid,
                    root: opening.root,
                    title: opening.title.clone(),
                    kind: opening.kind,
                    status: ThreadStatus::Active,
                    owner: opening.owner,
                    last_seq: 0,
                    participants: opening.participants.iter().copied().collect(),
                    unattended: 0,
                    work: Arc::default(),
                    created_at: event.at,
                    updated_at: event.at,
                };
                self.roots.extend(opening.root.map(|root| (root, key)));
                self.threads.insert(key, Arc::new(thread));
                self.begin_line(key, opening.root);
                self.dirty.threads.insert(key);
            }
            Change::ThreadStatus { status, .. } => {
                self.change_thread(event, |thread| {
                    thread.status = *status;
                    thread.unattended = 0;
                });
            }
            Change::ThreadOwner { owner } => {
                self.change_thread(event, |thread| {
                    thread.owner = *owner;
                    thread.participants.extend(*owner);
                });
            }
            Change::ThreadWork(change) => {
                self.change_work(event, |work| work.apply(change, event.at, event.actor));
            }
            Change::Promoted(Promotion::Result { text }) => {
                let summary = Summary { text: text.clone(), at: event.at };
                self.change_work(event, |work| work.summary = Some(summary));
            }
            Change::Promoted(Promotion::Message { message, .. }) => {
                self.change_work(event, |work| {
                    work.promoted.insert(*message);
                });
            }
        }
    }

    fn change_work(&mut self, event: &Event, change: impl FnOnce(&mut ThreadWork)) {
        self.change_thread(event, |thread| change(Arc::make_mut(&mut thread.work)));
    }

    /// The first answer in a thread is read against the thread's root.
    fn begin_line(&mut self, thread: ThreadKey, root: Option<Seq>) {
        let root = root.and_then(|seq| self.tail.iter().rev().find(|e| e.seq == seq));
        let Some(root) = root.filter(|e| e.only().is_none()) else { return };
        if let Change::Posted(message) = &root.change {
            let line = Line::of(root, message);
            self.lines.insert(Some(thread), line);
        }
    }

    fn seat(&mut self, member: MemberKey, participation: Option<Participation>) {
        match participation {
            Some(participation) => self.roster.insert(member, participation),
            None => self.roster.remove(&member),
        };
        if participation == Some(Participation::AlwaysListen) {
            if self.listeners.is_empty() {
                // This is the first follower. Earlier events do not belong to its digest.
                self.tally = Tally::from(self.head.seq);
                self.dirty.digested = true;
            }
            self.listeners.insert(member);
        } else {
            self.listeners.remove(&member);
        }
        self.dirty.roster.insert(member, participation);
    }

    /// The membership settings are removed with the membership.
    fn forget_terms(&mut self, member: MemberKey) {
        if self.conversation.settings.seats.contains_key(&member) {
            Arc::make_mut(&mut self.conversation).settings.seats.remove(&member);
            self.dirty.conversation = true;
        }
    }

    /// A member who is named where it has left is back.
    fn call_back(&mut self, event: &Event) {
        if self.gone.is_empty() {
            return;
        }
        let named = |rule| {
            matches!(rule, Rule::Mention | Rule::Recipient | Rule::Delivered | Rule::RoleMention)
        };
        let told = event.attention.iter().flat_map(|a| &a.told);
        for told in told.filter(|t| named(t.decision.rule)) {
            for place in [None, event.thread] {
                if self.gone.remove(&(told.member, place)) {
                    self.dirty.gone.insert((told.member, place));
                }
            }
        }
    }

    fn come_back(&mut self, who: impl Fn(MemberKey) -> bool) {
        let back: Vec<_> = self.gone.iter().copied().filter(|(member, _)| who(*member)).collect();
        for place in back {
            self.gone.remove(&place);
            self.dirty.gone.insert(place);
        }
    }

    fn count_message(&mut self, event: &Event) {
        if event.thread_seq > 0 {
            self.change_thread(event, |thread| {
                thread.last_seq = event.thread_seq;
                thread.participants.insert(event.actor);
            });
        }
        match event.hop {
            0 => self.attend(event),
            // Status messages and events that ask nobody do not use up any budget.
            _ if !event.is_talk() => {}
            _ if event.thread.is_some() => self.change_thread(event, |t| t.unattended += 1),
            _ => self.head.unattended += 1,
        }
    }

    /// A person has spoken in this timeline or let it continue. A person's messages have hop 0.
    fn attend(&mut self, event: &Event) {
        let Some(key) = event.thread else {
            self.head.unattended = 0;
            return;
        };
        if let Some(thread) = self.threads.get_mut(&key).filter(|t| t.unattended > 0) {
            Arc::make_mut(thread).unattended = 0;
            self.dirty.threads.insert(key);
        }
    }

    /// No state is kept for dropped messages, even if later events are about them.
    fn change_message(&mut self, message: Seq, change: impl FnOnce(&mut MessageState)) {
        if message > self.head.base {
            change(self.messages.entry(message).or_default());
            self.dirty.messages.insert(message);
        }
    }

    fn change_thread(&mut self, event: &Event, change: impl FnOnce(&mut Thread)) {
        let Some(key) = event.thread else { return };
        if let Some(thread) = self.threads.get_mut(&key) {
            let thread = Arc::make_mut(thread);
            change(thread);
            thread.updated_at = event.at;
            self.dirty.threads.insert(key);
        }
    }

    /// Keeps the context of the next decision: the newest events, the timeline, and the subjects
    /// that agents opened unprompted.
    pub(super) fn remember(&mut self, event: &Arc<Event>, heard: Option<Features>) {
        if let Change::Posted(message) = &event.change {
            self.go_on(event, message, heard);
        }
        if let Change::Edited { message, content } = &event.change {
            let edited = self.lines.get_mut(&event.thread).filter(|l| l.seq == *message);
            if let Some(line) = edited {
                line.text = content.text.clone();
                line.attention = event.attention.clone();
            }
        }
        if !self.listeners.is_empty() {
            self.tally.count(event, &self.listeners);
        }
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(event.clone());
        let oldest = self.tail.front().map_or(event.seq, |oldest| oldest.seq);
        while self.talk.front().is_some_and(|said| said.seq < oldest) {
            self.talk.pop_front();
        }
    }

    fn go_on(&mut self, event: &Arc<Event>, message: &Message, heard: Option<Features>) {
        let line = Line::of(event, message);
        // The next message is read against one that everybody has seen.
        if event.only().is_none() {
            self.lines.insert(event.thread, line);
            let heard = heard.unwrap_or_else(|| Features::of(&message.text));
            self.talk.push_back(Utterance::of(event, heard));
        }
        if event.cause.is_none() && event.hop > 0 && event.thread.is_none() {
            while self.autonomous.front().is_some_and(|(_, at)| event.at.since(*at) > HOUR_MS) {
                self.autonomous.pop_front();
            }
            self.autonomous.push_back((event.actor, event.at));
        }
    }
}

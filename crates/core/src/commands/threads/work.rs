//! Changing the work of a thread, and promoting its messages to the feed.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::conversations::conversation::derived;
use crate::commands::threads::ThreadState;
use crate::model::error::{Code, Refusal};
use crate::model::event::{Change, Promotion};
use crate::model::ids::{ConversationKey, SessionKey, ThreadKey, Uid};
use crate::model::limits;
use crate::model::thread::work::{Binding, WorkChange, WorkStatus, check_words_of};
use crate::model::thread::{Thread, ThreadStatus};

impl Context<'_> {
    /// Any member there may change the work; within a turn, only while the turn is valid.
    pub(super) fn change_work(&mut self, uid: Uid, change: WorkChange) -> Result<ThreadState> {
        let (key, at) = self.thread_by_uid(uid)?;
        self.must_sit(key)?;
        let thread = self.open_to_work(key, at)?;
        thread.work.check(&change)?;
        let Some(change) = thread.work.differs(change) else {
            return self.thread_outcome(key, at);
        };
        if let Some(Some(session)) = change.owner_session {
            self.must_sit_as(key, session)?;
        }
        if let Some(Some(initiative)) = &change.initiative_key {
            self.must_be_free(key, at, initiative)?;
        }
        let superseded = change.status == Some(WorkStatus::Superseded);
        let mut draft = self.draft(self.drawn.uid, Change::ThreadWork(Box::new(change)));
        draft.thread = Some(at);
        let event = self.room_mut(key).log(draft);
        self.publish(event)?;
        if superseded {
            self.notice_superseded(key, at)?;
        }
        self.arrange_stimuli(key);
        self.thread_outcome(key, at)
    }

    /// A message is promoted once. Promoting it again changes nothing.
    pub(super) fn promote(&mut self, uid: Uid, note: Option<Arc<str>>) -> Result<ThreadState> {
        let at = self.event_by_uid(uid, "message")?;
        self.must_sit(at.conversation)?;
        let recalled = self.recall(at)?;
        let posted = matches!(recalled.event.change, Change::Posted(_));
        let Some(thread) = recalled.event.thread.filter(|_| posted) else {
            let why = "only a message in a thread can be promoted; others are in the feed already";
            return Err(Refusal::invalid(why).into());
        };
        if recalled.event.only().is_some() {
            return Err(Refusal::invalid("an ephemeral message cannot be promoted").into());
        }
        if recalled.message.deleted_at.is_some() {
            return Err(Refusal::new(Code::Conflict, "the message was deleted").into());
        }
        if let Some(note) = &note {
            check_words_of("a note", note, limits::PROGRESS_BYTES)?;
        }
        let promoted = &self.open_to_work(at.conversation, thread)?.work.promoted;
        if promoted.contains(&at.seq) {
            return self.thread_outcome(at.conversation, thread);
        }
        if promoted.len() >= limits::PROMOTIONS {
            let most = limits::PROMOTIONS;
            let why = format!("{most} messages of this thread stand in the feed already");
            return Err(Refusal::new(Code::RateLimited, why).into());
        }
        let promotion = Promotion::Message { message: at.seq, note };
        let mut draft = self.draft(self.drawn.uid, Change::Promoted(promotion));
        draft.thread = Some(thread);
        let event = self.room_mut(at.conversation).log(draft);
        self.publish(event)?;
        self.thread_outcome(at.conversation, thread)
    }

    pub(crate) fn open_to_work(&self, key: ConversationKey, at: ThreadKey) -> Result<Arc<Thread>> {
        let thread = self.thread(key, Some(at)).cloned();
        let thread = thread.ok_or_else(|| Refusal::not_found("thread"))?;
        if thread.status == ThreadStatus::Closed {
            return Err(Refusal::new(Code::Conflict, "the thread is closed").into());
        }
        Ok(thread)
    }

    /// Unbinds threads from something that no longer exists. Closed threads keep their bindings.
    /// `nth` events were logged under ids derived from the command's second id; returns the new
    /// number.
    pub(crate) fn unbind_all(
        &mut self,
        key: ConversationKey,
        gone: &BTreeSet<Binding>,
        mut nth: usize,
    ) -> Result<usize> {
        let open = |t: &&Arc<Thread>| t.status != ThreadStatus::Closed;
        let bound = |t: &Arc<Thread>| -> Option<(ThreadKey, Vec<Binding>)> {
            let unbind: Vec<_> = t.work.bindings.intersection(gone).cloned().collect();
            (!unbind.is_empty()).then_some((t.key, unbind))
        };
        let mut bound: Vec<_> =
            self.room(key).threads.values().filter(open).filter_map(bound).collect();
        bound.sort_unstable();
        // The newest first, within the limit for one command.
        bound.reverse();
        bound.truncate(limits::BINDINGS_DROPPED.saturating_sub(nth));
        for (at, unbind) in bound {
            let change = WorkChange { unbind, ..WorkChange::default() };
            let uid = derived(self.drawn.second, nth);
            let mut draft = self.draft(uid, Change::ThreadWork(Box::new(change)));
            draft.thread = Some(at);
            let event = self.room_mut(key).log(draft);
            self.publish(event)?;
            nth += 1;
        }
        Ok(nth)
    }

    fn must_sit_as(&self, key: ConversationKey, session: SessionKey) -> Result<()> {
        let member = self.directory().sessions.get(&session).map(|s| s.member);
        let member = member.ok_or_else(|| Refusal::not_found("session"))?;
        if !self.room(key).roster.contains_key(&member) {
            let why =
                "the session that owns a thread's work must belong to a member of the conversation";
            return Err(Refusal::invalid(why).into());
        }
        Ok(())
    }

    /// An initiative has one live thread.
    fn must_be_free(&self, key: ConversationKey, mine: ThreadKey, initiative: &str) -> Result<()> {
        if self.room(key).live_thread_of(initiative).is_some_and(|other| other.key != mine) {
            let why = "another live thread of the channel has this initiative_key";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        Ok(())
    }
}

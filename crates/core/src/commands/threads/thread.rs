//! Threads: opening, handing over, and changing status (design section 5, "Threads").

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::conversations::conversation::derived;
use crate::commands::messages::checks::check_message;
use crate::commands::threads::ThreadState;
use crate::language::names::rules::check_title;
use crate::model::activity::{Activity, is_act};
use crate::model::attention::{Attention, Directedness, Intent};
use crate::model::caller::Authority;
use crate::model::conversation::{ConversationKind, Settings, Visibility};
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::event::{Change, Event, Idempotency, Message, Promotion, ThreadOpening};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, ThreadKey, Uid};
use crate::model::limits;
use crate::model::message_state::MessageState;
use crate::model::requests::{Home, OpenThread};
use crate::model::thread::work::check_words_of;
use crate::model::thread::{ThreadKind, ThreadStatus};
use crate::state::facts::Recalled;

/// Why the obligations in a thread have ended.
const CLOSED: &str = "the thread was closed";

/// A thread's actions are read in pages of this many events, because a text may be long.
const PAGE: usize = 200;

impl Context<'_> {
    /// A root message has one canonical thread. Opening it again returns the existing one.
    pub(super) fn open_thread(&mut self, opening: OpenThread) -> Result<ThreadState> {
        if opening.is_titled() {
            check_title("title", Some(&opening.title))?;
        }
        if let Some((key, thread)) = self.opened_before(opening.idempotency)? {
            return self.thread_outcome(key, thread);
        }
        let (key, uid) = match opening.home {
            Home::In(conversation) => (self.room_by_uid(conversation)?, self.drawn.uid),
            Home::Own => (self.own_home(&opening)?, self.drawn.second),
        };
        self.must_sit(key)?;
        let root = match opening.root {
            Some(uid) => Some(self.event_by_uid(uid, "message")?),
            None => None,
        };
        if root.is_some_and(|r| r.conversation != key) {
            return Err(Refusal::invalid("the root message is in another conversation").into());
        }
        if let Some(thread) = root.and_then(|r| self.room(key).thread_of_root(r.seq)) {
            return self.thread_outcome(key, thread);
        }
        for member in opening.participants.iter().copied().chain(opening.owner) {
            if !self.room(key).roster().contains_key(&member) {
                return Err(Refusal::invalid(
                    "every participant must be a member of the conversation",
                )
                .into());
            }
        }
        let mut participants = opening.participants;
        participants.push(self.by.member);
        participants.extend(opening.owner);
        if let Some(root) = root {
            let recalled = self.recall(root)?;
            if recalled.event.only().is_some()
                || recalled.event.thread.is_some()
                || !matches!(recalled.event.change, Change::Posted(_))
            {
                return Err(Refusal::invalid(
                    "a thread's root must be a message of the main timeline that everybody can see",
                )
                .into());
            }
            participants.push(recalled.event.actor);
        }
        participants.sort_unstable();
        participants.dedup();
        let change = Change::ThreadOpened(ThreadOpening {
            uid: opening.idempotency.map_or(uid, |once| once.thread()),
            root: root.map(|r| r.seq),
            title: opening.title.into(),
            kind: opening.kind,
            owner: opening.owner,
            participants,
        });
        let mut draft = self.draft(uid, change);
        draft.idempotency = opening.idempotency;
        let event = self.room_mut(key).log(draft);
        self.publish(event.clone())?;
        self.thread_as(key, ThreadKey(event.seq.0), true)
    }

    /// The conversation of a thread that has its own. Everything that could be refused is checked
    /// before it is created.
    fn own_home(&mut self, opening: &OpenThread) -> Result<ConversationKey> {
        if opening.root.is_some() {
            let why = "a thread that begins with a message is in that message's conversation";
            return Err(Refusal::invalid(why).into());
        }
        let me = self.me()?.key;
        let members: Vec<_> = opening.participants.iter().copied().chain(opening.owner).collect();
        let settings = Settings {
            title: opening.title.as_str().into(),
            visibility: Visibility::Private,
            ..Settings::default()
        };
        self.establish(me, ConversationKind::Thread, settings, &members)
    }

    /// The thread that was opened under the same key. Another payload is a conflict. If its opening
    /// was dropped, the payload is no longer known.
    fn opened_before(
        &mut self,
        once: Option<Idempotency>,
    ) -> Result<Option<(ConversationKey, ThreadKey)>> {
        let Some(once) = once else { return Ok(None) };
        let Some((conversation, thread)) = self.maybe_thread(once.thread())? else {
            return Ok(None);
        };
        let before = self.recall_kept(EventRef { conversation, seq: Seq(thread.0) })?;
        let before = before.and_then(|recalled| recalled.event.idempotency);
        if before.is_some_and(|before| before.payload != once.payload) {
            return Err(Refusal::new(
                Code::IdempotencyConflict,
                "another thread was created under this idempotency key",
            )
            .into());
        }
        Ok(Some((conversation, thread)))
    }

    /// Opens the canonical thread of an answered message. It has no title: the root message says
    /// what it is about, even after an edit or erasure.
    pub(crate) fn open_canonical(
        &mut self,
        key: ConversationKey,
        root: Seq,
        uid: Uid,
    ) -> Result<ThreadKey> {
        let author = self.recall(EventRef { conversation: key, seq: root })?.event.actor;
        let mut participants = vec![author, self.by.member];
        participants.sort_unstable();
        participants.dedup();
        let change = Change::ThreadOpened(ThreadOpening {
            uid,
            root: Some(root),
            title: "".into(),
            kind: ThreadKind::Conversation,
            owner: None,
            participants,
        });
        let event = self.log_plain(key, uid, change)?;
        Ok(ThreadKey(event.seq.0))
    }

    pub(super) fn change_thread(
        &mut self,
        uid: Uid,
        status: Option<ThreadStatus>,
        owner: Option<Option<MemberKey>>,
        reason: &Arc<str>,
        summary: Option<Arc<str>>,
        note: Option<Message>,
    ) -> Result<ThreadState> {
        let (key, thread_key) = self.thread_by_uid(uid)?;
        self.must_sit(key)?;
        let Some(thread) = self.thread(key, Some(thread_key)).cloned() else {
            return Err(Refusal::not_found("thread").into());
        };
        let status = status.filter(|s| *s != thread.status);
        if let Some(status) = status {
            self.check_transition(thread.status, status)?;
            if thread.status == ThreadStatus::Blocked {
                self.must_be_own_block(key, thread_key)?;
            }
        }
        let note = note.filter(|_| status.is_some());
        if let Some(note) = &note {
            check_message(note)?;
        }
        if status == Some(ThreadStatus::Closed) && self.by.authority < Authority::Orchestrator {
            self.must_have_no_open_finding(key, thread_key)?;
        }
        let owner = owner.filter(|o| *o != thread.owner);
        if let Some(Some(member)) = owner
            && !self.room(key).roster().contains_key(&member)
        {
            return Err(
                Refusal::invalid("a thread's owner must be a member of the conversation").into()
            );
        }
        if let Some(summary) = &summary {
            check_summary(summary, thread.status, status)?;
        }
        let mut changes = Vec::new();
        changes
            .extend(status.map(|status| Change::ThreadStatus { status, reason: reason.clone() }));
        changes.extend(owner.map(|owner| Change::ThreadOwner { owner }));
        changes.extend(summary.map(|text| Change::Promoted(Promotion::Result { text })));
        // Posted last, so that notified members find the new status.
        changes.extend(note.map(Change::Posted));
        for (n, change) in changes.into_iter().enumerate() {
            let mut draft = self.draft(nth(self.drawn.uid, n), change);
            draft.thread = Some(thread_key);
            if matches!(draft.change, Change::Posted(_)) {
                // It notifies nobody; readers of the thread see it.
                let rest = Directedness::Ambient;
                let nobody = Attention::plain(Intent::Statement, rest, Vec::new());
                draft.attention = Some(Arc::new(nobody));
            }
            let event = self.room_mut(key).log(draft);
            if matches!(event.change, Change::Promoted(_)) {
                self.note_result(key, thread_key, event.uid)?;
            }
            self.publish(event)?;
        }
        if status == Some(ThreadStatus::Closed) {
            self.end_owed_in(key, thread_key)?;
        }
        if status.is_some() {
            self.refill_turns(key, Some(thread_key));
        }
        self.arrange_stimuli(key);
        self.review_pauses(key)?;
        self.thread_outcome(key, thread_key)
    }

    /// Nobody can answer in a closed thread: its obligations end, and the sessions that hold them
    /// are told. The run that closes the thread has done its task.
    fn end_owed_in(&mut self, key: ConversationKey, thread: ThreadKey) -> Result<()> {
        let me = self.by.member;
        for seq in self.room(key).open_in(thread) {
            let at = EventRef { conversation: key, seq };
            let mine = self.room(key).open().get(&seq).and_then(|open| open.delivery(me));
            if mine.is_some_and(|d| d.state.is_running()) {
                self.settle(at, me, Disposition::Acknowledged)?;
            }
            let now = self.now;
            let Some(open) = self.room_mut(key).open_mut(seq) else { continue };
            open.claim = None;
            let ended = open.supersede_all(now);
            for before in &ended {
                if let Some(delivery) = open.delivery_mut(before.member) {
                    delivery.note = Some(CLOSED.into());
                }
            }
            self.cancel_all(at, ended, CLOSED)?;
            self.settle_if_done(at);
        }
        Ok(())
    }

    fn check_transition(&self, from: ThreadStatus, to: ThreadStatus) -> Result<()> {
        if !from.may_become(to) {
            let (from, to) = (from.name(), to.name());
            return Err(Refusal::new(
                Code::Conflict,
                format!("a thread that is {from} does not become {to}"),
            )
            .into());
        }
        let forced = from == ThreadStatus::Blocked && to == ThreadStatus::Closed;
        if forced && self.by.authority < Authority::Orchestrator {
            return Err(Refusal::new(
                Code::InsufficientAuthority,
                "only an operator or orchestrator closes a blocked thread",
            )
            .into());
        }
        Ok(())
    }

    /// A worker can lift only a block that it set itself.
    fn must_be_own_block(&mut self, key: ConversationKey, thread: ThreadKey) -> Result<()> {
        if self.by.authority >= Authority::Orchestrator {
            return Ok(());
        }
        let mut set_by = None;
        self.each_act(key, thread, &mut |event, _| {
            if matches!(event.change, Change::ThreadStatus { status: ThreadStatus::Blocked, .. }) {
                set_by = Some(event.actor);
            }
        })?;
        if set_by != Some(self.by.member) {
            return Err(Refusal::new(
                Code::InsufficientAuthority,
                "another has blocked the thread; it lifts the block, or an operator or orchestrator does",
            )
            .into());
        }
        Ok(())
    }

    /// Refuses to close a thread with open findings, according to the thread's log. Nobody can
    /// close a thread by their own verdict on another member's finding.
    fn must_have_no_open_finding(&mut self, key: ConversationKey, thread: ThreadKey) -> Result<()> {
        let work = self.work_of(key, thread)?;
        if work.disputed(self.by.member).next().is_some() {
            return Err(Refusal::new(
                Code::InsufficientAuthority,
                "a finding is open, or only you have settled what another reported; an operator or orchestrator \
                 closes the thread",
            )
            .into());
        }
        Ok(())
    }

    /// The actions of the thread according to the present text of its messages. Deleted and erased
    /// messages do not count.
    pub(crate) fn work_of(&mut self, key: ConversationKey, thread: ThreadKey) -> Result<Activity> {
        let mut work = Activity::default();
        self.each_act(key, thread, &mut |event, message| {
            if let Some(message) = message {
                work.take(event, message);
            }
        })?;
        Ok(work)
    }

    /// Reads the actions of the thread, including unwritten ones: each event, and for a message its
    /// present text.
    fn each_act(
        &mut self,
        key: ConversationKey,
        thread: ThreadKey,
        each: &mut dyn FnMut(&Event, Option<&Message>),
    ) -> Result<()> {
        let mut after = Seq(thread.0);
        loop {
            let page = self.facts.thread_acts(key, thread, after, PAGE)?;
            for Recalled { event, message, .. } in &page {
                self.give_act(event, message, each)?;
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = last.event.seq,
                _ => break,
            }
        }
        let of = |e: &&Arc<Event>| e.thread == Some(thread) && is_act(&e.change);
        let unwritten: Vec<_> = self.room(key).unwritten().iter().filter(of).cloned().collect();
        for event in unwritten {
            self.give_act(&event, &MessageState::default(), each)?;
        }
        Ok(())
    }

    fn give_act(
        &mut self,
        event: &Event,
        written: &MessageState,
        each: &mut dyn FnMut(&Event, Option<&Message>),
    ) -> Result<()> {
        let known = self.room(event.conversation).messages().get(&event.seq);
        let state = known.unwrap_or(written);
        let edit = match (state.deleted_at, state.latest) {
            (Some(_), _) => return Ok(()),
            (None, None) => None,
            (None, Some(seq)) => {
                let at = EventRef { conversation: event.conversation, seq };
                Some(self.recall_event(at)?)
            }
        };
        each(event, edit.as_deref().unwrap_or(event).change.message());
        Ok(())
    }

    pub(super) fn thread_outcome(
        &self,
        key: ConversationKey,
        thread: ThreadKey,
    ) -> Result<ThreadState> {
        self.thread_as(key, thread, false)
    }

    /// The thread, and whether it was opened just now.
    fn thread_as(
        &self,
        key: ConversationKey,
        thread: ThreadKey,
        opened: bool,
    ) -> Result<ThreadState> {
        let room = self.room(key);
        let thread = room.thread(thread).cloned();
        let thread = thread.ok_or_else(|| Refusal::not_found("thread"))?;
        Ok(ThreadState { conversation: room.conversation().clone(), thread, opened })
    }
}

/// The id of the `n`th event that a command logs.
fn nth(uid: Uid, n: usize) -> Uid {
    if n == 0 { uid } else { derived(uid, n - 1) }
}

/// A summary can be stated when the thread is resolved or closed by the command, or while it is
/// resolved.
fn check_summary(summary: &str, is: ThreadStatus, next: Option<ThreadStatus>) -> Result<()> {
    check_words_of("a summary", summary, limits::SUMMARY_BYTES)?;
    let done = |status| matches!(status, ThreadStatus::Resolved | ThreadStatus::Closed);
    if !done(next.unwrap_or(is)) || is == ThreadStatus::Closed {
        let why =
            "a summary goes with resolving or closing the thread, or with one that is resolved";
        return Err(Refusal::new(Code::Conflict, why).into());
    }
    Ok(())
}

//! Threads: opened, handed over, and moved through their statuses (design section 5, "Threads").

use std::sync::Arc;

use super::conversation::derived;
use super::{Result, Run, is_running};
use crate::command::{Authority, OpenThread, Outcome};
use crate::delivery::Disposition;
use crate::error::{Code, Refusal};
use crate::event::{Change, EventRef, Promotion, ThreadOpening};
use crate::ids::{ConversationKey, MemberKey, Seq, ThreadKey, Uid};
use crate::limits;
use crate::member::check_title;
use crate::thread::work::check_words_of;
use crate::thread::{ThreadKind, ThreadStatus};
use crate::work::Work;

/// Why what was owed in a thread is owed no more.
const CLOSED: &str = "the thread was closed";

/// Events of a thread read at once.
const PAGE: usize = 1_000;

impl Run<'_> {
    /// A root message has one canonical thread: opening it again gives the one there is.
    pub(super) fn open_thread(&mut self, opening: OpenThread) -> Result<Outcome> {
        let key = self.room_by_uid(opening.conversation)?;
        self.must_sit(key)?;
        check_title("title", Some(&opening.title))?;
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
            if !self.room(key).roster.contains_key(&member) {
                return Err(
                    Refusal::invalid("every participant has a seat in the conversation").into()
                );
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
                    "a thread's root is a message of the main line that is shown to all",
                )
                .into());
            }
            participants.push(recalled.event.actor);
        }
        participants.sort_unstable();
        participants.dedup();
        let change = Change::ThreadOpened(ThreadOpening {
            uid: self.drawn.uid,
            root: root.map(|r| r.seq),
            title: opening.title.into(),
            kind: opening.kind,
            owner: opening.owner,
            participants,
        });
        let event = self.log_plain(key, self.drawn.uid, change)?;
        self.thread_outcome(key, ThreadKey(event.seq.0))
    }

    /// Opens the canonical thread of a message that is answered. It has no title: what it is about is what its
    /// root says, also when that is edited or erased.
    pub(super) fn open_canonical(
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
    ) -> Result<Outcome> {
        let (key, thread_key) = self.thread_by_uid(uid)?;
        self.must_sit(key)?;
        let Some(thread) = self.thread(key, Some(thread_key)).cloned() else {
            return Err(Refusal::not_found("thread").into());
        };
        let status = status.filter(|s| *s != thread.status);
        if let Some(status) = status {
            self.check_transition(thread.status, status)?;
        }
        if status == Some(ThreadStatus::Closed) && self.by.authority < Authority::Orchestrator {
            self.must_have_no_open_finding(key, thread_key)?;
        }
        let owner = owner.filter(|o| *o != thread.owner);
        if let Some(Some(member)) = owner
            && !self.room(key).roster.contains_key(&member)
        {
            return Err(Refusal::invalid("a thread's owner has a seat in the conversation").into());
        }
        if let Some(summary) = &summary {
            check_summary(summary, thread.status, status)?;
        }
        let mut changes = Vec::new();
        changes
            .extend(status.map(|status| Change::ThreadStatus { status, reason: reason.clone() }));
        changes.extend(owner.map(|owner| Change::ThreadOwner { owner }));
        changes.extend(summary.map(|text| Change::Promoted(Promotion::Result { text })));
        for (n, change) in changes.into_iter().enumerate() {
            let mut draft = self.draft(nth(self.drawn.uid, n), change);
            draft.thread = Some(thread_key);
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

    /// Nobody can answer in a closed thread: what is owed there ends, and the sessions that have it are told. The run that
    /// closes the thread has done what it was asked.
    fn end_owed_in(&mut self, key: ConversationKey, thread: ThreadKey) -> Result<()> {
        let me = self.by.member;
        for seq in self.room(key).open_in(thread) {
            let at = EventRef { conversation: key, seq };
            let mine = self.room(key).open.get(&seq).and_then(|open| open.delivery(me));
            if mine.is_some_and(|d| is_running(d.state)) {
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

    /// The thread's own log says so: what is deleted or erased is reported no more. Closing is rare, and reads no
    /// more than the thread.
    fn must_have_no_open_finding(&mut self, key: ConversationKey, thread: ThreadKey) -> Result<()> {
        if !self.open_findings(key, thread)?.unwrap_or_default().is_empty() {
            return Err(Refusal::new(
                Code::InsufficientAuthority,
                "a finding was neither verified nor rejected; an operator or orchestrator closes the thread",
            )
            .into());
        }
        Ok(())
    }

    /// Findings that were neither verified nor rejected; none when none was ever reported.
    pub(super) fn open_findings(
        &mut self,
        key: ConversationKey,
        thread: ThreadKey,
    ) -> Result<Option<Vec<Seq>>> {
        let (mut work, mut after) = (Work::default(), Seq(thread.0));
        loop {
            let page = self.facts.thread_log(key, thread, after, PAGE)?;
            page.iter().for_each(|event| work.take(event));
            match page.last() {
                Some(last) => after = last.seq,
                None => break,
            }
        }
        let unwritten = self.room(key).unwritten().iter();
        let later = unwritten.filter(|e| e.thread == Some(thread) && e.seq > after);
        later.for_each(|event| work.take(event));
        if work.findings.is_empty() {
            return Ok(None);
        }
        let mut open: Vec<_> = work.open().map(|finding| finding.at).collect();
        for seq in open.clone() {
            let found = self.recall(EventRef { conversation: key, seq })?;
            if found.message.deleted_at.is_some() {
                open.retain(|of| *of != seq);
            }
        }
        Ok(Some(open))
    }

    pub(super) fn thread_outcome(
        &self,
        key: ConversationKey,
        thread: ThreadKey,
    ) -> Result<Outcome> {
        let room = self.room(key);
        let thread = room.threads.get(&thread).cloned();
        let thread = thread.ok_or_else(|| Refusal::not_found("thread"))?;
        Ok(Outcome::Thread { conversation: room.conversation.clone(), thread })
    }
}

/// The id of the event that a command logs as its `n`th.
fn nth(uid: Uid, n: usize) -> Uid {
    if n == 0 { uid } else { derived(uid, n - 1) }
}

/// What came of a thread is said when something has.
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

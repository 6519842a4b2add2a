//! What a thread's events say about its work: reported, verified and rejected findings, decisions,
//! questions, who waits for whom, and other actions (threads spec sections 3.6 and 4).
//!
//! Deterministic: it counts and quotes messages and infers nothing. A finding is identified by its
//! `metadata.finding_id`, otherwise by the message that reported it, which its verdict replies to.
//! A question is identified by its `metadata.question_id` in the same way. Deleted and ephemeral
//! messages do not count.

mod json;
mod summary;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use json::{has_text, text_field};

use crate::model::attention::Policy;
use crate::model::event::{Change, Event, Message, MessageKind};
use crate::model::ids::{MemberKey, Seq, Uid};
use crate::model::thread::ThreadStatus;

/// Types of events with a meaning here. Other types are accepted unchanged.
pub const EVENT_TYPES: [&str; 11] = [
    "finding_reported",
    "fix_pushed",
    "re_review_requested",
    "finding_verified",
    "finding_rejected",
    "thread_escalated",
    "thread_resolved",
    "thread_status_changed",
    "decision_made",
    "question_asked",
    "question_answered",
];

/// The type of the host's message about a change of status, unless the thread is resolved.
const STATUS_CHANGED: &str = "thread_status_changed";
const RESOLVED: &str = "thread_resolved";

/// The type of the host's message about this status.
pub fn status_type(status: ThreadStatus) -> &'static str {
    match status {
        ThreadStatus::Resolved => RESOLVED,
        _ => STATUS_CHANGED,
    }
}

/// The host's own metadata for such a message, as canonical JSON.
pub fn status_metadata(status: ThreadStatus) -> String {
    format!(r#"{{"event_type":"{}","status":"{}"}}"#, status_type(status), status.name())
}

pub fn is_registered(event_type: &str) -> bool {
    EVENT_TYPES.contains(&event_type)
}

/// Whether it is an action in a thread: a change of status, or a message other than plain talk.
pub fn is_act(change: &Change) -> bool {
    match change {
        Change::Posted(message) => message.kind != MessageKind::Chat,
        change => matches!(change, Change::ThreadStatus { .. }),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Open,
    Verified,
    Rejected,
}

/// Characters that are kept of a text, for quoting.
const KEPT: usize = 300;

#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Finding {
    /// The message that reported it.
    pub at: Seq,
    pub uid: Uid,
    pub thread_seq: u64,
    pub id: Option<Arc<str>>,
    /// Its beginning, as far as it may be quoted.
    #[redact(fixed = 3)]
    pub text: Arc<str>,
    pub verdict: Verdict,
    /// The member who reported it first.
    pub by: MemberKey,
    /// Others who reported it too.
    pub others: BTreeSet<MemberKey>,
    /// The member who gave the verdict.
    pub settled_by: Option<MemberKey>,
}

/// A message, its author and its place in the thread.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
struct Said {
    at: Seq,
    uid: Uid,
    thread_seq: u64,
    by: MemberKey,
    #[redact(fixed = 3)]
    text: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Question {
    id: Option<Arc<str>>,
    said: Said,
}

/// A member was asked and has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wait {
    at: Seq,
    thread_seq: u64,
    by: MemberKey,
    of: MemberKey,
}

/// The work of a thread, built event by event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    pub findings: Vec<Finding>,
    decisions: Vec<Said>,
    questions: Vec<Question>,
    waits: Vec<Wait>,
    /// The newest request of each member.
    reviews_asked: Vec<Said>,
    escalations: Vec<Said>,
    /// The host's message about the last change of status.
    status: Option<Said>,
    fixes: usize,
    reviews: usize,
    others: usize,
}

impl Activity {
    /// Records whom the next message of the thread answers and who must answer it. Call in order.
    pub fn pass(&mut self, event: &Event) {
        self.note_answers(event);
        self.note_asked(event);
    }

    /// Takes the next message of the thread other than plain talk, with its present text. Call in
    /// order; deleted messages are left out.
    pub fn take(&mut self, event: &Event, message: &Message) {
        let Some(metadata) = message.metadata.as_deref().filter(|_| event.only().is_none()) else {
            return;
        };
        let event_type = text_field(metadata, "event_type").unwrap_or_default();
        let said = || Said {
            at: event.seq,
            uid: event.uid,
            thread_seq: event.thread_seq,
            by: event.actor,
            text: beginning(&message.text),
        };
        match message.kind {
            MessageKind::Chat => {}
            MessageKind::System => {
                if matches!(event_type, STATUS_CHANGED | RESOLVED) {
                    self.status = Some(said());
                }
            }
            MessageKind::Event => self.take_typed(event_type, event, metadata, said()),
        }
    }

    fn take_typed(&mut self, event_type: &str, event: &Event, metadata: &str, said: Said) {
        let finding = text_field(metadata, "finding_id");
        let question = text_field(metadata, "question_id");
        match event_type {
            "finding_reported" => self.report(finding, said),
            "finding_verified" => self.settle(finding, event, Verdict::Verified),
            "finding_rejected" => self.settle(finding, event, Verdict::Rejected),
            "fix_pushed" => self.fixes += 1,
            "re_review_requested" => {
                self.reviews += 1;
                self.reviews_asked.retain(|before| before.by != said.by);
                self.reviews_asked.push(said);
            }
            "thread_escalated" => self.escalations.push(said),
            "decision_made" => self.decisions.push(said),
            "question_asked" => {
                self.questions.retain(|q| question.is_none() || q.id.as_deref() != question);
                self.questions.push(Question { id: question.map(Into::into), said });
            }
            "question_answered" => self.questions.retain(|q| match question {
                Some(id) => q.id.as_deref() != Some(id),
                None => Some(q.said.at) != event.reply_to,
            }),
            _ => self.others += 1,
        }
    }

    /// A finding that is reported again is open again and belongs to everybody who reported it, so
    /// that nobody takes over another member's finding.
    fn report(&mut self, id: Option<&str>, said: Said) {
        let known = self.findings.iter().position(|f| id.is_some() && f.id.as_deref() == id);
        let known = known.map(|known| self.findings.remove(known));
        let (by, mut others) = known.map_or((said.by, BTreeSet::new()), |f| (f.by, f.others));
        if said.by != by {
            others.insert(said.by);
        }
        self.findings.push(Finding {
            at: said.at,
            uid: said.uid,
            thread_seq: said.thread_seq,
            id: id.map(Into::into),
            text: said.text,
            verdict: Verdict::Open,
            by,
            others,
            settled_by: None,
        });
    }

    fn settle(&mut self, id: Option<&str>, event: &Event, verdict: Verdict) {
        let found = self.findings.iter_mut().find(|f| match id {
            Some(id) => f.id.as_deref() == Some(id),
            None => Some(f.at) == event.reply_to,
        });
        if let Some(finding) = found {
            finding.verdict = verdict;
            finding.settled_by = Some(event.actor);
        }
    }

    fn note_answers(&mut self, event: &Event) {
        let cause = event.cause.filter(|c| c.conversation == event.conversation).map(|c| c.seq);
        self.waits.retain(|wait| {
            let answers = [event.reply_to, cause].contains(&Some(wait.at));
            !(answers && wait.of == event.actor)
        });
    }

    fn note_asked(&mut self, event: &Event) {
        let Some(attention) = event.attention.as_ref().filter(|a| a.only.is_none()) else { return };
        let asked = attention.told.iter().filter(|t| t.decision.policy == Policy::MustRespond);
        let (at, thread_seq, by) = (event.seq, event.thread_seq, event.actor);
        self.waits.extend(asked.map(|told| Wait { at, thread_seq, by, of: told.member }));
    }

    /// Findings that were neither verified nor rejected.
    pub fn open(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| f.verdict == Verdict::Open)
    }

    /// Findings that keep this member from closing the thread: open ones, and those that another
    /// member reported (alone or too) and this member settled.
    pub fn disputed(&self, closes: MemberKey) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |f| {
            let of_another = || f.by != closes || !f.others.is_empty();
            f.verdict == Verdict::Open || (f.settled_by == Some(closes) && of_another())
        })
    }
}

fn beginning(text: &str) -> Arc<str> {
    match text.char_indices().nth(KEPT) {
        Some((end, _)) => text.get(..end).unwrap_or_default().into(),
        None => text.into(),
    }
}

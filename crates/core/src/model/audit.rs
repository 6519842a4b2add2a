//! What the audit log records about a command: who did what to whom, when, and with what outcome,
//! but never what was said.
//!
//! Actions that are in the conversations' own logs (sends, decisions, roster, settings, erasures)
//! are not recorded again; those logs are hash chains too. The audit log has the rest:
//! administration, claims, deliveries, sessions, tool calls, tokens. Each command states its own
//! entry ([`Audit`]).

mod action;
mod derived;

use std::sync::Arc;

pub use action::Action;
use derived::{POST, is_of_turns};

use crate::model::caller::{Authority, By};
use crate::model::error::Code;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, SessionKey, Timestamp, Uid};

/// Longest name kept. A longer one was refused, and its beginning is enough.
const NAME_CHARS: usize = 64;

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub at: Timestamp,
    /// The member who did it; 0 is the host.
    pub by: MemberKey,
    pub session: Option<SessionKey>,
    pub authority: Authority,
    pub act: Action,
    pub event: Option<EventRef>,
    pub subject: Option<Uid>,
    pub member: Option<MemberKey>,
    /// A role, a stream, a tool, a token's id, a disposition.
    pub name: Option<Arc<str>>,
    /// The code of the refusal, if it was refused.
    pub refused: Option<Code>,
    pub took_ms: Option<u32>,
    /// The first half of a hash over the receipt.
    pub digest: Option<[u8; 16]>,
}

/// An action that no command of the room does: for the audit log only.
#[derive(Clone, Debug)]
pub struct Note {
    pub act: Action,
    pub name: Arc<str>,
    pub member: Option<MemberKey>,
    pub refused: Option<Code>,
    pub took_ms: Option<u32>,
}

/// How durably an entry is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// In the transaction of the action itself.
    Firm,
    /// With the next transaction, at most a second later: a crash may lose it.
    Soft,
}

impl Record {
    pub fn new(at: Timestamp, by: &By, act: Action) -> Self {
        Self {
            at,
            by: by.member,
            session: by.session,
            authority: by.authority,
            act,
            event: None,
            subject: None,
            member: None,
            name: None,
            refused: None,
            took_ms: None,
            digest: None,
        }
    }
}

/// The audit entry that a command states. Whether and how it is written depends on the command's
/// outcome.
#[derive(Debug, Default)]
pub struct Audit(Option<Box<Draft>>);

#[derive(Debug)]
struct Draft {
    act: Action,
    /// How it is written when the command was done, and when it was refused.
    done: Option<Weight>,
    refused: Option<Weight>,
    subject: Option<Uid>,
    member: Option<MemberKey>,
    event: Option<EventRef>,
    session: Option<SessionKey>,
    name: Option<Arc<str>>,
    code: Option<Code>,
    took_ms: Option<u32>,
    /// The event is the one whose turn the command comes with.
    of_turn: bool,
}

impl Audit {
    /// No entry: another log has it, or nobody needs it.
    pub fn none() -> Self {
        Self(None)
    }

    fn new(act: Action, done: Option<Weight>, refused: Option<Weight>) -> Self {
        Self(Some(Box::new(Draft {
            act,
            done,
            refused,
            subject: None,
            member: None,
            event: None,
            session: None,
            name: None,
            code: None,
            took_ms: None,
            of_turn: false,
        })))
    }

    /// Written with the change itself; a refusal is written with others.
    pub fn firm(act: Action) -> Self {
        Self::new(act, Some(Weight::Firm), Some(Weight::Soft))
    }

    /// Written with others; a refusal is not written.
    pub fn soft(act: Action) -> Self {
        Self::new(act, Some(Weight::Soft), None)
    }

    /// The conversation's own log has it; only a refusal is written here.
    pub fn logged(act: Action) -> Self {
        Self::new(act, None, Some(Weight::Soft))
    }

    /// What is recorded about agents' posts besides the posts themselves: refusals because of
    /// turns, and duplicates.
    pub(crate) fn of_post(
        conversation: Option<Uid>,
        duplicate: Option<bool>,
        refused: Option<Code>,
    ) -> Self {
        let of_turn = |act| {
            let mut audit = Self::new(act, Some(Weight::Soft), Some(Weight::Soft));
            audit.set(|draft| (draft.subject, draft.of_turn) = (conversation, true));
            audit
        };
        match (duplicate, refused) {
            (Some(true), _) => of_turn(Action::Deduplicate).name(POST),
            (_, Some(code)) if is_of_turns(code) => of_turn(Action::RefuseTurn),
            _ => Self::none(),
        }
    }

    fn set(&mut self, change: impl FnOnce(&mut Draft)) {
        if let Some(draft) = &mut self.0 {
            change(draft);
        }
    }

    #[must_use]
    pub fn subject(mut self, subject: impl Into<Option<Uid>>) -> Self {
        self.set(|draft| draft.subject = subject.into());
        self
    }

    #[must_use]
    pub fn member(mut self, member: impl Into<Option<MemberKey>>) -> Self {
        self.set(|draft| draft.member = member.into());
        self
    }

    #[must_use]
    pub fn event(mut self, event: impl Into<Option<EventRef>>) -> Self {
        self.set(|draft| draft.event = event.into());
        self
    }

    #[must_use]
    pub fn session(mut self, session: SessionKey) -> Self {
        self.set(|draft| draft.session = Some(session));
        self
    }

    /// Sets the name, cut to the length that the log keeps.
    #[must_use]
    pub fn name<'a>(mut self, name: impl Into<Option<&'a str>>) -> Self {
        let name = name.into().map(|name| match name.char_indices().nth(NAME_CHARS) {
            Some((end, _)) => name[..end].into(),
            None => name.into(),
        });
        self.set(|draft| draft.name = name);
        self
    }

    /// For an action that no command does; it states its own outcome.
    pub(crate) fn note(note: &Note) -> Self {
        let mut audit = match note.act == Action::CallTool || note.refused.is_some() {
            true => Self::soft(note.act),
            false => Self::firm(note.act),
        };
        audit.set(|draft| (draft.code, draft.took_ms) = (note.refused, note.took_ms));
        audit.member(note.member).name(&*note.name)
    }

    /// The entry of a command that was done, or was refused with a code.
    pub(crate) fn record(
        self,
        by: &By,
        refused: Option<Code>,
        now: Timestamp,
    ) -> Option<(Weight, Record)> {
        let draft = *self.0?;
        let weight = if refused.is_some() { draft.refused } else { draft.done }?;
        let turn = by.turn.map(|t| EventRef { conversation: t.conversation, seq: t.seq });
        let record = Record {
            session: draft.session.or(by.session),
            event: draft.event.or(turn.filter(|_| draft.of_turn)),
            subject: draft.subject,
            member: draft.member,
            name: draft.name,
            refused: draft.code.or(refused),
            took_ms: draft.took_ms,
            ..Record::new(now, by, draft.act)
        };
        Some((weight, record))
    }
}

/// The position of an event as two numbers, 0 when there is none.
pub(crate) fn place(event: Option<EventRef>) -> (u64, u64) {
    event.map_or((0, 0), |e| (e.conversation.0, e.seq.0))
}

pub(crate) fn event(conversation: u64, seq: u64) -> Option<EventRef> {
    (conversation > 0)
        .then_some(EventRef { conversation: ConversationKey(conversation), seq: Seq(seq) })
}

//! An answer that is owed and will not come, because nobody is left to give it: whoever asked reads that in the
//! conversation, with the reason (attention spec, "Event disposition").
//!
//! Invariant: the report is said once for each delivery, is told to nobody, and counts against no budget and no
//! turn. It is shown to whom the message was shown.

use std::fmt::Write;
use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::conversations::conversation::derived;
use crate::model::attention::{Attention, Directedness, Intent, Rule};
use crate::model::delivery::{Delivery, Open};
use crate::model::disposition::Disposition;
use crate::model::event::{Change, Idempotency, Message, MessageKind};
use crate::model::ids::{EventRef, MemberKey};
use crate::model::limits;
use crate::model::text::is_unseen;
use crate::model::thread::ThreadStatus;

/// Why no answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The run has failed.
    Failed,
    /// Its time is up.
    Overdue,
    /// Whoever owed it has set it aside.
    SetAside,
}

impl Unanswered {
    /// How a report of it begins.
    fn headline(self) -> &'static str {
        match self {
            Self::Failed => "The run failed, and nobody else can answer",
            Self::Overdue => "No answer came in time, and nobody else can answer",
            Self::SetAside => "This was set aside, and nobody else can answer",
        }
    }

    /// The metadata of a report.
    fn metadata(self) -> &'static str {
        match self {
            Self::Failed => r#"{"event_type":"run_failed"}"#,
            Self::Overdue => r#"{"event_type":"answer_overdue"}"#,
            Self::SetAside => r#"{"event_type":"answer_set_aside"}"#,
        }
    }
}

/// Where the ids of reports begin among those that follow from a message's.
const REPORTS: usize = 1 << 20;

/// Sets the key of a report apart from those of the replies to the same message.
const REPORT: u128 = 1 << 127;

impl Context<'_> {
    /// Says that no answer comes, if one is owed that nobody else can give. `failed` is the delivery as it was.
    pub(crate) fn report_unanswered(
        &mut self,
        at: EventRef,
        failed: &Delivery,
        why: Unanswered,
        reason: Option<&str>,
    ) -> Result<()> {
        let member = failed.member;
        let room = self.room(at.conversation);
        let kept = || room.closed.iter().find(|open| open.seq == at.seq);
        let Some(open) = room.open.get(&at.seq).or_else(kept) else { return Ok(()) };
        let closed = room.is_closed();
        // A service that asks by an inbox hears that a run is idle, and nothing more.
        let is_service = self.directory().is_stand_in(open.author);
        if why == Unanswered::SetAside && is_service {
            return Ok(());
        }
        if !is_for_nobody(open, failed) || closed || !room.roster.contains_key(&member) {
            return Ok(());
        }
        let recalled = self.recall(at)?;
        let (thread, opens) = self.line_of_answer(at)?;
        let is_closed = self
            .thread(at.conversation, thread)
            .is_some_and(|thread| thread.status == ThreadStatus::Closed);
        let key = report_key(recalled.event.uid.0, member);
        let room = self.room(at.conversation);
        let said = room.sent.get(&key).is_some();
        if is_closed || said || recalled.message.deleted_at.is_some() {
            return Ok(());
        }
        // One command may report what became of several messages: the ids follow from those.
        let (asked, nth) = (recalled.event.uid, REPORTS + 2 * member.0 as usize);
        let thread = match opens {
            Some(root) => {
                Some(self.open_canonical(at.conversation, root, derived(asked, nth + 1))?)
            }
            None => thread,
        };
        let message = Message {
            kind: MessageKind::System,
            text: report(why, reason).into(),
            metadata: Some(why.metadata().into()),
            ..Message::default()
        };
        let only = recalled.event.only().cloned();
        let told = Attention::plain(Intent::Status, Directedness::Ambient, Vec::new());
        let mut draft = self.draft(derived(asked, nth), Change::Posted(message));
        draft.actor = member;
        draft.thread = thread;
        draft.reply_to = Some(at.seq);
        draft.cause = Some(at);
        draft.hop = recalled.event.hop.saturating_add(1);
        draft.idempotency = Some(Idempotency { key, payload: key });
        draft.attention = Some(Arc::new(Attention { only, ..told }));
        let event = self.room_mut(at.conversation).log(draft);
        self.publish(event.clone())?;
        // A service that asked hears it too.
        self.note_output(&event);
        Ok(())
    }
}

/// Whether the member has failed at something that was owed, and nobody is left to do it. The one that was selected
/// of a role owes it for the role.
fn is_for_nobody(open: &Open, failed: &Delivery) -> bool {
    let Some(now) = open.delivery(failed.member) else { return false };
    if failed.is_obligation() {
        let moved_on =
            |d: &Delivery| d.is_escalated() && d.is_open() && d.fence == failed.fence + 1;
        return now.is_dead() && !open.deliveries.iter().any(moved_on);
    }
    let took =
        |disposition| matches!(disposition, Disposition::Responded | Disposition::Acknowledged);
    let left = open.deliveries.iter().any(|d| d.is_open() || d.disposition().is_some_and(took));
    let selected = failed.decision.rule == Rule::RoleMention;
    selected && now.disposition() == Some(Disposition::Failed) && !left
}

/// Once for each member that fails at a message.
fn report_key(event: u128, member: MemberKey) -> [u8; 16] {
    (event.wrapping_add(u128::from(member.0) << 40) ^ REPORT).to_be_bytes()
}

/// What the report says: one line, in which what cannot be seen is written out.
fn report(why: Unanswered, reason: Option<&str>) -> String {
    let mut out = String::from(why.headline());
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    let Some(reason) = reason else { return out + "." };
    out.push_str(": ");
    for (n, c) in reason.chars().enumerate() {
        if n == limits::FAILURE_CHARS {
            out.push('…');
            break;
        }
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            _ if c.is_control() || is_unseen(c) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out
}

//! Reports that an owed answer will not come, because nobody is left to give it. The author reads
//! that in the conversation, with the reason (attention spec, "Event disposition").
//!
//! Invariant: there is one report per delivery. It notifies nobody, and counts against no budget
//! and no turn. It is visible to the same members as the message.

use std::fmt::Write;
use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::conversations::conversation::derived;
use crate::model::approval::DENIED;
use crate::model::attention::{Attention, Directedness, Intent, Rule};
use crate::model::delivery::{Delivery, Open, Unanswered};
use crate::model::disposition::Disposition;
use crate::model::event::{Change, Idempotency, Message, MessageKind};
use crate::model::ids::{EventRef, MemberKey};
use crate::model::limits;
use crate::model::text::is_unseen;
use crate::model::thread::ThreadStatus;

/// Where the ids of reports begin among the ids derived from a message's id.
const REPORTS: usize = 1 << 20;

/// Keeps a report's key apart from the keys of replies to the same message.
const REPORT: u128 = 1 << 127;

impl Context<'_> {
    /// Reports that no answer comes, if one is owed that nobody else can give. `failed` is the
    /// delivery before it ended.
    pub(crate) fn report_unanswered(
        &mut self,
        at: EventRef,
        failed: &Delivery,
        why: Unanswered,
        reason: Option<&str>,
    ) -> Result<()> {
        let member = failed.member;
        let room = self.room(at.conversation);
        let kept = || room.closed().iter().find(|open| open.seq == at.seq);
        let Some(open) = room.open().get(&at.seq).or_else(kept) else { return Ok(()) };
        let closed = room.is_closed();
        // A service that asked through an inbox only hears that the run is idle.
        let is_service = self.directory().is_stand_in(open.author);
        if why == Unanswered::SetAside && is_service {
            return Ok(());
        }
        if !is_for_nobody(open, failed) || closed || !room.roster().contains_key(&member) {
            return Ok(());
        }
        let recalled = self.recall(at)?;
        let (thread, opens) = self.line_of_answer(at)?;
        let is_closed = self
            .thread(at.conversation, thread)
            .is_some_and(|thread| thread.status == ThreadStatus::Closed);
        let key = report_key(recalled.event.uid.0, member);
        let room = self.room(at.conversation);
        let said = room.sent().get(&key).is_some();
        if is_closed || said || recalled.message.deleted_at.is_some() {
            return Ok(());
        }
        // One command may report on several messages, so the ids are derived from those.
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
        // A service that asked receives the report too.
        self.note_output(&event);
        Ok(())
    }
}

/// Whether the member has failed an obligation and nobody is left to meet it. The member selected
/// from a role owes it for the role.
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
    let ended = matches!(now.disposition(), Some(Disposition::Failed | Disposition::Ignored));
    selected && ended && !left
}

/// One key for each member that fails to answer a message.
fn report_key(event: u128, member: MemberKey) -> [u8; 16] {
    (event.wrapping_add(u128::from(member.0) << 40) ^ REPORT).to_be_bytes()
}

/// The text of the report: one line, with invisible characters escaped.
fn report(why: Unanswered, reason: Option<&str>) -> String {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    // A run whose answer a person has denied has not failed.
    let headline = match reason.is_some_and(|reason| reason.starts_with(DENIED)) {
        true => "The answer is not posted",
        false => why.headline(),
    };
    let mut out = String::from(headline);
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

//! Reactions: a signal to the author of a message, and a disposition of one's own delivery without
//! a turn (C2A "Reaction signals").

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::deliveries::dispose::Then;
use crate::commands::messages::Reacted;
use crate::commands::messages::edit::hidden_as;
use crate::model::attention::{
    Attention, Decision, Directedness, Intent, Mode, Policy, Priority, Rule, Told,
};
use crate::model::delivery::Delivery;
use crate::model::delivery::Unanswered;
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::event::Change;
use crate::model::ids::{EventRef, MemberKey, Uid};
use crate::model::limits;
use crate::model::member::Member;
use crate::model::offer::Entry;
use crate::model::reaction::Signal;
use crate::state::facts::Recalled;

impl Context<'_> {
    pub(super) fn react(
        &mut self,
        uid: Uid,
        signal: Signal,
        detail: Option<Arc<str>>,
        on: bool,
    ) -> Result<Reacted> {
        let at = self.event_by_uid(uid, "message")?;
        self.must_sit(at.conversation)?;
        let me = self.me()?;
        let recalled = self.recall(at)?;
        let message = self.message_seq(&recalled)?;
        let recalled = if message == at.seq {
            recalled
        } else {
            self.recall(EventRef { seq: message, ..at })?
        };
        if recalled.message.deleted_at.is_some() {
            return Err(Refusal::new(Code::Conflict, "the message was deleted").into());
        }
        // The obligation belongs to the newest version, whichever is named.
        let owed = match me.is_agent() {
            true => self.newest_of(at, me.key)?,
            false => at,
        };
        let disposition = signal.disposition().filter(|_| on);
        if me.is_agent() {
            self.check_signal(owed, me.key, disposition)?;
            // A member who reacts to a message has read it.
            if on {
                self.note_read(owed)?;
            }
        }
        let entry = match recalled.message.reactions.contains(&(me.key, signal)) == on {
            true => None,
            false => {
                let told = self.tells_who_asked(owed, &me, &recalled, signal, on);
                let change = match on {
                    true => Change::Reacted { message, signal, detail: detail.clone() },
                    false => Change::Unreacted { message, signal },
                };
                Some(self.log_reaction(owed, &me, &recalled, change, told)?)
            }
        };
        let settled = match disposition {
            _ if on && me.is_agent() => self.settle_by_signal(owed, me.key, disposition, detail)?,
            Some(Disposition::Responded) => {
                // A person says that it is done: nobody owes an answer any more.
                self.supersede(at, &recalled, "done")?;
                disposition
            }
            _ => None,
        };
        Ok(Reacted { entry, disposition: settled })
    }

    fn log_reaction(
        &mut self,
        at: EventRef,
        me: &Member,
        recalled: &Recalled,
        change: Change,
        told: Option<Arc<Attention>>,
    ) -> Result<Entry> {
        let on = matches!(change, Change::Reacted { .. });
        let mut draft = self.draft(self.drawn.uid, change);
        draft.thread = recalled.event.thread;
        if told.is_some() && me.is_agent() {
            // An agent's signal to another agent continues that agent's chain.
            draft.cause = Some(at);
            draft.hop = recalled.event.hop.saturating_add(1);
        }
        draft.attention = told.or_else(|| hidden_as(&recalled.event));
        let logged = self.room_mut(at.conversation).log(draft);
        let entry = self.publish(logged.clone())?;
        self.tell(&logged)?;
        if on {
            self.note_nod(me.key, &recalled.event);
        }
        Ok(entry)
    }

    /// Tells an asking agent that its request is not being done now, as a declining reaction would.
    pub(crate) fn tell_who_asked(&mut self, at: EventRef, signal: Signal) -> Result<()> {
        let me = self.me()?;
        let mut recalled = self.recall(at)?;
        let message = self.message_seq(&recalled)?;
        if message != at.seq {
            recalled = self.recall(EventRef { seq: message, ..at })?;
        }
        if recalled.message.reactions.contains(&(me.key, signal)) {
            return Ok(());
        }
        let told = self.tells_who_asked(at, &me, &recalled, signal, true);
        if told.is_some() {
            let open = self.room(at.conversation).open().get(&at.seq);
            let note = open.and_then(|o| o.delivery(me.key)).and_then(|d| d.note.clone());
            let detail = note.map(|note| one_line(&note));
            let change = Change::Reacted { message, signal, detail };
            self.log_reaction(at, &me, &recalled, change, told)?;
        }
        Ok(())
    }

    /// Who is notified of a reaction: the agent that wrote the message, if a person's signal
    /// changes what it should do, or if another agent's signal declines its request.
    fn tells_who_asked(
        &self,
        at: EventRef,
        me: &Member,
        message: &Recalled,
        signal: Signal,
        on: bool,
    ) -> Option<Arc<Attention>> {
        use Signal::{Agree, Blocked, Declined, Done, Unclear};
        let author = message.event.actor;
        let room = self.room(at.conversation);
        let owes = || {
            let mine = room.open().get(&at.seq).and_then(|o| o.delivery(me.key));
            mine.is_some_and(|d| d.is_open() && d.is_obligation())
        };
        let decision = if me.is_agent() {
            let chain_goes_on = message.event.hop.saturating_add(1) < limits::HOP_END;
            let refuses = matches!(signal, Declined | Blocked) && author != me.key;
            (refuses && chain_goes_on && owes())
                .then(|| told_by_reaction(Mode::Buffered, Priority::Normal))
        } else {
            matches!(signal, Agree | Declined | Done | Unclear | Blocked)
                .then(|| told_by_reaction(Mode::Notify, Priority::Low))
        };
        let decision = decision.filter(|_| on && self.directory().is_agent(author))?;
        room.takes_part(author, message.event.thread).then(|| {
            let (intent, rest) = (Intent::Statement, Directedness::ToOther);
            let told = vec![Told { member: author, decision }];
            let only = message.event.only().cloned();
            Arc::new(Attention { only, ..Attention::plain(intent, rest, told) })
        })
    }

    /// Checks that an agent's signal can have its effect, before anything is changed.
    fn check_signal(
        &mut self,
        at: EventRef,
        me: MemberKey,
        disposition: Option<Disposition>,
    ) -> Result<()> {
        match disposition {
            Some(Disposition::Claimed) => self.check_claim(at, me),
            Some(Disposition::Deferred) => {
                let open = self.room(at.conversation).open().get(&at.seq);
                let mine = open.and_then(|o| o.delivery(me));
                match mine.filter(|d| d.is_open() && !d.is_deferred()) {
                    Some(delivery) => crate::commands::deliveries::defer::check_deferrals(delivery),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn settle_by_signal(
        &mut self,
        at: EventRef,
        me: MemberKey,
        disposition: Option<Disposition>,
        detail: Option<Arc<str>>,
    ) -> Result<Option<Disposition>> {
        let receipt = self.recall(at)?.receipt;
        let open = self.room(at.conversation).open().get(&at.seq).or(receipt.as_ref());
        let dead = open.and_then(|o| o.delivery(me)).is_some_and(Delivery::is_dead);
        let mine = open.and_then(|o| o.delivery(me)).filter(|d| d.is_open());
        let owes = mine.is_some_and(Delivery::is_obligation);
        let deferred = mine.is_some_and(Delivery::is_deferred);
        let (before, note) = (mine.cloned(), detail.clone());
        let mine = mine.is_some();
        let claimed = open.and_then(|o| o.claim).is_some_and(|c| c.holder == me);
        if mine {
            self.remark(at, me, detail);
        }
        let Some(disposition) = disposition else { return Ok(None) };
        if deferred && self.waits_for_person(at, me) {
            return Ok(Some(Disposition::Deferred));
        }
        match disposition {
            Disposition::Responded if mine || claimed || dead => {
                self.settle(at, me, disposition)?;
                self.answered_without_words(at, me)?;
            }
            Disposition::Claimed => {
                let uid = self.recall(at)?.event.uid;
                self.claim(uid)?;
            }
            Disposition::Deferred if mine => {
                if !deferred {
                    let until = self.now.plus(self.ws.deferral.0);
                    self.put_off(at, until, Delivery::defer);
                }
            }
            Disposition::Ignored if owes => {
                self.end(at, me, disposition, Then::MovesOn)?;
                if let Some(owed) = before {
                    let why = Unanswered::SetAside;
                    self.report_unanswered(at, &owed, why, note.as_deref())?;
                }
            }
            _ if mine || claimed => {
                self.settle(at, me, disposition)?;
                // The last one of a role that was asked.
                if let Some(asked) = before.filter(|_| disposition == Disposition::Ignored) {
                    self.report_unanswered(at, &asked, Unanswered::SetAside, note.as_deref())?;
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(disposition))
    }
}

/// The author of a message decides whether a reaction changes anything.
fn told_by_reaction(mode: Mode, priority: Priority) -> Decision {
    Decision {
        rule: Rule::Reaction,
        directedness: Directedness::ToMe,
        policy: Policy::MayRespond,
        mode,
        priority,
        deadline_ms: None,
    }
}

/// A note as the detail of a reaction: one short line.
fn one_line(note: &str) -> Arc<str> {
    let plain = note.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut line = String::new();
    for c in plain {
        if line.len() + c.len_utf8() > limits::TITLE_BYTES {
            break;
        }
        line.push(c);
    }
    line.into()
}

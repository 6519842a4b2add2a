//! What happens to a message after it was posted: edits, deletions and reactions.

use std::sync::Arc;

use super::post::check_message;
use super::{Result, Run};
use crate::attention::directedness::{self, Said};
use crate::attention::flow::Flowed;
use crate::attention::intent::is_urgent;
use crate::attention::names::{self, Target};
use crate::attention::policy::{self, Circumstances};
use crate::attention::{
    Attention, Decision, Directedness, Intent, Mode, Policy, Priority, Rule, Told,
};
use crate::command::{Outcome, Recalled};
use crate::delivery::{Delivery, Disposition};
use crate::error::{Code, Refusal};
use crate::event::{Change, Event, EventRef, Message};
use crate::ids::{MemberKey, Seq, Uid};
use crate::member::Member;
use crate::reaction::Signal;

impl Run<'_> {
    /// An edit before the answer replaces what is still open; one after it is a knock for whoever answered.
    pub(super) fn edit(&mut self, uid: Uid, content: Message) -> Result<Outcome> {
        let (at, recalled) = self.own_message(uid)?;
        check_message(&content)?;
        self.check_assets(&content)?;
        let event = &recalled.event;
        let old = event.change.message().map(|m| m.text.clone());
        if recalled.message.latest.is_none() && old.as_deref() == Some(&*content.text) {
            return Ok(Outcome::Logged { entry: self.entry(event.clone())?, duplicate: true });
        }
        let content =
            Message { kind: event.change.message().map(|m| m.kind).unwrap_or_default(), ..content };
        let (cause, hop) = self.link_of_edit(event)?;
        let attention = self.decide_edit(&recalled, &content, at, hop)?;
        self.supersede(at, &recalled, "edited")?;
        let mut draft = self.draft(self.drawn.uid, Change::Edited { message: at.seq, content });
        draft.thread = event.thread;
        draft.reply_to = event.reply_to;
        draft.cause = cause;
        draft.hop = hop;
        draft.attention = Some(Arc::new(attention));
        let was_paused = self.ws.is_paused(self.room(at.conversation), draft.thread);
        let logged = self.room_mut(at.conversation).log(draft);
        let entry = self.publish(logged.clone())?;
        self.tell(&logged)?;
        if self.ws.is_paused(self.room(at.conversation), logged.thread) != was_paused {
            self.review_pauses(at.conversation)?;
        }
        Ok(Outcome::Logged { entry, duplicate: false })
    }

    /// An agent that edits in a turn goes on with that turn's chain, else edits would be a way around hops.
    fn link_of_edit(&mut self, event: &Event) -> Result<(Option<EventRef>, u8)> {
        let own = (event.cause, event.hop);
        if !self.me()?.is_agent() {
            return Ok(own);
        }
        let cause = self.cause(event.conversation, None)?;
        let link = cause.map(|c| (Some(c.at), c.hop.saturating_add(1)));
        Ok(link.filter(|(_, hop)| *hop > event.hop).unwrap_or(own))
    }

    pub(super) fn delete(&mut self, uid: Uid) -> Result<Outcome> {
        let (at, recalled) = self.own_message(uid)?;
        self.supersede(at, &recalled, "deleted")?;
        let mut draft = self.draft(self.drawn.uid, Change::Deleted { message: at.seq });
        draft.attention = hidden_as(&recalled.event);
        draft.thread = recalled.event.thread;
        let logged = self.room_mut(at.conversation).log(draft);
        let entry = self.publish(logged)?;
        Ok(Outcome::Logged { entry, duplicate: false })
    }

    /// A reaction is a zero-turn disposition of one's own delivery, and a signal to the author.
    pub(super) fn react(
        &mut self,
        uid: Uid,
        signal: Signal,
        detail: Option<Arc<str>>,
        on: bool,
    ) -> Result<Outcome> {
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
        let set = recalled.message.reactions.contains(&(me.key, signal));
        let mut entry = None;
        if set != on {
            let change = if on {
                Change::Reacted { message, signal, detail }
            } else {
                Change::Unreacted { message, signal }
            };
            let mut draft = self.draft(self.drawn.uid, change);
            draft.thread = recalled.event.thread;
            let knock = self.reaction_attention(&me, &recalled, signal, on);
            draft.attention = knock.or_else(|| hidden_as(&recalled.event));
            let logged = self.room_mut(at.conversation).log(draft);
            entry = Some(self.publish(logged.clone())?);
            self.tell(&logged)?;
            if on {
                self.note_nod(me.key, &recalled.event);
            }
        }
        let disposition = signal.disposition().filter(|_| on);
        let settled = match disposition {
            Some(d) if me.is_agent() => self.settle_by_signal(at, me.key, d)?,
            Some(Disposition::Responded) => {
                // A person says that it is done: nobody owes an answer any more.
                self.supersede(at, &recalled, "done")?;
                disposition
            }
            _ => None,
        };
        Ok(Outcome::Reacted { entry, disposition: settled })
    }

    /// An inbound reaction on an agent's own message is a knock when a person's signal changes what it
    /// should do; agents' reactions start nothing.
    fn reaction_attention(
        &self,
        me: &Member,
        message: &Recalled,
        signal: Signal,
        on: bool,
    ) -> Option<Arc<Attention>> {
        let author = message.event.actor;
        let matters = matches!(
            signal,
            Signal::Agree | Signal::Declined | Signal::Done | Signal::Unclear | Signal::Blocked
        );
        let tells = on && matters && !me.is_agent() && self.directory().is_agent(author);
        let room = self.room(message.event.conversation);
        let tells = tells && !room.has_left(author, message.event.thread);
        tells.then(|| {
            let decision = knock(Rule::Reaction, Priority::Low);
            Arc::new(Attention {
                intent: Intent::Statement,
                rest: Directedness::ToOther,
                told: vec![Told { member: author, decision }],
                only: message.event.only().cloned(),
                meant: None,
                nobody: None,
            })
        })
    }

    fn settle_by_signal(
        &mut self,
        at: EventRef,
        me: MemberKey,
        disposition: Disposition,
    ) -> Result<Option<Disposition>> {
        let open = self.room(at.conversation).open.get(&at.seq);
        let mine = open.and_then(|o| o.delivery(me)).is_some_and(Delivery::is_open);
        let claimed = open.and_then(|o| o.claim).is_some_and(|c| c.holder == me);
        if disposition == Disposition::Claimed {
            let uid = self.recall(at)?.event.uid;
            return self.claim(uid).map(|_| Some(disposition));
        }
        if mine || claimed {
            self.settle(at, me, disposition)?;
            return Ok(Some(disposition));
        }
        Ok(None)
    }

    /// The message an edit replaces, or the message itself.
    pub(super) fn message_seq(&self, recalled: &Recalled) -> Result<Seq> {
        match recalled.event.change {
            Change::Posted(_) => Ok(recalled.event.seq),
            Change::Edited { message, .. } => Ok(message),
            _ => Err(Refusal::invalid("this event is not a message").into()),
        }
    }

    /// A message that the caller may change: its own, or any for an operator.
    fn own_message(&mut self, uid: Uid) -> Result<(EventRef, Recalled)> {
        let mut at = self.event_by_uid(uid, "message")?;
        self.must_sit(at.conversation)?;
        let mut recalled = self.recall(at)?;
        let seq = self.message_seq(&recalled)?;
        if seq != at.seq {
            at.seq = seq;
            recalled = self.recall(at)?;
        }
        if recalled.event.actor != self.by.member && !self.is_operator() {
            return Err(Refusal::new(
                Code::Forbidden,
                "only its author or an operator may change a message",
            )
            .into());
        }
        if recalled.message.deleted_at.is_some() {
            return Err(Refusal::new(Code::Conflict, "the message was deleted").into());
        }
        Ok((at, recalled))
    }

    /// Ends what is still open of a message, in its newest version, and tells the sessions that have it.
    pub(super) fn supersede(
        &mut self,
        at: EventRef,
        recalled: &Recalled,
        reason: &'static str,
    ) -> Result<()> {
        let now = self.now;
        let versions = std::iter::once(at.seq).chain(recalled.message.latest);
        for seq in versions {
            let at = EventRef { seq, ..at };
            if !self.room(at.conversation).open.contains_key(&seq) {
                continue;
            }
            let room = self.room_mut(at.conversation);
            let Some(open) = room.open_mut(seq) else { continue };
            open.claim = None;
            let ended = open.supersede_all(now);
            self.cancel_all(at, ended, reason)?;
            self.settle_if_done(at);
        }
        Ok(())
    }

    fn decide_edit(
        &mut self,
        recalled: &Recalled,
        content: &Message,
        at: EventRef,
        hop: u8,
    ) -> Result<Attention> {
        let event = recalled.event.clone();
        let author = self.directory().member(event.actor).cloned();
        let author = author.ok_or_else(|| Refusal::not_found("member"))?;
        let replied_to = match event.reply_to {
            Some(seq) => self.recall_kept(EventRef { seq, ..at })?.map(|r| r.event.actor),
            None => None,
        };
        let mut answered = self.answered_by(recalled, at)?;
        answered.retain(|m| !self.room(at.conversation).has_left(*m, event.thread));
        let (recipient, mentions) = self.named_beside(&event);
        let room = self.room(at.conversation);
        let thread = self.thread(at.conversation, event.thread);
        let before = room.lines.get(&event.thread).filter(|line| line.seq != at.seq);
        let mut attention = directedness::decide(
            room,
            self.ws.people(),
            &Said {
                author: &author,
                text: &content.text,
                intent: crate::attention::intent::intent(&content.text, None),
                urgent: is_urgent(&content.text),
                at: event.at,
                hop,
                thread: thread.map(|t| &**t),
                stream: room.conversation.settings.stream,
                before: before.filter(|line| line.seq < at.seq),
                replied_to,
                recipient,
                mentions: &mentions,
                stated: None,
                answers_ack: false,
                only: event.only(),
                leave: false,
                caused_by: None,
                flowed: Some(Flowed::of(&event)),
            },
        );
        let again = edited_after_response(attention.intent, &author, hop);
        for told in attention.told.iter_mut().filter(|t| answered.contains(&t.member)) {
            told.decision = again;
        }
        for member in answered.into_iter().filter(|m| event.is_shown_to(*m)) {
            if !attention.told.iter().any(|t| t.member == member) {
                attention.told.push(Told { member, decision: again });
            }
        }
        Ok(attention)
    }

    /// Whom a message was for besides those its text names: an edit is for them too.
    fn named_beside(&self, event: &Event) -> (Option<MemberKey>, Vec<MemberKey>) {
        let told = event.attention.as_ref().map_or(&[][..], |a| &a.told);
        let by = |rule| told.iter().filter(move |t| t.decision.rule == rule).map(|t| t.member);
        let text = event.change.message().map_or("", |m| &m.text);
        let written: Vec<_> =
            names::mentions(text, &self.directory().names).iter().map(|m| m.target).collect();
        let beside = by(Rule::Mention).filter(|m| !written.contains(&Target::Member(*m)));
        (by(Rule::Recipient).next(), beside.collect())
    }

    /// The agents that have answered the message in any version.
    fn answered_by(&mut self, recalled: &Recalled, at: EventRef) -> Result<Vec<MemberKey>> {
        let mut members = Vec::new();
        let versions: Vec<Seq> = std::iter::once(at.seq).chain(recalled.message.latest).collect();
        for seq in versions {
            let at = EventRef { seq, ..at };
            let receipt = self.recall(at)?.receipt;
            let open = self.room(at.conversation).open.get(&seq).cloned().or(receipt);
            let answered = open.into_iter().flat_map(|o| o.deliveries);
            members.extend(
                answered
                    .filter(|d| d.disposition() == Some(Disposition::Responded))
                    .map(|d| d.member),
            );
        }
        members.dedup();
        Ok(members)
    }
}

/// Whoever has answered sees what its message has become, and decides itself whether that changes anything.
fn edited_after_response(intent: Intent, author: &Member, hop: u8) -> Decision {
    let rule = Rule::EditedAfterResponse;
    let author_is_agent = author.is_agent();
    let facts = Circumstances { author_is_agent, hop, ..Circumstances::plain(rule) };
    policy::decide(Directedness::ToMe, intent, &facts)
}

/// What is done to an ephemeral message is shown to whom that is shown to, and told to nobody.
pub(super) fn hidden_as(message: &Event) -> Option<Arc<Attention>> {
    let only = message.only()?.clone();
    let (intent, rest, told) = (Intent::Statement, Directedness::ToOther, Vec::new());
    Some(Arc::new(Attention { only: Some(only), ..Attention::plain(intent, rest, told) }))
}

/// A knock that leaves it to the member whether to act.
fn knock(rule: Rule, priority: Priority) -> Decision {
    Decision {
        rule,
        directedness: Directedness::ToMe,
        policy: Policy::MayRespond,
        mode: Mode::Notify,
        priority,
        deadline_ms: None,
    }
}

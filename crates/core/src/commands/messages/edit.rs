//! Editing and deleting messages.

use std::sync::Arc;

use crate::attention::directedness::{self, IncomingMessage, meaning};
use crate::attention::flow::Flowed;
use crate::attention::policy::{self, Circumstances};
use crate::commands::context::{Context, Result};
use crate::commands::messages::Logged;
use crate::commands::messages::checks::check_message;
use crate::language::analysis::Analysis;
use crate::language::names::{self, Target};
use crate::model::activity::has_text;
use crate::model::attention::{Attention, Decision, Directedness, Intent, Rule, Told};
use crate::model::caller::Authority;
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::event::{Change, Event, Message, MessageKind};
use crate::model::ids::{EventRef, MemberKey, Seq, Uid};
use crate::model::limits;
use crate::model::member::Member;
use crate::model::thread::ThreadStatus;
use crate::state::facts::Recalled;
use crate::state::room::context::Position;

impl Context<'_> {
    /// An edit before the answer replaces the open deliveries. One after the answer is a knock for
    /// those who answered.
    pub(super) fn edit(&mut self, uid: Uid, content: Message) -> Result<Logged> {
        let (at, recalled) = self.own_message(uid)?;
        check_message(&content)?;
        self.check_assets(&content)?;
        let event = &recalled.event;
        let newest = self.newest_version(at, &recalled)?;
        let before = newest.change.message().cloned().unwrap_or_default();
        let content = as_edited(content, &before);
        if before.kind == MessageKind::Event && has_event_type(&before) && !has_event_type(&content)
        {
            let why = "a message of kind event has a text metadata.event_type; leave metadata out, \
                       or state it again";
            return Err(Refusal::invalid(why).into());
        }
        if before == content {
            return Ok(Logged { entry: self.entry(newest)?, duplicate: true });
        }
        let (cause, hop) = self.link_of_edit(event)?;
        let mut attention = self.decide_edit(&recalled, &content, at, hop)?;
        let (line, _) = self.line_of_answer(at)?;
        let line = self.thread(at.conversation, line);
        let is_closed = line.is_some_and(|t| t.status == ThreadStatus::Closed);
        if is_closed {
            // Members who are asked there could not answer.
            attention.told.clear();
        }
        let me = self.me()?;
        let wakes = self.check_wakes(&me, false, &attention)?;
        self.supersede(at, &recalled, "edited")?;
        let reviewed = self.reviewed_by(at.conversation, event.thread, &content)?;
        let mut draft = self.draft(self.drawn.uid, Change::Edited { message: at.seq, content });
        draft.thread = event.thread;
        draft.reply_to = event.reply_to;
        draft.cause = cause;
        draft.hop = hop;
        draft.attention = Some(Arc::new(attention));
        let was_paused = self.ws.is_paused(self.room(at.conversation), draft.thread);
        let logged = self.room_mut(at.conversation).log(draft);
        if wakes {
            self.note_woke();
        }
        if !me.is_agent() {
            // A person's edit refills the turn budget as a new message does.
            let subject = self.room(at.conversation).subject_of(at.seq, logged.thread);
            self.count_turn(&me, subject, &logged);
        }
        let entry = self.publish(logged.clone())?;
        self.tell(&logged)?;
        if let Some(thread) = reviewed {
            self.review_completed(at.conversation, thread)?;
        }
        if self.ws.is_paused(self.room(at.conversation), logged.thread) != was_paused {
            self.review_pauses(at.conversation)?;
        }
        Ok(Logged { entry, duplicate: false })
    }

    /// The event with the current text of a message: its last edit, or the one that posted it.
    fn newest_version(&mut self, at: EventRef, recalled: &Recalled) -> Result<Arc<Event>> {
        match recalled.message.latest {
            Some(seq) => Ok(self.recall(EventRef { seq, ..at })?.event),
            None => Ok(recalled.event.clone()),
        }
    }

    /// An agent's edit continues the chain of its turn, or of what it was last notified of.
    /// Otherwise edits would bypass the hop limit.
    fn link_of_edit(&mut self, event: &Event) -> Result<(Option<EventRef>, u8)> {
        let own = (event.cause, event.hop);
        if !self.me()?.is_agent() {
            return Ok(own);
        }
        let cause = self.cause(event.conversation, None)?;
        let hop = self.next_hop(event.conversation, cause.as_ref().map(|c| c.hop));
        let at = cause.map(|c| c.at).or(event.cause);
        Ok(if hop > event.hop { (at, hop) } else { own })
    }

    pub(super) fn delete(&mut self, uid: Uid) -> Result<Logged> {
        let (at, recalled) = self.own_message(uid)?;
        self.supersede(at, &recalled, "deleted")?;
        let mut draft = self.draft(self.drawn.uid, Change::Deleted { message: at.seq });
        draft.attention = hidden_as(&recalled.event);
        draft.thread = recalled.event.thread;
        let logged = self.room_mut(at.conversation).log(draft);
        let entry = self.publish(logged)?;
        Ok(Logged { entry, duplicate: false })
    }

    /// The message that an edit replaces, or the message itself.
    pub(super) fn message_seq(&self, recalled: &Recalled) -> Result<Seq> {
        match recalled.event.change {
            Change::Posted(_) => Ok(recalled.event.seq),
            Change::Edited { message, .. } => Ok(message),
            _ => Err(Refusal::invalid("this event is not a message").into()),
        }
    }

    /// The version of a message that an agent answers when it names one outside a turn: the newest,
    /// unless the one that it names was handed to it.
    pub(super) fn version_answered(&mut self, at: EventRef) -> Result<EventRef> {
        let me = self.me()?;
        if !me.is_agent() || self.by.turn.is_some() {
            return Ok(at);
        }
        let receipt = self.recall(at)?.receipt;
        let open = self.room(at.conversation).open().get(&at.seq).or(receipt.as_ref());
        match open.and_then(|open| open.delivery(me.key)) {
            Some(mine) if mine.attempt > 0 => Ok(at),
            _ => self.newest_of(at, me.key),
        }
    }

    /// The version of a message that carries the member's obligation: the newest, whichever version
    /// is named. The named event itself if that still counts for the member, who was not notified of
    /// the newest.
    pub(crate) fn newest_of(&mut self, at: EventRef, member: MemberKey) -> Result<EventRef> {
        let recalled = self.recall(at)?;
        let Ok(message) = self.message_seq(&recalled) else { return Ok(at) };
        let latest = match message == at.seq {
            true => recalled.message.latest,
            false => {
                let posted = self.recall_kept(EventRef { seq: message, ..at })?;
                posted.and_then(|posted| posted.message.latest)
            }
        };
        let Some(seq) = latest.filter(|latest| *latest != at.seq) else { return Ok(at) };
        let newest = EventRef { seq, ..at };
        let receipt = self.recall(newest)?.receipt;
        let open = self.room(at.conversation).open().get(&seq).or(receipt.as_ref());
        let told = open.is_some_and(|open| open.delivery(member).is_some());
        let named = recalled.receipt;
        let open = self.room(at.conversation).open().get(&at.seq).or(named.as_ref());
        let counts = open
            .and_then(|open| open.delivery(member))
            .is_some_and(|delivery| delivery.disposition() != Some(Disposition::Superseded));
        Ok(if told || !counts { newest } else { at })
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
        // This includes the caller's own: status messages that the host posts in its name are part
        // of the thread's record.
        let kind = recalled.event.change.message().map(|message| message.kind);
        if kind == Some(MessageKind::System) && self.by.authority < Authority::Orchestrator {
            return Err(Refusal::new(
                Code::InsufficientAuthority,
                "a message of kind system is changed with an operator's or orchestrator's token",
            )
            .into());
        }
        Ok((at, recalled))
    }

    /// Ends the open deliveries of a message's newest version, and tells the sessions that hold
    /// them.
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
            self.reopen_dead(at)?;
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
        let replied = match event.reply_to {
            Some(seq) => self.recall_kept(EventRef { seq, ..at })?.map(|r| r.event),
            None => None,
        };
        let mut answered = self.answered_by(recalled, at)?;
        answered.retain(|m| self.room(at.conversation).takes_part(*m, event.thread));
        let (recipient, mentions) = self.named_beside(&event);
        let left_out: Vec<_> = event.attention.iter().flat_map(|a| a.left_out()).collect();
        let room = self.room(at.conversation);
        let thread = self.thread(at.conversation, event.thread);
        let before = room.lines().get(&event.thread).filter(|line| line.seq != at.seq);
        let from = Position { thread: event.thread, seq: at.seq };
        let analysis = Analysis::of(&content.text);
        let wording = &analysis.wording;
        let (read, answers) = meaning(room, &author, from, wording, replied.as_deref());
        let mut attention = directedness::decide(
            room,
            self.ws.people(),
            &IncomingMessage {
                author: &author,
                by_agent: author.is_agent(),
                text: &content.text,
                analysis: &analysis,
                intent: read.intent,
                answers,
                seq: at.seq,
                urgent: wording.urgent,
                at: event.at,
                hop,
                thread: thread.map(|t| &**t),
                stream: room.conversation().settings.stream,
                before: before.filter(|line| line.seq < at.seq),
                replied_to: replied.map(|event| event.actor),
                recipient,
                mentions: &mentions,
                left_out: &left_out,
                stated: event.attention.as_ref().and_then(|a| a.stated),
                answers_ack: false,
                only: event.only(),
                leave: false,
                caused_by: None,
                flowed: Some(Flowed::of(&event)),
            },
        );
        if author.is_agent() && hop >= limits::HOP_END {
            // At the end of its chain no agent is notified, even if it has answered.
            return Ok(attention);
        }
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

    /// The recipients of a message that its text does not name. An edit is for them too.
    fn named_beside(&self, event: &Event) -> (Option<MemberKey>, Vec<MemberKey>) {
        let told = event.attention.as_ref().map_or(&[][..], |a| &a.told);
        let by = |rule| told.iter().filter(move |t| t.decision.rule == rule).map(|t| t.member);
        let text = event.change.message().map_or("", |m| &m.text);
        let written: Vec<_> =
            names::mentions(text, &self.directory().names).iter().map(|m| m.target).collect();
        let beside = by(Rule::Mention).filter(|m| !written.contains(&Target::Member(*m)));
        (by(Rule::Recipient).next(), beside.collect())
    }

    /// The agents that have answered any version of the message. Each version has notified
    /// everybody who answered an earlier one, so the first and the newest version know all of them.
    pub(crate) fn answered_by(
        &mut self,
        recalled: &Recalled,
        at: EventRef,
    ) -> Result<Vec<MemberKey>> {
        let mut members = Vec::new();
        let versions: Vec<Seq> = std::iter::once(at.seq).chain(recalled.message.latest).collect();
        for seq in versions {
            let at = EventRef { seq, ..at };
            let Recalled { event, receipt, .. } = self.recall(at)?;
            let told = event.attention.iter().flat_map(|a| &a.told);
            let before = told.filter(|t| t.decision.rule == Rule::EditedAfterResponse);
            members.extend(before.map(|t| t.member));
            let open = self.room(at.conversation).open().get(&seq).cloned().or(receipt);
            let answered = open.into_iter().flat_map(|o| o.deliveries);
            members.extend(
                answered
                    .filter(|d| d.disposition() == Some(Disposition::Responded))
                    .map(|d| d.member),
            );
        }
        members.sort_unstable();
        members.dedup();
        Ok(members)
    }
}

/// Whether a message says which event it is.
fn has_event_type(message: &Message) -> bool {
    message.metadata.as_deref().is_some_and(|metadata| has_text(metadata, "event_type"))
}

/// Applies an edit to a message: text and parts are replaced, and metadata if the edit has any.
/// Kind and origin stay.
fn as_edited(content: Message, before: &Message) -> Message {
    let metadata = content.metadata.or_else(|| before.metadata.clone());
    let source = content.source.or_else(|| before.source.clone());
    Message { kind: before.kind, metadata, source, text: content.text, parts: content.parts }
}

/// A member who has answered sees the edited message and decides whether that changes anything.
fn edited_after_response(intent: Intent, author: &Member, hop: u8) -> Decision {
    let rule = Rule::EditedAfterResponse;
    let author_is_agent = author.is_agent();
    let facts = Circumstances { author_is_agent, hop, ..Circumstances::plain(rule) };
    policy::decide(Directedness::ToMe, intent, &facts)
}

/// Changes to an ephemeral message are shown only to its recipients, and notify nobody.
pub(super) fn hidden_as(message: &Event) -> Option<Arc<Attention>> {
    let only = message.only()?.clone();
    let (intent, rest, told) = (Intent::Statement, Directedness::ToOther, Vec::new());
    Some(Arc::new(Attention { only: Some(only), ..Attention::plain(intent, rest, told) }))
}

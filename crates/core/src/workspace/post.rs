//! Posting a message: judged, decided, logged, and offered to whom it is told.

use std::sync::Arc;

use super::claim::taken_by_reply;
use super::defer::end_for_others;
use super::guard::Verdict;
use super::inbox::Elsewhere;
use super::place::Place;
use super::{Result, Run};
use crate::attention::directedness::{self, Said};
use crate::attention::{Attention, Directedness, Intent, Rule};
use crate::claim::Claim;
use crate::command::{Audience, Effect, Outcome, Post};
use crate::delivery::{Delivery, Disposition, Open};
use crate::error::{Code, Refusal};
use crate::event::{Change, Event, EventRef, Message, MessageKind};
use crate::ids::MemberKey;
use crate::limits;
use crate::member::Member;
use crate::thread::ThreadStatus;
use crate::work::text_field;

impl Run<'_> {
    pub(super) fn post(&mut self, post: Post) -> Result<Outcome> {
        self.send(post, None)
    }

    /// Posts a message; `approved` when a person has agreed to it, with the event it was caused by.
    pub(super) fn send(
        &mut self,
        post: Post,
        approved: Option<Option<EventRef>>,
    ) -> Result<Outcome> {
        self.send_from(post, approved, Elsewhere::default())
    }

    /// As [`Run::send`], for a message that may be of another service.
    pub(super) fn send_from(
        &mut self,
        post: Post,
        approved: Option<Option<EventRef>>,
        elsewhere: Elsewhere,
    ) -> Result<Outcome> {
        let me = self.me()?;
        let place = self.place(&post)?;
        if let Some(outcome) = self.sent_before(&place, &post)? {
            return Ok(outcome);
        }
        if approved.is_none()
            && let Some(outcome) = self.asked_before(&post)?
        {
            return Ok(outcome);
        }
        check_message(&post.message)?;
        self.check_assets(&post.message)?;
        self.check_thread(&place)?;
        let on_main_line = place.is_on_main_line();
        let mut verdict =
            self.judge(&me, place.key, place.answers, approved.flatten(), on_main_line)?;
        verdict.hop = verdict.hop.max(elsewhere.hop);
        self.check_budget(&me, place.key, place.thread, &post.message)?;
        let subject = self.subject(&place);
        self.check_turn(&me, place.key, subject, verdict.cause, &post.message)?;
        let only = self.audience(&me, &place, &post, verdict)?;
        if approved.is_none() && me.is_agent() && !self.directory().is_stand_in(me.key) {
            let source = verdict.cause;
            let all = self.ws.approvals.all_sends;
            let widens = match source {
                Some(source) => self.widens(source, place.key, only.as_ref())?,
                None => false,
            };
            if all || widens {
                let answers = source.is_some() && place.answers == source;
                return self.hold(place.key, post, source, answers);
            }
        }
        let attention = Arc::new(self.decide(&me, &place, &post, verdict, only.as_ref())?);
        let thread = match place.opens {
            Some(root) => Some(self.open_canonical(place.key, root)?),
            None => place.thread,
        };
        let was_paused = self.ws.is_paused(self.room(place.key), thread);
        let mut draft = self.draft(self.drawn.uid, Change::Posted(post.message));
        draft.thread = thread;
        draft.reply_to = place.reply_to();
        draft.cause = verdict.cause.filter(|_| me.is_agent());
        draft.hop = verdict.hop;
        draft.idempotency = post.idempotency;
        draft.attention = Some(attention);
        if let Some(subject) = subject.filter(|_| me.is_agent()) {
            // What its thread counts is made up for before this message is counted there.
            self.room_mut(place.key).turn_mut(subject);
        }
        let event = self.room_mut(place.key).log(draft);
        let subject = self.room(place.key).subject_of(event.seq, thread);
        self.count_turn(&me, subject, &event);
        let answers = |cause: &EventRef| cause.conversation == place.key || place.answers.is_some();
        if let Some(cause) = verdict.cause.filter(answers) {
            self.answered(cause, &me, verdict)?;
        }
        let entry = self.publish(event.clone())?;
        if let Some(callback) = elsewhere.callback {
            self.room_mut(place.key).keep_callback(event.seq, callback);
        }
        self.note_output(&event);
        self.call_off(&event)?;
        self.show_out(&event)?;
        self.tell(&event)?;
        if !me.is_agent() {
            self.refresh_turns(subject, &event)?;
        }
        if let Some(thread) = thread.filter(|_| settles_a_finding(&event)) {
            self.review_completed(place.key, thread)?;
        }
        if self.ws.is_paused(self.room(place.key), thread) != was_paused {
            self.review_pauses(place.key)?;
        }
        Ok(Outcome::Logged { entry, duplicate: false })
    }

    /// Who would be told; records nothing.
    pub(super) fn preview(&mut self, post: &Post) -> Result<Outcome> {
        let me = self.me()?;
        let place = self.place(post)?;
        check_message(&post.message)?;
        self.check_thread(&place)?;
        let on_main_line = place.is_on_main_line();
        let verdict = self.judge(&me, place.key, place.answers, None, on_main_line)?;
        self.check_budget(&me, place.key, place.thread, &post.message)?;
        let subject = self.subject(&place);
        self.check_turn(&me, place.key, subject, verdict.cause, &post.message)?;
        let only = self.audience(&me, &place, post, verdict)?;
        let attention = self.decide(&me, &place, post, verdict, only.as_ref())?;
        Ok(Outcome::Preview(Arc::new(attention)))
    }

    /// The same key with the same content is the same message; with other content it is a conflict.
    fn sent_before(&mut self, place: &Place, post: &Post) -> Result<Option<Outcome>> {
        let Some(idempotency) = post.idempotency else { return Ok(None) };
        let Some(seq) = self.room(place.key).sent.get(&idempotency.key) else { return Ok(None) };
        let at = EventRef { conversation: place.key, seq };
        let event = self.recall(at)?.event;
        let same = event.idempotency.is_some_and(|i| i.payload == idempotency.payload);
        if event.is_erased() {
            return Err(Refusal::new(
                Code::IdempotencyConflict,
                "what was sent under this idempotency key was erased",
            )
            .into());
        }
        if !same {
            return Err(Refusal::new(
                Code::IdempotencyConflict,
                "another message was sent under this idempotency key",
            )
            .into());
        }
        let entry = self.entry(event)?;
        Ok(Some(Outcome::Logged { entry, duplicate: true }))
    }

    fn check_thread(&self, place: &Place) -> Result<()> {
        let thread = self.thread(place.key, place.thread);
        if thread.is_some_and(|t| t.status == ThreadStatus::Closed) {
            return Err(Refusal::new(Code::Conflict, "the thread is closed").into());
        }
        Ok(())
    }

    /// Whom the message is shown to, when not to everybody. What answers an ephemeral message is as ephemeral,
    /// for an agent whatever it says of its audience: it cannot take the words into the open.
    fn audience(
        &mut self,
        me: &Member,
        place: &Place,
        post: &Post,
        verdict: Verdict,
    ) -> Result<Option<Arc<[MemberKey]>>> {
        let mut only = match &post.audience {
            Audience::Everybody if !me.is_agent() => return Ok(None),
            Audience::Only(named) if !named.is_empty() => named.clone(),
            stated => {
                let of_agent = verdict.cause.filter(|_| me.is_agent());
                let answered = place.answers.or(of_agent).filter(|a| a.conversation == place.key);
                let answered = match answered {
                    Some(at) => self.recall(at)?.event.only().cloned(),
                    None => None,
                };
                if answered.is_none() && matches!(stated, Audience::Only(_)) {
                    return Err(Refusal::invalid(
                        "name the members that an ephemeral message is for",
                    )
                    .into());
                }
                return Ok(answered);
            }
        };
        if only.iter().any(|m| !self.room(place.key).roster.contains_key(m)) {
            return Err(Refusal::invalid(
                "every member that an ephemeral message is for has a seat in the conversation",
            )
            .into());
        }
        only.push(me.key);
        only.sort_unstable();
        only.dedup();
        Ok(Some(only.into()))
    }

    fn decide(
        &mut self,
        me: &Member,
        place: &Place,
        post: &Post,
        verdict: Verdict,
        only: Option<&Arc<[MemberKey]>>,
    ) -> Result<Attention> {
        if self.check_host_word(me, &post.message)? {
            let intent = Intent::Statement;
            let (rest, only) = (Directedness::Ambient, only.cloned());
            return Ok(Attention { only, ..Attention::plain(intent, rest, Vec::new()) });
        }
        let replied_to = match place.reply_to() {
            Some(seq) => {
                let at = EventRef { conversation: place.key, seq };
                Some(self.recall(at)?.event.actor)
            }
            None => None,
        };
        let cause = verdict.cause.filter(|c| me.is_agent() && c.conversation == place.key);
        let caused_by = match cause.filter(|_| replied_to.is_none()) {
            Some(cause) => self.recall_kept(cause)?.map(|recalled| recalled.event.actor),
            None => None,
        };
        let room = self.room(place.key);
        let said = Said {
            hop: verdict.hop,
            caused_by,
            replied_to,
            recipient: post.recipient,
            mentions: &post.mentions,
            stated: post.directedness,
            answers_ack: verdict.answers_ack,
            only,
            ..Said::read(room, me, place.thread, &post.message.text, self.now)
        };
        let mut attention = directedness::decide(room, self.ws.people(), &said);
        self.note_spent(me, place, verdict.cause, &post.message, &mut attention);
        Ok(attention)
    }

    /// The first reply settles the delivery in its own transaction.
    fn answered(&mut self, cause: EventRef, me: &Member, verdict: Verdict) -> Result<()> {
        let now = self.now;
        self.load(cause.conversation)?;
        if self.room(cause.conversation).open.get(&cause.seq).is_some_and(|o| o.author == me.key) {
            return Ok(());
        }
        if verdict.takes_claim && me.is_agent() {
            self.ensure_open(cause)?;
        }
        let turn = self.by.turn;
        let room = self.room_mut(cause.conversation);
        let Some(open) = room.open_mut(cause.seq) else {
            return self.said_again(cause, me.key);
        };
        if verdict.takes_claim && me.is_agent() {
            let fence =
                open.claim.map_or(1, |c| if c.holder == me.key { c.fence } else { c.fence + 1 });
            open.claim = Some(Claim::new(me.key, fence, true, now));
            if open.delivery(me.key).is_none() {
                // That it has answered must be known when the claim is gone: nobody else answers after it.
                open.deliveries.push(taken_by_reply(me.key, fence));
            }
        }
        let outcome =
            if verdict.answers_ack { Disposition::Acknowledged } else { Disposition::Responded };
        let mut was_running = false;
        if let Some(delivery) = open.delivery_mut(me.key) {
            was_running = super::is_running(delivery.state);
            delivery.spoke(turn);
            if delivery.is_open() || delivery.disposition() == Some(Disposition::Deferred) {
                delivery.settle(outcome, now);
            }
        }
        let ended = end_for_others(open, me.key, now);
        // Whoever was still to be asked about a role mention is not asked any more.
        let addressed = |d: &Delivery| d.decision.directedness == Directedness::ToMe;
        let mut withdrawn = match open.delivery(me.key) {
            // A role named beside it is asked all the same.
            Some(mine) if addressed(mine) => Vec::new(),
            _ => open.withdraw_others(me.key, now),
        };
        withdrawn.extend(ended);
        let gone = |c: &Claim| c.holder == me.key || withdrawn.iter().any(|d| d.member == c.holder);
        if open.claim.as_ref().is_some_and(gone) {
            open.claim = None;
        }
        self.ws.count_running(me.key, was_running, false);
        self.cancel_all(cause, withdrawn, "answered by another member")?;
        self.settle_if_done(cause);
        Ok(())
    }

    /// A further message of a turn whose delivery was settled by the first.
    fn said_again(&mut self, cause: EventRef, member: MemberKey) -> Result<()> {
        let (now, turn) = (self.now, self.by.turn);
        self.amend(cause, member, |delivery| {
            delivery.spoke(turn);
            if delivery.disposition() == Some(Disposition::Deferred) {
                delivery.settle(Disposition::Responded, now);
            }
        })
    }

    /// Opens what the event asks of agents, and offers it to those who are there.
    pub(super) fn tell(&mut self, event: &Arc<Event>) -> Result<()> {
        let at = EventRef { conversation: event.conversation, seq: event.seq };
        let Some(mut open) = Open::of(event, self.directory()) else { return Ok(()) };
        // An event's time never goes back within its conversation; what is owed for it counts from now.
        open.set_back(self.now);
        for told in &open.attention.told {
            if told.decision.rule == Rule::RoleMention {
                self.ws.granted.insert(told.member, self.now);
            }
        }
        let members: Vec<_> = open.deliveries.iter().map(|d| d.member).collect();
        self.room_mut(at.conversation).open_event(open);
        // Told once the line goes on, or their turn comes.
        let room = self.room(at.conversation);
        let withheld: Vec<MemberKey> = match room.open.get(&at.seq) {
            Some(open) => {
                let held = open.deliveries.iter().filter(|d| self.ws.is_withheld(room, open, d));
                held.map(|d| d.member).collect()
            }
            None => Vec::new(),
        };
        let now = self.now;
        for member in withheld {
            let open = self.room_mut(at.conversation).open_mut(at.seq);
            if let Some(delivery) = open.and_then(|o| o.delivery_mut(member)) {
                delivery.withhold(true, now);
            }
        }
        for member in members {
            self.offer(at, member)?;
        }
        self.ws.track(at);
        Ok(())
    }

    /// An event that nobody owes anything for is opened again, to be claimed or answered.
    pub(super) fn ensure_open(&mut self, at: EventRef) -> Result<()> {
        if self.room(at.conversation).open.contains_key(&at.seq) {
            return Ok(());
        }
        let recalled = self.recall(at)?;
        let open = match recalled.receipt {
            Some(receipt) => receipt,
            None => {
                let none = || {
                    Arc::new(Attention {
                        intent: Intent::Statement,
                        rest: Directedness::Ambient,
                        told: Vec::new(),
                        only: None,
                        meant: None,
                        nobody: None,
                    })
                };
                let attention = recalled.event.attention.clone().unwrap_or_else(none);
                let mut open = Open::with(&recalled.event, attention, Vec::new());
                open.claim = None;
                open
            }
        };
        self.room_mut(at.conversation).reopen(open);
        Ok(())
    }

    /// Tells sessions that deliveries they hold want no answer any more.
    pub(super) fn cancel_all(
        &mut self,
        at: EventRef,
        deliveries: Vec<Delivery>,
        reason: &'static str,
    ) -> Result<()> {
        let room = self.room(at.conversation);
        let conversation = room.conversation.uid;
        let event = room.open.get(&at.seq).map(|o| o.uid);
        for delivery in deliveries {
            self.ws.count_running(delivery.member, super::is_running(delivery.state), false);
            if let (Some(session), Some(event)) = (delivery.session(), event) {
                let (member, attempt) = (delivery.member, delivery.attempt);
                self.effect(Effect::Cancel {
                    event,
                    conversation,
                    member,
                    session,
                    attempt,
                    reason,
                });
            }
        }
        Ok(())
    }
}

/// Whether it is the verdict on something that was found.
fn settles_a_finding(event: &Event) -> bool {
    let message = event.change.message().filter(|m| m.kind == MessageKind::Event);
    let kind = message.and_then(|m| text_field(m.metadata.as_deref()?, "event_type"));
    matches!(kind, Some("finding_verified" | "finding_rejected"))
}

/// A message has content, and not too much of it.
pub(super) fn check_message(message: &Message) -> Result<(), Refusal> {
    if message.text.trim().is_empty() && message.parts.is_none() {
        return Err(Refusal::invalid("a message has text, or other content"));
    }
    let size = message.text.len().max(message.parts.as_ref().map_or(0, |p| p.len()));
    if size > limits::TEXT_BYTES {
        let max = limits::TEXT_BYTES;
        return Err(Refusal::new(
            Code::PayloadTooLarge,
            format!("a message has at most {max} bytes"),
        ));
    }
    if message.metadata.as_ref().is_some_and(|m| m.len() > limits::METADATA_BYTES) {
        let max = limits::METADATA_BYTES;
        return Err(Refusal::new(
            Code::PayloadTooLarge,
            format!("metadata has at most {max} bytes"),
        ));
    }
    Ok(())
}

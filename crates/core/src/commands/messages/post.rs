//! Posting a message: it is judged, decided, logged, and offered to its recipients.

use std::sync::Arc;

use crate::attention::directedness::{self, IncomingMessage};
use crate::commands::context::{Context, Result};
use crate::commands::inboxes::Elsewhere;
use crate::commands::messages::Logged;
use crate::commands::messages::checks::check_message;
use crate::commands::messages::destination::Place;
use crate::commands::messages::guard::Verdict;
use crate::language::analysis::Analysis;
use crate::model::activity::text_field;
use crate::model::attention::{Attention, Directedness, Intent, Rule};
use crate::model::delivery::{Delivery, Open};
use crate::model::error::{Code, Refusal};
use crate::model::event::{Change, Event, Message, MessageKind, is_talk};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, ThreadKey};
use crate::model::member::Member;
use crate::model::requests::{Audience, Post};
use crate::model::thread::ThreadStatus;
use crate::state::effect::Effect;
use crate::state::workspace::Failure;

impl Context<'_> {
    pub(super) fn post(&mut self, post: Post) -> Result<Logged> {
        self.send(post, None)
    }

    /// Posts a message. `approved` is the causing event when a person has agreed to it.
    pub(crate) fn send(
        &mut self,
        post: Post,
        approved: Option<Option<EventRef>>,
    ) -> Result<Logged> {
        self.send_from(post, approved, Elsewhere::default())
    }

    /// As [`Context::send`], for a message that may come from another service.
    pub(crate) fn send_from(
        &mut self,
        post: Post,
        approved: Option<Option<EventRef>>,
        elsewhere: Elsewhere,
    ) -> Result<Logged> {
        let me = self.me()?;
        let place = match self.place(&post) {
            Ok(place) => place,
            // What could be posted then, cannot be now. It was posted all the same.
            Err(why @ Failure::Refused(_)) => {
                let key = self.room_by_uid(post.conversation)?;
                return self.sent_before(key, &post)?.ok_or(why);
            }
            Err(why) => return Err(why),
        };
        if let Some(outcome) = self.sent_before(place.key, &post)? {
            return Ok(outcome);
        }
        if approved.is_none() {
            self.asked_before(&post)?;
        }
        check_message(&post.message)?;
        self.check_assets(&post.message)?;
        self.check_thread(&place)?;
        let on_main_line = place.is_on_main_line();
        let mut verdict =
            self.judge(&me, place.key, place.answers, approved.flatten(), on_main_line)?;
        verdict.hop = verdict.hop.max(elsewhere.hop);
        let is_answer = self.is_answer(&me, &place, &post, verdict, approved.is_some())?;
        let is_chat = post.message.kind == MessageKind::Chat;
        if is_chat {
            self.check_may_talk(&me, &place, verdict.cause)?;
        }
        let subject = self.subject(&place);
        let only = self.audience(&me, &place, &post, verdict)?;
        let analysis = self.analysis(&post.message.text);
        let attention = self.decide(&me, &place, (&post, &analysis), verdict, only.as_ref())?;
        let attention = Arc::new(attention);
        if !is_chat && is_talk(&post.message, &attention) {
            self.check_may_talk(&me, &place, verdict.cause)?;
        }
        let answers = verdict.cause.is_some_and(|cause| cause.conversation == place.key);
        let wakes = approved.is_none() && self.check_wakes(&me, answers, &attention)?;
        if approved.is_none() && me.is_agent() && !self.directory().is_stand_in(me.key) {
            let cause = verdict.cause;
            let (answers, said) = (place.answers, &post.message);
            let carried = self.carried_by_send(cause, answers, said, place.key, only.as_ref())?;
            if self.ws.approvals.all_sends || carried.is_some() {
                let answered = cause.filter(|_| place.answers == cause);
                let source = match (carried, cause) {
                    (None, Some(at)) => self.origin(at)?,
                    (carried, _) => carried,
                };
                return Err(self.hold(place.key, post, source, answered)?);
            }
        }
        let thread = match place.opens {
            Some(root) => Some(self.open_canonical(place.key, root, self.drawn.second)?),
            None => place.thread,
        };
        let was_paused = self.ws.is_paused(self.room(place.key), thread);
        let reviewed = self.reviewed_by(place.key, thread, &post.message)?;
        let mut draft = self.draft(self.drawn.uid, Change::Posted(post.message));
        draft.thread = thread;
        draft.reply_to = place.reply_to();
        draft.cause = verdict.cause.filter(|_| me.is_agent());
        draft.hop = verdict.hop;
        draft.idempotency = post.idempotency;
        draft.attention = Some(attention);
        draft.heard = Some(analysis.features);
        if let Some(subject) = subject.filter(|_| me.is_agent()) {
            // Restores the thread's turn counts before this message is counted.
            self.room_mut(place.key).turn_mut(subject);
        }
        let event = self.room_mut(place.key).log(draft);
        let subject = self.room(place.key).subject_of(event.seq, thread);
        self.count_turn(&me, subject, &event);
        self.note_answer(&me, &place, verdict, is_answer)?;
        // The author of an answer has read the event, even if no session has accepted it.
        if let Some(at) = verdict.cause.filter(|_| approved.is_none() && self.by.turn.is_none()) {
            self.note_told(at)?;
        }
        if approved.is_none() && self.has_read_there(place.key) {
            self.note_read(EventRef { conversation: place.key, seq: event.seq })?;
        }
        if wakes {
            self.note_woke();
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
        if let Some(thread) = reviewed {
            self.review_completed(place.key, thread)?;
        }
        if self.ws.is_paused(self.room(place.key), thread) != was_paused {
            self.review_pauses(place.key)?;
        }
        Ok(Logged { entry, duplicate: false })
    }

    /// Who would be notified. Records nothing.
    pub(crate) fn preview(&mut self, post: &Post) -> Result<Arc<Attention>> {
        let me = self.me()?;
        let place = self.place(post)?;
        check_message(&post.message)?;
        self.check_thread(&place)?;
        let on_main_line = place.is_on_main_line();
        let verdict = self.judge(&me, place.key, place.answers, None, on_main_line)?;
        let only = self.audience(&me, &place, post, verdict)?;
        let analysis = self.analysis(&post.message.text);
        let attention = self.decide(&me, &place, (post, &analysis), verdict, only.as_ref())?;
        if is_talk(&post.message, &attention) {
            self.check_may_talk(&me, &place, verdict.cause)?;
        }
        let answers = verdict.cause.is_some_and(|cause| cause.conversation == place.key);
        self.check_wakes(&me, answers, &attention)?;
        Ok(Arc::new(attention))
    }

    /// The thread whose review the message may complete: it is the verdict on a finding, and one is
    /// open there.
    pub(super) fn reviewed_by(
        &mut self,
        key: ConversationKey,
        thread: Option<ThreadKey>,
        message: &Message,
    ) -> Result<Option<ThreadKey>> {
        let Some(thread) = thread.filter(|_| settles_a_finding(message)) else { return Ok(None) };
        let is_under_review = self.work_of(key, thread)?.open().next().is_some();
        Ok(is_under_review.then_some(thread))
    }

    /// The same key with the same content is the same message. With other content it is a conflict.
    pub(super) fn sent_before(
        &mut self,
        key: ConversationKey,
        post: &Post,
    ) -> Result<Option<Logged>> {
        let Some(idempotency) = post.idempotency else { return Ok(None) };
        let Some(seq) = self.room(key).sent().get(&idempotency.key) else { return Ok(None) };
        let at = EventRef { conversation: key, seq };
        let event = self.recall(at)?.event;
        let same = event.idempotency.is_some_and(|i| i.payload == idempotency.payload);
        if event.is_erased() {
            return Err(Refusal::new(
                Code::IdempotencyConflict,
                "the message sent under this idempotency key was erased",
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
        Ok(Some(Logged { entry, duplicate: true }))
    }

    fn check_thread(&self, place: &Place) -> Result<()> {
        let thread = self.thread(place.key, place.thread);
        if thread.is_some_and(|t| t.status == ThreadStatus::Closed) {
            return Err(Refusal::new(Code::Conflict, "the thread is closed").into());
        }
        Ok(())
    }

    /// The members who can see the message, if not all. An answer to an ephemeral message is
    /// ephemeral too. An agent cannot override that, so it cannot make the words public.
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
        if only.iter().any(|m| !self.room(place.key).roster().contains_key(m)) {
            return Err(Refusal::invalid(
                "everybody an ephemeral message is for must be a member of the conversation",
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
        (post, analysis): (&Post, &Analysis),
        verdict: Verdict,
        only: Option<&Arc<[MemberKey]>>,
    ) -> Result<Attention> {
        if self.check_host_word(me, &post.message)? {
            let intent = Intent::Statement;
            let (rest, only) = (Directedness::Ambient, only.cloned());
            return Ok(Attention { only, ..Attention::plain(intent, rest, Vec::new()) });
        }
        let replied = match place.reply_to() {
            Some(seq) => {
                let at = EventRef { conversation: place.key, seq };
                Some(self.recall(at)?.event)
            }
            None => None,
        };
        let cause = verdict.cause.filter(|c| me.is_agent() && c.conversation == place.key);
        let caused_by = match cause.filter(|_| replied.is_none()) {
            Some(cause) => self.recall_kept(cause)?.map(|recalled| recalled.event.actor),
            None => None,
        };
        let room = self.room(place.key);
        let said = IncomingMessage {
            hop: verdict.hop,
            caused_by,
            recipient: post.recipient,
            mentions: &post.mentions,
            left_out: &post.left_out,
            stated: post.directedness,
            answers_ack: verdict.answers_ack,
            only,
            ..IncomingMessage::replying(
                room,
                me,
                place.thread,
                &post.message.text,
                analysis,
                self.now,
                replied.as_deref(),
            )
        };
        let mut attention = directedness::decide(room, self.ws.people(), &said);
        if me.is_agent() {
            self.note_spent(me, place, verdict.cause, &post.message, &mut attention);
        }
        Ok(attention)
    }

    /// Opens the deliveries of an event, and offers them to the connected sessions.
    pub(crate) fn tell(&mut self, event: &Arc<Event>) -> Result<()> {
        let at = EventRef { conversation: event.conversation, seq: event.seq };
        let Some(mut open) = Open::of(event, self.directory()) else {
            return Ok(());
        };
        // An event's time never goes back within its conversation. Its deadlines count from now.
        open.set_back(self.now);
        for told in &open.attention.told {
            if told.decision.rule == Rule::RoleMention {
                self.ws.granted.insert(told.member, self.now);
            }
        }
        let members: Vec<_> = open.deliveries.iter().map(|d| d.member).collect();
        for member in &members {
            self.ws.wake_history.told(*member, event.hop, self.now);
        }
        self.room_mut(at.conversation).open_event(open);
        // They are offered when the timeline continues or it is their turn.
        let room = self.room(at.conversation);
        let withheld: Vec<MemberKey> = match room.open().get(&at.seq) {
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

    /// Reopens an event that nobody owes anything for, to be claimed or answered.
    pub(crate) fn ensure_open(&mut self, at: EventRef) -> Result<()> {
        if self.room(at.conversation).open().contains_key(&at.seq) {
            return Ok(());
        }
        let recalled = self.recall(at)?;
        let open = match recalled.receipt {
            Some(receipt) => receipt,
            None => {
                let none = || {
                    let (intent, rest) = (Intent::Statement, Directedness::Ambient);
                    Arc::new(Attention::plain(intent, rest, Vec::new()))
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

    /// Tells sessions that deliveries they hold no longer need an answer.
    pub(crate) fn cancel_all(
        &mut self,
        at: EventRef,
        deliveries: Vec<Delivery>,
        reason: &'static str,
    ) -> Result<()> {
        let room = self.room(at.conversation);
        let conversation = room.conversation().uid;
        let event = room.open().get(&at.seq).map(|o| o.uid);
        for delivery in deliveries {
            self.ws.count_running(delivery.member, delivery.state.is_running(), false);
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

/// Whether it is the verdict on a finding.
fn settles_a_finding(message: &Message) -> bool {
    let metadata = message.metadata.as_deref().filter(|_| message.kind == MessageKind::Event);
    let kind = metadata.and_then(|metadata| text_field(metadata, "event_type"));
    matches!(kind, Some("finding_verified" | "finding_rejected"))
}

//! Deliveries on their way: offered, accepted, ended, reminded of, and moved on when nobody answers
//! (design section 5, "Receipts", "Deadlines", "One holder, one fence").

use std::sync::Arc;

use super::{Result, Run, is_running};
use crate::attention::Policy;
use crate::command::{Effect, Offer, Outcome, RemoteNews};
use crate::delivery::{Delivery, Disposition, Fired, State};
use crate::error::{Code, Refusal};
use crate::event::EventRef;
use crate::ids::{MemberKey, SessionKey, Uid};
use crate::limits;

impl Run<'_> {
    /// Offers a delivery to the best session of its member; it waits when none is connected.
    pub(super) fn offer(&mut self, at: EventRef, member: MemberKey) -> Result<()> {
        let connected = self.asked_sessions(at.conversation, member);
        let open = self.room(at.conversation).open.get(&at.seq);
        let due = open.and_then(|o| o.delivery(member)).filter(|d| d.is_open());
        let Some(delivery) = due.filter(|d| !d.is_deferred()) else { return Ok(()) };
        // The session that has had it is asked before any other.
        let had = delivery.session().filter(|s| connected.contains(s));
        // Accepted work waits for its own session; elsewhere it goes with the next fence only.
        let waits = had.is_none() && is_running(delivery.state);
        let Some(session) = had.or(connected.last().copied()).filter(|_| !waits) else {
            return Ok(());
        };
        self.offer_to(at, member, session)
    }

    /// Offers what is open when its clock goes on, work that runs too: what was said in it meanwhile was
    /// refused, and by this it is known that it may be said now.
    pub(super) fn offer_held_back(&mut self, at: EventRef, member: MemberKey) -> Result<()> {
        let open = self.room(at.conversation).open.get(&at.seq);
        match open.and_then(|o| o.delivery(member)).map(|d| d.state) {
            Some(State::Waiting | State::Offered { .. } | State::Accepted { .. }) => {
                self.offer(at, member)
            }
            _ => Ok(()),
        }
    }

    fn offer_to(&mut self, at: EventRef, member: MemberKey, session: SessionKey) -> Result<()> {
        if let Some(offer) = self.make_offer(at, member, session)? {
            self.effect(Effect::Offer(offer));
        }
        Ok(())
    }

    fn make_offer(
        &mut self,
        at: EventRef,
        member: MemberKey,
        session: SessionKey,
    ) -> Result<Option<Offer>> {
        let event = self.recall_event(at)?;
        let now = self.now;
        let carried = self.is_carrier(session);
        let room = self.room(at.conversation);
        let open = room.open.get(&at.seq);
        let withheld = open
            .and_then(|o| Some(self.ws.is_withheld(room, o, o.delivery(member)?)))
            .unwrap_or_default();
        let room = self.room_mut(at.conversation);
        let delivery = room.open_mut(at.seq).and_then(|o| o.delivery_mut(member));
        if let Some(delivery) = delivery.filter(|_| withheld) {
            if delivery.withhold(true, now) {
                room.must_store(at.seq);
            }
            return Ok(None);
        }
        let delivery = room.open_mut(at.seq).and_then(|o| o.delivery_mut(member));
        let offered = |d: &&mut Delivery| d.is_open() && !d.stands_still();
        let Some(delivery) = delivery.filter(offered) else { return Ok(None) };
        let was_running = is_running(delivery.state);
        delivery.offer(session, now);
        delivery.carried = carried;
        let (decision, attempt, fence) = (delivery.decision, delivery.attempt, delivery.fence);
        let retry = delivery.retry.map(Box::new);
        let has_row = room.open.get(&at.seq).is_some_and(|open| open.stored);
        if attempt > 1 || has_row {
            // What is read back was offered once, or as often as its row says: the next attempt is a higher one, whatever
            // happens.
            room.must_store(at.seq);
        }
        self.ws.count_running(member, was_running, false);
        let entry = self.entry(event)?;
        let channel = self.channel_delivery(at, member).map(Box::new);
        let came_with = self.came_with(at, member);
        Ok(Some(Offer {
            entry,
            member,
            session,
            decision,
            attempt,
            fence,
            retry,
            channel,
            came_with,
        }))
    }

    pub(super) fn recall_event(&mut self, at: EventRef) -> Result<Arc<crate::event::Event>> {
        let tail = &self.room(at.conversation).tail;
        if let Some(event) = tail.iter().rev().find(|e| e.seq == at.seq) {
            return Ok(event.clone());
        }
        Ok(self.recall(at)?.event)
    }

    /// What this session is still to be offered, oldest first: all that waits for its member, and what it
    /// had accepted and not ended.
    pub(super) fn owed(&mut self, session: SessionKey, limit: usize) -> Result<Outcome> {
        let found = self.directory().sessions.get(&session).map(|s| s.member);
        let member =
            found.filter(|m| *m == self.by.member).ok_or_else(|| Refusal::not_found("session"))?;
        let mut offers = Vec::new();
        let mut more = false;
        for at in self.owed_by(session) {
            let open = self.room(at.conversation).open.get(&at.seq);
            let Some(delivery) = open.and_then(|o| o.delivery(member)) else { continue };
            let due = match delivery.state {
                State::Waiting => self.may_ask(at.conversation, member, session),
                State::Offered { session: other, .. } => other == session,
                State::Accepted { session: holder, gone, .. } => {
                    holder == session && gone.is_some()
                }
                _ => false,
            };
            if !due {
                continue;
            }
            if offers.len() == limit {
                more = true;
                break;
            }
            offers.extend(self.make_offer(at, member, session)?);
            self.ws.track(at);
        }
        Ok(Outcome::Owed { offers, more })
    }

    /// The harness says how its delivery ended.
    pub(super) fn dispose(
        &mut self,
        uid: Uid,
        disposition: Disposition,
        _note: Option<&str>,
    ) -> Result<Outcome> {
        let at = self.event_by_uid(uid, "event")?;
        let me = self.me()?.key;
        let receipt = self.recall(at)?.receipt;
        let open = self.room(at.conversation).open.get(&at.seq).or(receipt.as_ref());
        let Some(delivery) = open.and_then(|o| o.delivery(me)).filter(|d| d.attempt > 0) else {
            return Err(never_offered().into());
        };
        if self.by.turn.is_some_and(|t| t.fence < delivery.fence) {
            return Err(Refusal::new(Code::StaleTurn, "this turn was taken back").into());
        }
        if let Some(ended) = delivery.disposition() {
            // The same word again, after a lost answer; the first one stands.
            self.run_is_over(at, me, disposition)?;
            return Ok(Outcome::Disposed { event: uid, disposition: ended });
        }
        let ended = delivery.clone();
        if disposition.settles()
            && disposition != Disposition::Deferred
            && let Some(disposition) = self.publish_output(at, &ended)?
        {
            self.run_is_over(at, me, disposition)?;
            return Ok(Outcome::Disposed { event: uid, disposition });
        }
        let disposition = self.ended_without_words(at, me, disposition);
        self.settle(at, me, disposition)?;
        self.run_is_over(at, me, disposition)?;
        Ok(Outcome::Disposed { event: uid, disposition })
    }

    /// Ends a member's delivery. A responder that will not act lets the next candidate be asked.
    pub(super) fn settle(
        &mut self,
        at: EventRef,
        member: MemberKey,
        disposition: Disposition,
    ) -> Result<()> {
        self.end(at, member, disposition, false)
    }

    /// Ends a member's delivery; as a dead letter, which is listed and can be sent again.
    pub(super) fn end(
        &mut self,
        at: EventRef,
        member: MemberKey,
        disposition: Disposition,
        dead: bool,
    ) -> Result<()> {
        let now = self.now;
        let room = self.room_mut(at.conversation);
        let Some(open) = room.open_mut(at.seq) else { return Ok(()) };
        let mut was_running = false;
        if disposition == Disposition::Claimed {
            if let Some(claim) = open.claim.as_mut().filter(|c| c.holder == member) {
                claim.accepted = true;
                claim.renew(now);
            }
            room.must_store(at.seq);
            self.ws.track(at);
            return Ok(());
        }
        if let Some(delivery) = open.delivery_mut(member).filter(|d| d.is_open()) {
            was_running = is_running(delivery.state);
            if disposition == Disposition::Failed && delivery.stands_still() {
                // It could not answer because the line is paused: it is asked anew when that goes on.
                delivery.come_back();
                room.must_store(at.seq);
                self.ws.count_running(member, was_running, false);
                self.ws.track(at);
                return Ok(());
            }
            if dead {
                delivery.state = State::Dead { at: now };
            } else {
                delivery.settle(disposition, now);
            }
        }
        let held = open.claim.is_some_and(|c| c.holder == member);
        room.must_store(at.seq);
        self.ws.count_running(member, was_running, false);
        let lets_go = matches!(disposition, Disposition::Ignored | Disposition::Failed);
        if held && lets_go {
            self.pass_on(at)?;
        } else if held {
            let room = self.room_mut(at.conversation);
            if let Some(open) = room.open_mut(at.seq) {
                open.claim = None;
            }
        }
        if disposition == Disposition::Failed {
            self.move_on(at, member)?;
        }
        // While others are open only this member's part changed, and what is due comes no sooner: an event
        // told to a thousand is not gone over for each of them.
        let open = self.room(at.conversation).open.get(&at.seq);
        if open.is_some_and(|o| !o.is_settled()) {
            self.ws.owe(member, at, false);
        } else {
            self.settle_if_done(at);
        }
        Ok(())
    }

    /// Closes an event that nobody owes anything for, and brings the indexes in step.
    pub(super) fn settle_if_done(&mut self, at: EventRef) {
        let room = self.room_mut(at.conversation);
        let Some(open) = room.open.get(&at.seq) else { return };
        if !open.is_settled() {
            room.must_store(at.seq);
            self.ws.track(at);
            return;
        }
        let subject = open.subject.map(|subject| (at.conversation, subject));
        self.ws.to_arbitrate.extend(subject);
        let room = self.room_mut(at.conversation);
        let Some(open) = room.open.get(&at.seq) else { return };
        let (entry_uid, author, snapshot) = (open.uid, open.author, Arc::new(open.clone()));
        room.close(at.seq);
        self.ws.open_by_uid.remove(&entry_uid);
        for delivery in &snapshot.deliveries {
            self.ws.owe(delivery.member, at, false);
        }
        self.ws.track(at);
        self.schedule_settled(at, &snapshot);
        for delivery in &snapshot.deliveries {
            let answered = delivery.disposition() == Some(Disposition::Responded);
            self.tell_remote(at, delivery.member, RemoteNews::Ended { event: at.seq, answered });
        }
        let conversation = at.conversation;
        self.effect(Effect::Receipt { entry_uid, conversation, author, open: snapshot });
    }

    /// The author is shown how an open event stands.
    pub(super) fn show_receipt(&mut self, at: EventRef) {
        let Some(open) = self.room(at.conversation).open.get(&at.seq).cloned() else { return };
        let (entry_uid, author, conversation) = (open.uid, open.author, at.conversation);
        self.effect(Effect::Receipt { entry_uid, conversation, author, open: Arc::new(open) });
    }

    /// A dead letter is sent again, from its first attempt on.
    pub(super) fn redeliver(&mut self, uid: Uid, member: MemberKey) -> Result<Outcome> {
        self.must_govern()?;
        let at = self.event_by_uid(uid, "event")?;
        let recalled = self.recall(at)?;
        if recalled.message.deleted_at.is_some() {
            return Err(Refusal::new(Code::Conflict, "the message was deleted").into());
        }
        let receipt = recalled.receipt;
        let open = self.room(at.conversation).open.get(&at.seq).or(receipt.as_ref());
        let delivery = open.and_then(|o| o.delivery(member));
        if !delivery.is_some_and(|d| matches!(d.state, State::Dead { .. })) {
            return Err(Refusal::new(Code::Conflict, "this delivery is not a dead letter").into());
        }
        self.ensure_open(at)?;
        let room = self.room_mut(at.conversation);
        if let Some(delivery) = room.open_mut(at.seq).and_then(|o| o.delivery_mut(member)) {
            delivery.state = State::Waiting;
            delivery.fence += 1;
            delivery.retry = None;
            // Overdue already: it is for the member to decide whether an answer still helps.
            delivery.decision.policy = Policy::MayRespond;
            delivery.decision.deadline_ms = None;
        }
        room.must_store(at.seq);
        self.offer(at, member)?;
        self.ws.track(at);
        Ok(Outcome::Done)
    }

    /// Time has come for an event: its row, its claim, its deliveries.
    pub(super) fn fire(&mut self, at: EventRef) -> Result<()> {
        if at == super::digest::digest_timer(at.conversation) {
            return self.digest(at.conversation);
        }
        if at == super::stimulus::stimulus_timer(at.conversation) {
            return self.fire_stimuli(at.conversation);
        }
        if let Some(subject) = super::turn::subject_of_timer(at) {
            self.ws.to_arbitrate.insert((at.conversation, subject));
            return Ok(());
        }
        let now = self.now;
        let Some(room) = self.ws.rooms.get(&at.conversation) else { return Ok(()) };
        let Some(open) = room.open.get(&at.seq) else { return Ok(()) };
        let (event_at, members) =
            (open.at, open.deliveries.iter().map(|d| d.member).collect::<Vec<_>>());
        if !open.stored && event_at.plus(limits::PENDING_ROW_AFTER_MS) <= now {
            self.room_mut(at.conversation).must_store(at.seq);
        }
        self.claim_expired(at)?;
        for member in members {
            let Some(room) = self.ws.rooms.get_mut(&at.conversation) else { break };
            let delivery = room.open_mut(at.seq).and_then(|o| o.delivery_mut(member));
            let Some(fired) = delivery.and_then(|d| d.fire(event_at, now)) else { continue };
            self.fired(at, member, fired)?;
        }
        self.ws.track(at);
        Ok(())
    }

    fn fired(&mut self, at: EventRef, member: MemberKey, fired: Fired) -> Result<()> {
        match fired {
            Fired::Offer => self.offer(at, member),
            Fired::Quiet => self.settle(at, member, Disposition::Acknowledged),
            Fired::Lapsed => self.settle(at, member, Disposition::Ignored),
            Fired::Overdue => self.move_on(at, member),
            Fired::Reassign => {
                let room = self.room_mut(at.conversation);
                if let Some(delivery) = room.open_mut(at.seq).and_then(|o| o.delivery_mut(member)) {
                    delivery.fence += 1;
                    delivery.state = State::Waiting;
                }
                room.must_store(at.seq);
                self.ws.count_running(member, true, false);
                self.offer(at, member)
            }
        }
    }
}

pub(super) fn never_offered() -> Refusal {
    Refusal::new(Code::Conflict, "this event was not offered to you")
}

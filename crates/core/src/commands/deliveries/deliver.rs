//! The life of a delivery: offered, accepted, ended, reminded of, and moved on when nobody answers
//! (design section 5, "Receipts", "Deadlines", "One holder, one fence").

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::deliveries::Offers;
use crate::model::attention::Policy;
use crate::model::delivery::{Delivery, Fired, State, Unanswered};
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::event::Event;
use crate::model::ids::{EventRef, MemberKey, SessionKey, Uid};
use crate::model::limits;
use crate::model::offer::Offer;
use crate::state::effect::{Effect, RemoteNews};
use crate::state::workspace::Failure;

impl Context<'_> {
    /// Offers a delivery to the best session of its member. It waits when no session is connected.
    pub(crate) fn offer(&mut self, at: EventRef, member: MemberKey) -> Result<()> {
        let connected = self.asked_sessions(at.conversation, member);
        let open = self.room(at.conversation).open().get(&at.seq);
        let due = open.and_then(|o| o.delivery(member)).filter(|d| d.is_open());
        let Some(delivery) = due.filter(|d| !d.is_deferred()) else { return Ok(()) };
        // The session that had it before is preferred.
        let had = delivery.session().filter(|s| connected.contains(s));
        // Accepted work waits for its own session. It moves to another one only with the next
        // fence.
        let waits = had.is_none() && delivery.state.is_running();
        match had.or(connected.last().copied()) {
            _ if waits => Ok(()),
            Some(session) => self.offer_to(at, member, session),
            None => self.wake_for(at, member),
        }
    }

    /// Offers an open delivery when its clock starts again, even one that is running. Its messages
    /// were refused meanwhile, and the offer says that they are allowed again.
    pub(crate) fn offer_held_back(&mut self, at: EventRef, member: MemberKey) -> Result<()> {
        let open = self.room(at.conversation).open().get(&at.seq);
        match open.and_then(|o| o.delivery(member)).map(|d| d.state) {
            Some(State::Waiting | State::Offered { .. } | State::Accepted { .. }) => {
                self.offer(at, member)
            }
            _ => Ok(()),
        }
    }

    /// Offers accepted deliveries again to their holders.
    pub(super) fn offer_again(&mut self) -> Result<()> {
        self.must_be_the_host()?;
        let owed = self.ws.owed.iter();
        let mut owed: Vec<(EventRef, MemberKey)> =
            owed.flat_map(|(member, all)| all.iter().map(|at| (*at, *member))).collect();
        owed.sort_unstable();
        for (at, member) in owed {
            let open = self.room(at.conversation).open().get(&at.seq);
            let state = open.and_then(|o| o.delivery(member)).map(|d| d.state);
            if matches!(state, Some(State::Offered { .. } | State::Accepted { .. })) {
                match self.offer(at, member) {
                    // Deliveries in a damaged conversation cannot be offered; the others are.
                    Err(Failure::Unavailable(why)) if why.damaged => continue,
                    done => done?,
                }
                self.ws.track(at);
            }
        }
        Ok(())
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
        let string = self.carries_to(session);
        let room = self.room(at.conversation);
        let open = room.open().get(&at.seq);
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
        let was_running = delivery.state.is_running();
        delivery.offer(session, now);
        delivery.carried = string.is_some();
        let (decision, attempt) = (delivery.decision, delivery.attempt);
        let reminds = delivery.runs_behind(string);
        let has_row = room.open().get(&at.seq).is_some_and(|open| open.stored);
        if attempt > 1 || has_row {
            // A restored delivery was offered once, or as often as its row says. The next attempt
            // has a higher number in any case.
            room.must_store(at.seq);
        }
        self.ws.count_running(member, was_running, false);
        if decision.mode.shows_content() {
            // An agent may speak about it before it has acknowledged it.
            self.note_told_to(member, Some(session), at)?;
        }
        let offer = self.offer_of(event, at, member, session)?;
        Ok(offer.map(|offer| Offer { reminds, ..offer }))
    }

    /// A delivery as it stands, in the form in which it is offered.
    fn offer_of(
        &mut self,
        event: Arc<Event>,
        at: EventRef,
        member: MemberKey,
        session: SessionKey,
    ) -> Result<Option<Offer>> {
        let entry = self.entry(event)?;
        let channel = self.channel_delivery(at, member).map(Box::new);
        let came_with = self.came_with(at, member);
        let open = self.room(at.conversation).open().get(&at.seq);
        let Some(delivery) = open.and_then(|open| open.delivery(member)) else { return Ok(None) };
        Ok(Some(Offer {
            entry,
            member,
            session,
            decision: delivery.decision,
            attempt: delivery.attempt,
            taken: delivery.accepted_at.is_some(),
            reminds: false,
            fence: delivery.fence,
            retry: delivery.retry.map(Box::new),
            channel,
            came_with,
        }))
    }

    /// The runs behind the caller's connection string that have said nothing, oldest first: what their
    /// authors add joins them, also after a restart.
    pub(crate) fn silent_runs(&mut self, session: SessionKey) -> Result<Vec<Offer>> {
        let (member, now) = (self.by.member, self.now);
        let mut owed = self.owed_by(session);
        owed.sort();
        let mut offers = Vec::new();
        for at in owed {
            let open = self.room(at.conversation).open().get(&at.seq);
            let Some(delivery) = open.and_then(|o| o.delivery(member)) else { continue };
            let is_silent = delivery.carried && delivery.said == 0;
            let runs = match delivery.state {
                State::Accepted { session: holder, at: since, .. } => {
                    holder == session && now.since(since) < limits::TURN_CAP_MS
                }
                _ => false,
            };
            if is_silent && runs {
                let event = self.recall_event(at)?;
                offers.extend(self.offer_of(event, at, member, session)?);
            }
        }
        Ok(offers)
    }

    pub(crate) fn recall_event(&mut self, at: EventRef) -> Result<Arc<Event>> {
        let tail = self.room(at.conversation).tail();
        if let Some(event) = tail.iter().rev().find(|e| e.seq == at.seq) {
            return Ok(event.clone());
        }
        Ok(self.recall(at)?.event)
    }

    /// What is still to be offered to this session, oldest first: everything that waits for its
    /// member, and what it had accepted and not ended.
    pub(crate) fn owed(&mut self, session: SessionKey, limit: usize) -> Result<Offers> {
        let found = self.directory().sessions.get(&session).map(|s| s.member);
        let member =
            found.filter(|m| *m == self.by.member).ok_or_else(|| Refusal::not_found("session"))?;
        if self.is_runner(session) {
            return Ok(Offers { offers: Vec::new(), more: false });
        }
        let mut offers = Vec::new();
        let mut more = false;
        // In the order of posting, across all conversations.
        let said_at = |at: &EventRef| {
            let open =
                self.ws.rooms.get(&at.conversation).and_then(|room| room.open().get(&at.seq));
            open.map(|open| open.at)
        };
        let mut owed = self.owed_by(session);
        owed.sort_by_key(|at| (said_at(at), *at));
        for at in owed {
            let open = self.room(at.conversation).open().get(&at.seq);
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
        Ok(Offers { offers, more })
    }

    /// Closes an event when nobody owes anything for it any more, and updates the indexes.
    pub(crate) fn settle_if_done(&mut self, at: EventRef) {
        let room = self.room_mut(at.conversation);
        let Some(open) = room.open().get(&at.seq) else { return };
        if !open.is_settled() {
            room.must_store(at.seq);
            self.ws.track(at);
            return;
        }
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
            // If an answer was owed and nobody is left to give it, the log says that no answer
            // comes.
            let failed = match delivery.is_dead() {
                true => !snapshot.left().any(|member| member == delivery.member),
                false => delivery.disposition() == Some(Disposition::Failed),
            };
            let news = RemoteNews::Ended { event: at.seq, answered, failed };
            self.tell_remote(at, delivery.member, news);
        }
        let conversation = self.room(at.conversation).conversation().clone();
        self.effect(Effect::Receipt { entry_uid, conversation, author, open: snapshot });
    }

    /// Shows the author the state of an open event.
    pub(super) fn show_receipt(&mut self, at: EventRef) {
        let room = self.room(at.conversation);
        let Some(open) = room.open().get(&at.seq).cloned() else { return };
        let conversation = room.conversation().clone();
        let (entry_uid, author) = (open.uid, open.author);
        self.effect(Effect::Receipt { entry_uid, conversation, author, open: Arc::new(open) });
    }

    /// Sends a dead letter again, from its first attempt on. Only its author or a moderator of the
    /// room may ask for that.
    pub(super) fn redeliver(&mut self, uid: Uid, member: MemberKey) -> Result<()> {
        let at = self.event_by_uid(uid, "event")?;
        let recalled = self.recall(at)?;
        if recalled.event.actor != self.by.member {
            self.must_govern()?;
        }
        if recalled.message.deleted_at.is_some() {
            return Err(Refusal::new(Code::Conflict, "the message was deleted").into());
        }
        let receipt = recalled.receipt;
        let open = self.room(at.conversation).open().get(&at.seq).or(receipt.as_ref());
        let delivery = open.and_then(|o| o.delivery(member));
        if !delivery.is_some_and(Delivery::is_dead) {
            return Err(Refusal::new(Code::Conflict, "this delivery is not a dead letter").into());
        }
        self.ensure_open(at)?;
        let room = self.room_mut(at.conversation);
        if let Some(delivery) = room.delivery_mut(at.seq, member) {
            delivery.come_back();
            // It belongs to this member again.
            delivery.moved_on = false;
            // It is overdue already. The member decides whether an answer still helps.
            delivery.decision.policy = Policy::MayRespond;
            delivery.decision.deadline_ms = None;
        }
        self.offer(at, member)?;
        self.ws.track(at);
        Ok(())
    }

    /// A timer of an event fired: for its row, its claim or its deliveries.
    pub(crate) fn fire_event(&mut self, at: EventRef) -> Result<()> {
        let now = self.now;
        let Some(room) = self.ws.rooms.get(&at.conversation) else { return Ok(()) };
        let Some(open) = room.open().get(&at.seq) else { return Ok(()) };
        let (event_at, members) =
            (open.at, open.deliveries.iter().map(|d| d.member).collect::<Vec<_>>());
        if !open.stored && event_at.plus(limits::PENDING_ROW_AFTER_MS) <= now {
            self.room_mut(at.conversation).must_store(at.seq);
        }
        self.claim_expired(at)?;
        for member in members {
            let Some(room) = self.ws.rooms.get_mut(&at.conversation) else { break };
            let Some(delivery) = room.open_mut(at.seq).and_then(|o| o.delivery_mut(member)) else {
                continue;
            };
            let slept = delivery.is_deferred();
            let Some(fired) = delivery.fire(event_at, now) else { continue };
            if slept {
                // Its row must say that it is deferred, whether or not a session is there for an
                // offer.
                room.must_store(at.seq);
            }
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
            Fired::Overdue => {
                let open = self.room(at.conversation).open().get(&at.seq);
                let owed = open.and_then(|o| o.delivery(member)).cloned();
                self.move_on(at, member)?;
                match owed {
                    Some(owed) => self.report_unanswered(at, &owed, Unanswered::Overdue, None),
                    None => Ok(()),
                }
            }
            Fired::Reassign => {
                let room = self.room_mut(at.conversation);
                if let Some(delivery) = room.delivery_mut(at.seq, member) {
                    delivery.next_fence();
                    delivery.state = State::Waiting;
                }
                self.ws.count_running(member, true, false);
                self.offer(at, member)
            }
        }
    }
}

pub(super) fn never_offered() -> Refusal {
    Refusal::new(Code::Conflict, "this event was not offered to you")
}

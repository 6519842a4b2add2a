//! How a delivery ends without a message: by its member's disposition, or by time (C2A "Event
//! disposition").
//!
//! An obligation is never lost. One that its member declines or ignores moves on like one that was
//! not met in time; one that is deferred comes back.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::deliveries::Disposed;
use crate::commands::deliveries::deliver::never_offered;
use crate::commands::messages::output::Published;
use crate::model::approval::Standing;
use crate::model::attention::Policy;
use crate::model::delivery::Unanswered;
use crate::model::delivery::{Delivery, State};
use crate::model::disposition::Disposition;
use crate::model::ids::{EventRef, MemberKey, Seq, Uid};
use crate::model::limits;
use crate::model::reaction::Signal;
use crate::state::room::turns::is_owed;

/// What happens to the obligation of a delivery that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// It ends with the delivery, unless that failed.
    Ends,
    /// It moves on to the next responsible member.
    MovesOn,
    /// The delivery is a dead letter, which is listed and can be sent again.
    Dead,
}

impl Context<'_> {
    /// The harness reports how its delivery ended.
    pub(super) fn dispose(
        &mut self,
        uid: Uid,
        disposition: Disposition,
        note: Option<Arc<str>>,
    ) -> Result<Disposed> {
        let at = self.event_by_uid(uid, "event")?;
        self.dispose_of(at, uid, disposition, note)
    }

    /// The obligation for a message was met without words, for whichever version of it is named.
    pub(super) fn resolve(&mut self, uid: Uid, note: Option<Arc<str>>) -> Result<Disposed> {
        let at = self.event_by_uid(uid, "event")?;
        let me = self.me()?.key;
        let at = self.newest_of(at, me)?;
        self.dispose_of(at, uid, Disposition::Responded, note)
    }

    fn dispose_of(
        &mut self,
        at: EventRef,
        uid: Uid,
        disposition: Disposition,
        note: Option<Arc<str>>,
    ) -> Result<Disposed> {
        let delivery = self.own_delivery_at(at)?;
        let me = delivery.member;
        self.note_read(at)?;
        if delivery.is_dead() {
            return self.dispose_of_dead(at, uid, disposition, note);
        }
        let given_up = delivery.is_deferred() && self.may_give_up(at, &delivery, disposition);
        if let Some(ended) = delivery.disposition().filter(|_| !given_up) {
            if delivery.is_deferred() {
                self.remark(at, me, note);
            }
            // The same report again, after a lost answer. The first one stands.
            self.run_is_over(at, me, disposition)?;
            return Ok(Disposed { event: uid, disposition: ended });
        }
        if disposition == Disposition::Deferred {
            return self.defer(uid, None, note);
        }
        let publishes = disposition.settles() && disposition != Disposition::Superseded;
        let published =
            if publishes { self.publish_output(at, &delivery)? } else { Published::Nothing };
        let (ended, note) = match published {
            Published::Nothing => (self.ended_without_words(at, me, disposition), note),
            Published::As(disposition) => {
                self.run_is_over(at, me, disposition)?;
                return Ok(Disposed { event: uid, disposition });
            }
            // Nobody can read the output. Whatever the run reports, it has not answered.
            Published::Refused(refusal) => (Disposition::Failed, Some(refusal.message.into())),
        };
        let silence = "the run ended without an answer";
        let unsaid = ended == Disposition::Failed && disposition != ended;
        let note = note.or(unsaid.then(|| silence.into()));
        self.remark(at, me, note.clone());
        let mut then = Then::Ends;
        // A selected member of a role that sets the request aside counts like an unmet obligation:
        // another member of the role is asked.
        if ended == Disposition::Superseded && is_owed(&delivery) && !self.is_replaced(at, me) {
            then = Then::MovesOn;
        }
        if ended == Disposition::Ignored && delivery.is_obligation() {
            self.tell_who_asked(at, Signal::Declined)?;
            then = Then::MovesOn;
        }
        if ended.settles() {
            let room = self.room_mut(at.conversation);
            if let Some(delivery) = room.open_mut(at.seq).and_then(|o| o.delivery_mut(me)) {
                delivery.over = true;
            }
        }
        self.end(at, me, ended, then)?;
        if ended == Disposition::Responded {
            self.answered_without_words(at, me)?;
        }
        let why = match then {
            _ if ended == Disposition::Failed => Some(Unanswered::Failed),
            Then::MovesOn if delivery.is_obligation() => Some(Unanswered::SetAside),
            _ => None,
        };
        if let Some(why) = why {
            self.report_unanswered(at, &delivery, why, note.as_deref())?;
        }
        self.run_is_over(at, me, ended)?;
        Ok(Disposed { event: uid, disposition: ended })
    }

    /// The caller's delivery of an event. One that was never offered is refused.
    pub(super) fn own_delivery(&mut self, uid: Uid) -> Result<(EventRef, Delivery)> {
        let at = self.event_by_uid(uid, "event")?;
        Ok((at, self.own_delivery_at(at)?))
    }

    fn own_delivery_at(&mut self, at: EventRef) -> Result<Delivery> {
        let me = self.me()?.key;
        let receipt = self.recall(at)?.receipt;
        let open = self.room(at.conversation).open().get(&at.seq).or(receipt.as_ref());
        let delivery = open.and_then(|o| o.delivery(me)).filter(|d| d.attempt > 0);
        Ok(delivery.ok_or_else(never_offered)?.clone())
    }

    /// Disposes of a dead letter. A member that was asked may report that it is done after all; any
    /// other report changes nothing.
    fn dispose_of_dead(
        &mut self,
        at: EventRef,
        uid: Uid,
        disposition: Disposition,
        note: Option<Arc<str>>,
    ) -> Result<Disposed> {
        if disposition != Disposition::Responded {
            return Ok(Disposed { event: uid, disposition: Disposition::Failed });
        }
        let me = self.by.member;
        self.reopen_dead(at)?;
        self.remark(at, me, note);
        self.answered_without_words(at, me)?;
        self.run_is_over(at, me, disposition)?;
        Ok(Disposed { event: uid, disposition })
    }

    /// Whether a deferred delivery ends by this report before its time. It does not while a person
    /// is deciding about its answer. Nor does it when a run ends that answers by a callback or owes
    /// nothing, because that says nothing about the deferral.
    fn may_give_up(&self, at: EventRef, delivery: &Delivery, disposition: Disposition) -> bool {
        let by_callback = self.by.turn.is_some_and(|turn| turn.attempt > 0);
        let silent = by_callback || !delivery.is_obligation();
        let is_over = match disposition {
            Disposition::Responded => false,
            Disposition::Ignored | Disposition::Acknowledged => silent,
            _ => by_callback,
        };
        disposition.settles() && !is_over && !self.waits_for_person(at, delivery.member)
    }

    /// Records a member's note on its delivery, as an explanation of its state.
    pub(crate) fn remark(&mut self, at: EventRef, member: MemberKey, note: Option<Arc<str>>) {
        let Some(note) = note.filter(|note| !note.trim().is_empty()) else { return };
        let room = self.room_mut(at.conversation);
        if let Some(delivery) = room.delivery_mut(at.seq, member) {
            delivery.note = Some(note);
        }
    }

    /// Whether the member's answer waits for a person's decision.
    pub(crate) fn waits_for_person(&self, at: EventRef, member: MemberKey) -> bool {
        self.directory().approvals.values().any(|approval| {
            approval.member == member
                && approval.source.as_ref().is_some_and(|source| source.at == at)
                && approval.standing(self.now) == Standing::Waiting
        })
    }

    /// Whether another event in the same timeline replaces an obligation: the member has answered
    /// that one since, or is answering it now. If the member was merely allowed to answer the other
    /// event, it must answer it from here on.
    fn is_replaced(&mut self, at: EventRef, member: MemberKey) -> bool {
        let room = self.room(at.conversation);
        let Some(open) = room.open().get(&at.seq) else { return true };
        let (asked_at, thread) = (open.at, open.thread);
        let here = room.open().values().chain(room.closed());
        let others = here.filter(|o| o.seq != at.seq && o.thread == thread);
        let others: Vec<(Seq, &Delivery)> =
            others.filter_map(|o| Some((o.seq, o.delivery(member)?))).collect();
        let takes_it = |seq: Seq, delivery: &Delivery| match delivery.state {
            State::Settled { disposition, at } => {
                let answered =
                    matches!(disposition, Disposition::Responded | Disposition::Acknowledged);
                answered && at >= asked_at
            }
            // An earlier request does not replace a later one.
            _ => seq > at.seq && delivery.is_open() && delivery.is_obligation(),
        };
        if others.iter().any(|(seq, delivery)| takes_it(*seq, delivery)) {
            return true;
        }
        let had = |d: &Delivery| d.is_open() && d.attempt > 0;
        let newer = others.iter().filter(|(seq, d)| *seq > at.seq && had(d));
        let Some(newer) = newer.map(|(seq, _)| *seq).max() else { return false };
        let room = self.room_mut(at.conversation);
        if let Some(delivery) = room.delivery_mut(newer, member) {
            delivery.decision.policy = Policy::MustRespond;
            delivery.moved_on = false;
            delivery.decision.deadline_ms = Some(limits::DEADLINE_MS);
        }
        self.ws.track(EventRef { seq: newer, ..at });
        true
    }

    /// Ends a member's delivery. If a selected responder will not act, the next candidate is asked.
    pub(crate) fn settle(
        &mut self,
        at: EventRef,
        member: MemberKey,
        disposition: Disposition,
    ) -> Result<()> {
        self.end(at, member, disposition, Then::Ends)
    }

    /// Ends a member's delivery.
    pub(crate) fn end(
        &mut self,
        at: EventRef,
        member: MemberKey,
        disposition: Disposition,
        then: Then,
    ) -> Result<()> {
        let now = self.now;
        self.note_end(at, member);
        let room = self.room_mut(at.conversation);
        let Some(open) = room.stored_mut(at.seq) else { return Ok(()) };
        let mut was_running = false;
        if disposition == Disposition::Claimed {
            if let Some(claim) = open.claim.as_mut().filter(|c| c.holder == member) {
                claim.accepted = true;
                claim.renew(now);
            }
            self.ws.track(at);
            return Ok(());
        }
        if let Some(delivery) = open.delivery_mut(member).filter(|d| d.is_open()) {
            was_running = delivery.state.is_running();
            if disposition == Disposition::Failed && delivery.stands_still() {
                // It could not answer because the timeline is paused. It is offered again when the
                // timeline continues.
                delivery.come_back();
                self.ws.count_running(member, was_running, false);
                self.ws.track(at);
                return Ok(());
            }
            if then == Then::Dead {
                delivery.state = State::Dead { at: now };
            } else {
                delivery.settle(disposition, now);
            }
        }
        let held = open.claim.is_some_and(|c| c.holder == member);
        self.ws.count_running(member, was_running, false);
        let lets_go = matches!(disposition, Disposition::Ignored | Disposition::Failed)
            || then == Then::MovesOn;
        if held && lets_go {
            self.pass_on(at)?;
        } else if held {
            let room = self.room_mut(at.conversation);
            if let Some(open) = room.open_mut(at.seq) {
                open.claim = None;
            }
        }
        if disposition == Disposition::Failed || then == Then::MovesOn {
            self.move_on(at, member)?;
            self.show_receipt(at);
        }
        // While others are open, only this member's part has changed, and nothing becomes due
        // earlier. So an event with a thousand recipients is not scanned for each of them.
        let open = self.room(at.conversation).open().get(&at.seq);
        if open.is_some_and(|o| !o.is_settled()) {
            self.ws.owe(member, at, false);
        } else {
            self.settle_if_done(at);
        }
        Ok(())
    }
}

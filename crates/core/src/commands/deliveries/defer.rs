//! Deferring an obligation: it sleeps and comes back by itself (C2A "Chat tools", `chat.defer`).
//!
//! A deferred delivery is open, held by its member, and due at its time. It comes back with the
//! next attempt and the next fence, and its deadline counts from then. It ends earlier when the
//! matter ends: by an edit, a deletion, a cancellation by its author, or an answer from a member
//! who was not one of its co-recipients.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::deliveries::Disposed;
use crate::commands::deliveries::deliver::never_offered;
use crate::model::attention::{Directedness, Intent};
use crate::model::delivery::Delivery;
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::event::Event;
use crate::model::ids::{EventRef, Timestamp, Uid};
use crate::model::limits;

impl Context<'_> {
    pub(super) fn defer(
        &mut self,
        uid: Uid,
        until: Option<Timestamp>,
        reason: Option<Arc<str>>,
    ) -> Result<Disposed> {
        let at = self.event_by_uid(uid, "event")?;
        let me = self.me()?.key;
        let at = self.newest_of(at, me)?;
        let now = self.now;
        let said = until.is_some();
        let until = until.unwrap_or(now.plus(self.ws.deferral.0));
        check_time(until, now)?;
        let receipt = self.recall(at)?.receipt;
        let open = self.room(at.conversation).open().get(&at.seq).or(receipt.as_ref());
        let Some(delivery) = open.and_then(|o| o.delivery(me)).filter(|d| d.attempt > 0) else {
            return Err(never_offered().into());
        };
        let delivery = delivery.clone();
        self.note_read(at)?;
        if !delivery.is_open() {
            // It has ended, and its outcome stays.
            let disposition = delivery.disposition().unwrap_or(Disposition::Failed);
            return Ok(Disposed { event: uid, disposition });
        }
        let same = delivery.is_deferred() && (!said || delivery.clock.until == Some(until));
        if self.waits_for_person(at, me) {
            return Ok(Disposed { event: uid, disposition: Disposition::Deferred });
        }
        if same {
            self.remark(at, me, reason);
            return Ok(Disposed { event: uid, disposition: Disposition::Deferred });
        }
        check_deferrals(&delivery)?;
        self.remark(at, me, reason);
        self.put_off(at, until, Delivery::defer);
        Ok(Disposed { event: uid, disposition: Disposition::Deferred })
    }

    /// Defers the caller's open delivery of the event, by the member's choice or the host's; `how`
    /// says which.
    pub(crate) fn put_off(
        &mut self,
        at: EventRef,
        until: Timestamp,
        how: fn(&mut Delivery, Timestamp, Timestamp),
    ) {
        let (me, now) = (self.by.member, self.now);
        let room = self.room_mut(at.conversation);
        let Some(open) = room.open_mut(at.seq) else { return };
        let Some(delivery) = open.delivery_mut(me).filter(|d| d.is_open()) else { return };
        let was_running = delivery.state.is_running();
        how(delivery, until, now);
        if let Some(claim) = open.claim.as_mut().filter(|c| c.holder == me) {
            // It stays with its holder until the holder had time to take it up again.
            claim.accepted = true;
            claim.renew(until);
        }
        room.must_store(at.seq);
        self.ws.count_running(me, was_running, false);
        self.ws.track(at);
        self.show_receipt(at);
    }

    /// The author withdraws what it asked for in this timeline: deferred deliveries there are not
    /// offered again.
    pub(crate) fn call_off(&mut self, event: &Event) -> Result<()> {
        let Some(attention) = event.attention.as_ref().filter(|a| a.intent == Intent::Cancel)
        else {
            return Ok(());
        };
        let (key, actor) = (event.conversation, event.actor);
        let told = attention.told.iter().filter(|t| t.decision.directedness == Directedness::ToMe);
        for member in told.map(|t| t.member).collect::<Vec<_>>() {
            let owed = self.ws.owed.get(&member).into_iter().flatten();
            let here = owed.copied().filter(|at| at.conversation == key && at.seq < event.seq);
            for at in here.collect::<Vec<_>>() {
                let open = self.room(key).open().get(&at.seq);
                let Some(open) = open.filter(|o| o.author == actor && o.thread == event.thread)
                else {
                    continue;
                };
                if open.delivery(member).is_some_and(Delivery::is_deferred) {
                    self.settle(at, member, Disposition::Superseded)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether it can be deferred once more.
pub(crate) fn check_deferrals(delivery: &Delivery) -> Result<()> {
    if delivery.clock.deferrals < limits::DEFERRALS {
        return Ok(());
    }
    let most = limits::DEFERRALS;
    let why = format!("it was put off {most} times already; answer it, or decline it");
    Err(Refusal::new(Code::Conflict, why).into())
}

fn check_time(until: Timestamp, now: Timestamp) -> Result<()> {
    if until <= now {
        return Err(Refusal::invalid("the time to come back at has passed").into());
    }
    if until.since(now) > limits::DEFER_MS {
        let days = limits::DEFER_MS / 86_400_000;
        return Err(Refusal::invalid(format!("it can be put off for at most {days} days")).into());
    }
    Ok(())
}

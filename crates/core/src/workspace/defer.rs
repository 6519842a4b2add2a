//! Putting off what is owed: it sleeps, and comes back by itself (C2A "Chat tools", `chat.defer`).
//!
//! A deferred delivery is open, held by its member, and due at its time. It comes back with the next attempt
//! and the next fence, and its deadline counts from there. It ends before that when the matter itself ends: an
//! edit, a deletion, a cancellation by its author, or the answer of somebody who was not asked beside it.

use super::deliver::never_offered;
use super::{Result, Run, is_running};
use crate::attention::{Directedness, Intent, Rule};
use crate::command::Outcome;
use crate::delivery::{Delivery, Disposition, Open};
use crate::error::{Code, Refusal};
use crate::event::{Event, EventRef};
use crate::ids::{MemberKey, Timestamp, Uid};
use crate::limits;

impl Run<'_> {
    pub(super) fn defer(&mut self, uid: Uid, until: Timestamp) -> Result<Outcome> {
        let at = self.event_by_uid(uid, "event")?;
        let me = self.me()?.key;
        let now = self.now;
        check_time(until, now)?;
        let receipt = self.recall(at)?.receipt;
        let open = self.room(at.conversation).open.get(&at.seq).or(receipt.as_ref());
        let Some(delivery) = open.and_then(|o| o.delivery(me)).filter(|d| d.attempt > 0) else {
            return Err(never_offered().into());
        };
        if self.by.turn.is_some_and(|t| t.fence < delivery.fence) {
            return Err(Refusal::new(Code::StaleTurn, "this turn was taken back").into());
        }
        if !delivery.is_open() {
            // It has ended, and how it did stands.
            let disposition = delivery.disposition().unwrap_or(Disposition::Failed);
            return Ok(Outcome::Disposed { event: uid, disposition });
        }
        if delivery.is_deferred() && delivery.clock.until == Some(until) {
            return Ok(Outcome::Disposed { event: uid, disposition: Disposition::Deferred });
        }
        if delivery.clock.deferrals >= limits::DEFERRALS {
            let most = limits::DEFERRALS;
            return Err(Refusal::new(
                Code::Conflict,
                format!("it was put off {most} times already; answer it, or decline it"),
            )
            .into());
        }
        self.put_off(at, until, Delivery::defer);
        Ok(Outcome::Disposed { event: uid, disposition: Disposition::Deferred })
    }

    /// The caller's open delivery of the event sleeps, by its own choice or the host's: `how` says which.
    pub(super) fn put_off(
        &mut self,
        at: EventRef,
        until: Timestamp,
        how: fn(&mut Delivery, Timestamp, Timestamp),
    ) {
        let (me, now) = (self.by.member, self.now);
        let room = self.room_mut(at.conversation);
        let Some(open) = room.open_mut(at.seq) else { return };
        let Some(delivery) = open.delivery_mut(me).filter(|d| d.is_open()) else { return };
        let was_running = is_running(delivery.state);
        how(delivery, until, now);
        if let Some(claim) = open.claim.as_mut().filter(|c| c.holder == me) {
            // It stays its holder's until it had time to take it up again.
            claim.accepted = true;
            claim.renew(until);
        }
        room.must_store(at.seq);
        self.ws.count_running(me, was_running, false);
        self.ws.track(at);
        self.show_receipt(at);
    }

    /// The author takes back what it asked on this line of talk: what was put off there is not asked again.
    pub(super) fn call_off(&mut self, event: &Event) -> Result<()> {
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
                let open = self.room(key).open.get(&at.seq);
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

/// Ends what others still owe or have put off of an event that `member` has answered: what was put off, unless
/// `member` was asked beside them and so answered for itself only; and what had moved on from `member`. Returns
/// the deliveries as they were.
pub(super) fn end_for_others(open: &mut Open, member: MemberKey, now: Timestamp) -> Vec<Delivery> {
    let beside = open.delivery(member).is_some_and(|d| {
        d.decision.directedness == Directedness::ToMe && d.decision.rule != Rule::Escalated
    });
    let by_author = open.author == member;
    let left: Vec<MemberKey> = open.left().collect();
    let answered = |m: &MemberKey| {
        let ended = open.delivery(*m).and_then(Delivery::disposition);
        *m == member || ended == Some(Disposition::Responded)
    };
    let made_good = left.contains(&member) && left.iter().all(answered);
    let mut ended = Vec::new();
    for other in open.deliveries.iter_mut().filter(|d| d.member != member && d.is_open()) {
        let put_off = other.is_deferred() && !beside && !by_author;
        if put_off || (other.is_escalated() && other.is_obligation() && made_good) {
            ended.push(other.clone());
            other.fence += 1;
            other.settle(Disposition::Superseded, now);
        }
    }
    ended
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

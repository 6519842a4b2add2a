//! An open event: somebody still owes something for it.

use std::sync::Arc;

use super::{Delivery, State};
use crate::model::attention::{Attention, Directedness, Rule};
use crate::model::claim::Claim;
use crate::model::disposition::Disposition;
use crate::model::event::Event;
use crate::model::ids::{ConversationKey, MemberKey, Seq, ThreadKey, Timestamp, Uid};
use crate::model::limits;
/// An event with its deliveries and its claim: everything to keep until nobody owes anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    pub seq: Seq,
    pub uid: Uid,
    pub at: Timestamp,
    pub thread: Option<ThreadKey>,
    /// The message that it is a later version of.
    pub edit_of: Option<Seq>,
    pub author: MemberKey,
    pub hop: u8,
    pub attention: Arc<Attention>,
    pub deliveries: Vec<Delivery>,
    pub claim: Option<Claim>,
    /// Whether it has a `pending` row.
    pub stored: bool,
    /// The subject whose turns govern it, if any; set by its room ([`crate::state::room::turns`]).
    pub subject: Option<Seq>,
}

impl Open {
    /// An event for which nobody owed anything, about to be claimed or listed.
    pub fn with(event: &Event, attention: Arc<Attention>, deliveries: Vec<Delivery>) -> Self {
        let selected = attention.told.iter().find(|t| t.decision.rule == Rule::RoleMention);
        Self {
            seq: event.seq,
            uid: event.uid,
            at: event.at,
            thread: event.thread,
            edit_of: event.edit_of(),
            author: event.actor,
            hop: event.hop,
            claim: selected.map(|t| Claim::new(t.member, 1, false, event.at)),
            attention,
            deliveries,
            stored: false,
            subject: None,
        }
    }

    /// The clock may have been set back: limits all recorded times to `now`; otherwise obligations
    /// would be due too late. Returns whether anything changed.
    pub fn set_back(&mut self, now: Timestamp) -> bool {
        let before = self.clone();
        self.at = self.at.min(now);
        if let Some(claim) = &mut self.claim {
            claim.expires = claim.expires.min(now.plus(limits::CLAIM_TTL_MS));
        }
        for delivery in &mut self.deliveries {
            if let Some(taken) = &mut delivery.taken {
                taken.at = taken.at.min(now);
                taken.life = taken.life.min(now);
            }
            match &mut delivery.state {
                State::Offered { at, .. } => *at = (*at).min(now),
                State::Accepted { at, life, gone, .. } => {
                    *at = (*at).min(now);
                    *life = (*life).min(now);
                    *gone = gone.map(|gone| gone.min(now));
                }
                // A deferred delivery comes back at the stated time.
                State::Deferred { .. }
                | State::Waiting
                | State::Settled { .. }
                | State::Dead { .. } => {}
            }
        }
        *self != before
    }

    pub fn delivery(&self, member: MemberKey) -> Option<&Delivery> {
        self.deliveries.iter().find(|d| d.member == member)
    }

    pub fn delivery_mut(&mut self, member: MemberKey) -> Option<&mut Delivery> {
        self.deliveries.iter_mut().find(|d| d.member == member)
    }

    /// A role mention or a claimed event is answered by exactly one member. Whether another has
    /// answered it, and `member` was not a co-recipient.
    pub fn is_answered_for_role(&self, member: MemberKey) -> bool {
        let of_role = |d: &&Delivery| matches!(d.decision.rule, Rule::RoleMention | Rule::Claimed);
        let others = self.deliveries.iter().filter(|d| d.member != member).filter(of_role);
        let mine = self.delivery(member).map(|d| d.decision.directedness);
        let mut ended = others.map(|d| d.disposition());
        mine != Some(Directedness::ToMe) && ended.any(|how| how == Some(Disposition::Responded))
    }

    /// Whether nothing of it is open any more, so that its receipt can be written.
    pub fn is_settled(&self) -> bool {
        self.claim.is_none() && self.deliveries.iter().all(|d| !d.is_open())
    }

    /// When time next changes it: a delivery, the claim, or, while it has no row, the row.
    pub fn due(&self, conversation: ConversationKey) -> Option<Timestamp> {
        let row = (!self.stored).then(|| row_due(conversation, self.at));
        let stands = |m| self.delivery(m).is_some_and(Delivery::stands_still);
        let claim = self.claim.filter(|c| !stands(c.holder)).map(|c| c.expires);
        let deliveries = self.deliveries.iter().filter_map(|d| d.due(self.at));
        deliveries.chain(row).chain(claim).min()
    }
}

/// When an event of that time gets its row: when it is old enough, and with the others of its
/// conversation. They lie next to each other, so that together they cost little more than one.
fn row_due(conversation: ConversationKey, at: Timestamp) -> Timestamp {
    // Each conversation has its own moment, or all of them would be written at once. 617 shares no
    // factor with a second's milliseconds, so neighbouring keys are far apart.
    let (every, earliest) = (limits::PENDING_ROWS_EVERY_MS, at.plus(limits::PENDING_ROW_AFTER_MS));
    let moment = conversation.0.wrapping_mul(617) % every.unsigned_abs();
    let moment = i64::try_from(moment).unwrap_or_default();
    earliest.plus((moment - earliest.0.rem_euclid(every)).rem_euclid(every))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_conversation_are_due_together_and_those_of_another_at_another_moment() {
        let due = |key, at| row_due(ConversationKey(key), Timestamp(at)).0;
        let (first, after) = (due(1, 20_000), limits::PENDING_ROW_AFTER_MS);
        for at in first - after - limits::PENDING_ROWS_EVERY_MS + 1..=first - after {
            assert_eq!(due(1, at), first, "{at}");
        }
        assert_eq!(due(1, first - after + 1), first + limits::PENDING_ROWS_EVERY_MS);
        assert_ne!(due(2, 20_000), first);
    }
}

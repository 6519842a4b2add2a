//! Claims: taking, releasing, renewing, and passing to the next candidate (C2A "Claims").

use crate::commands::context::{Context, Result};
use crate::commands::deliveries::Claimed;
use crate::commands::messages::guard::claimed_by_other;
use crate::model::attention::{Decision, Directedness, Mode, Policy, Priority, Rule, Told};
use crate::model::claim::Claim;
use crate::model::delivery::{Delivery, Open, State};
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{EventRef, MemberKey, Uid};
use crate::model::offer::Offer;

impl Context<'_> {
    /// Takes the right to decide about an event, and returns its content.
    pub(crate) fn claim(&mut self, uid: Uid) -> Result<Claimed> {
        let at = self.event_by_uid(uid, "event")?;
        self.must_sit(at.conversation)?;
        let me = self.me()?;
        let at = self.newest_of(at, me.key)?;
        self.check_claim(at, me.key)?;
        let recalled = self.recall(at)?;
        self.ensure_open(at)?;
        let now = self.now;
        let session = self.by.session;
        let epoch = session.and_then(|session| self.carries_to(session));
        let room = self.room_mut(at.conversation);
        let Some(open) = room.stored_mut(at.seq) else {
            return Err(Refusal::not_found("event").into());
        };
        let own = open.delivery(me.key).filter(|d| is_held_anyway(d));
        let fence = match (own, open.claim) {
            // A member may already answer an event addressed to it: the right does not move, and
            // its turn continues.
            (Some(own), _) => own.fence,
            (None, Some(claim)) if claim.holder == me.key => claim.fence,
            (None, _) => highest_fence(open) + 1,
        };
        let claim = Claim::new(me.key, fence, true, now);
        open.claim = Some(claim);
        if open.delivery(me.key).is_none() {
            let told = Told { member: me.key, decision: claimed_decision() };
            open.deliveries.push(Delivery::new(&told));
        }
        let mut began = false;
        if let Some(delivery) = open.delivery_mut(me.key) {
            delivery.set_fence(fence);
            // The claim itself delivered it, so it may be disposed of like an offered one.
            delivery.attempt = delivery.attempt.max(1);
            delivery.retrieved_at.get_or_insert(now);
            if delivery.decision.mode == Mode::Notify {
                // The knock is turned into content: the claimant sees it in full.
                delivery.decision.mode = Mode::Buffered;
            }
            let answered = delivery.disposition() == Some(Disposition::Responded);
            let takes_up = !answered && (delivery.is_open() || !is_held_anyway(delivery));
            let takes_up = takes_up && !delivery.state.is_running();
            if let Some(session) = session.filter(|_| takes_up) {
                delivery.accept(session, epoch, now);
                began = true;
            }
        }
        let withdrawn = open.withdraw_others(me.key, now);
        let delivery = open.delivery(me.key).cloned();
        if began && me.is_agent() {
            self.ws.count_running(me.key, false, true);
        }
        self.note_told(at)?;
        self.cancel_all(at, withdrawn, "claimed by another member")?;
        self.ws.track(at);
        let entry = self.entry(recalled.event)?;
        let decision = delivery.as_ref().map_or_else(claimed_decision, |d| d.decision);
        let attempt = delivery.map_or(1, |d| d.attempt.max(1));
        let offer = Offer {
            entry: entry.clone(),
            member: me.key,
            session: session.unwrap_or_default(),
            decision,
            attempt,
            taken: true,
            reminds: false,
            fence,
            retry: None,
            channel: self.channel_delivery(at, me.key).map(Box::new),
            came_with: self.came_with(at, me.key),
        };
        Ok(Claimed { entry, claim, delivery: offer })
    }

    /// Whether a member may claim an event.
    pub(crate) fn check_claim(&mut self, at: EventRef, me: MemberKey) -> Result<()> {
        let recalled = self.recall(at)?;
        let posted = match recalled.event.edit_of() {
            Some(seq) => self.recall_kept(EventRef { seq, ..at })?,
            None => None,
        };
        if posted.as_ref().unwrap_or(&recalled).message.deleted_at.is_some() {
            return Err(Refusal::new(Code::Conflict, "the message was deleted").into());
        }
        if recalled.event.actor == me {
            return Err(Refusal::invalid("an author does not claim its own message").into());
        }
        self.check_claimable(at, me, recalled.receipt.as_ref())?;
        // What an addressee has answered before it was edited is not claimed by anybody else.
        let Some(posted) = posted else { return Ok(()) };
        let answered = self.answered_by(&posted, EventRef { seq: posted.event.seq, ..at })?;
        match answered.is_empty() || answered.contains(&me) {
            true => Ok(()),
            false => Err(claimed_by_other().into()),
        }
    }

    /// Another member's claim blocks this one once its holder has accepted; so does an addressee's
    /// own delivery.
    fn check_claimable(&self, at: EventRef, me: MemberKey, receipt: Option<&Open>) -> Result<()> {
        let open = self.room(at.conversation).open().get(&at.seq).or(receipt);
        let Some(open) = open else { return Ok(()) };
        if open.claim.is_some_and(|c| c.bars(me, self.now) && c.accepted) {
            return Err(claimed_by_other().into());
        }
        let own = open.delivery(me);
        if own.is_some_and(|d| d.over && d.disposition() == Some(Disposition::Superseded)) {
            let why = "your run for this event was superseded and is over";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let addressed = own.is_some();
        let held = open.deliveries.iter().any(|d| {
            let has_it = d.is_obligation() && d.is_open();
            let answered = d.disposition() == Some(Disposition::Responded);
            d.member != me && (has_it || answered)
        });
        if (held && !addressed) || open.is_answered_for_role(me) {
            return Err(claimed_by_other().into());
        }
        Ok(())
    }

    /// Releases the claim, and the next candidate is asked. A delivery that is addressed to the
    /// holder stays with it.
    pub(super) fn release(&mut self, uid: Uid) -> Result<()> {
        let at = self.event_by_uid(uid, "event")?;
        let me = self.me()?.key;
        let at = self.newest_of(at, me)?;
        let open = self.room(at.conversation).open().get(&at.seq);
        let Some(claim) = open.and_then(|o| o.claim) else {
            return Err(Refusal::new(Code::Conflict, "nobody holds a claim on this event").into());
        };
        if claim.holder != me && !self.is_operator() {
            return Err(claimed_by_other().into());
        }
        self.let_claim_go(at, claim.holder)
    }

    /// A member holds its claim no longer, if it has one: the next candidate is asked.
    pub(crate) fn let_claim_go(&mut self, at: EventRef, holder: MemberKey) -> Result<()> {
        let open = self.room(at.conversation).open().get(&at.seq);
        let Some(open) = open.filter(|o| o.claim.is_some_and(|c| c.holder == holder)) else {
            return Ok(());
        };
        if open.delivery(holder).is_some_and(is_own) {
            self.pass_on(at)?;
            self.settle_if_done(at);
            return Ok(());
        }
        self.settle(at, holder, Disposition::Ignored)
    }

    /// The holder has released the claim: the next candidate of the role is selected, if any is
    /// left.
    pub(crate) fn pass_on(&mut self, at: EventRef) -> Result<()> {
        let people = self.ws.people();
        let room = self.room(at.conversation);
        let Some(open) = room.open().get(&at.seq) else { return Ok(()) };
        let fence = highest_fence(open);
        let candidates = open.attention.told.iter().filter(|t| {
            t.decision.rule == Rule::RoleMentionOther
                && open.delivery(t.member).is_none()
                && room.roster().contains_key(&t.member)
        });
        let next = candidates.map(|t| t.member).min_by_key(|m| people.preference(*m));
        let now = self.now;
        let room = self.room_mut(at.conversation);
        let Some(open) = room.stored_mut(at.seq) else { return Ok(()) };
        open.claim = None;
        let Some(member) = next else { return Ok(()) };
        let knock = Decision { mode: Mode::Notify, ..role_decision() };
        let mut delivery = Delivery::new(&Told { member, decision: knock });
        delivery.set_fence(fence + 1);
        open.deliveries.push(delivery);
        open.claim = Some(Claim::new(member, fence + 1, false, now));
        self.ws.granted.insert(member, now);
        self.offer(at, member)?;
        self.ws.track(at);
        Ok(())
    }

    /// The claim has expired. A holder that was never reached keeps it unless somebody else can
    /// take it. A delivery that is addressed to the holder stays with it, with its deadline; only
    /// the claim is removed.
    pub(super) fn claim_expired(&mut self, at: EventRef) -> Result<()> {
        let now = self.now;
        let Some(open) = self.room(at.conversation).open().get(&at.seq) else { return Ok(()) };
        let Some(claim) = open.claim.filter(|c| !c.is_live(now)) else { return Ok(()) };
        if open.delivery(claim.holder).is_some_and(Delivery::stands_still) {
            return Ok(());
        }
        if open.delivery(claim.holder).is_some_and(is_own) {
            self.pass_on(at)?;
            self.settle_if_done(at);
            return Ok(());
        }
        let waiting = open.delivery(claim.holder).is_some_and(|d| d.state == State::Waiting);
        let somebody = open.attention.told.iter().any(|t| {
            t.decision.rule == Rule::RoleMentionOther
                && open.delivery(t.member).is_none()
                && self.is_reachable(at.conversation, t.member)
        });
        let room = self.room_mut(at.conversation);
        let Some(open) = room.open_mut(at.seq) else { return Ok(()) };
        if waiting && !somebody {
            open.claim = Some(Claim::new(claim.holder, claim.fence, claim.accepted, now));
            return Ok(());
        }
        let mut ended = Vec::new();
        if let Some(delivery) = open.delivery_mut(claim.holder).filter(|d| d.is_open()) {
            ended.push(delivery.clone());
            delivery.next_fence();
            delivery.settle(Disposition::Ignored, now);
        }
        self.cancel_all(at, ended, "claim expired")?;
        self.pass_on(at)?;
        self.settle_if_done(at);
        Ok(())
    }
}

/// Whether the member may answer the event without a claim: it is addressed to the member, and not
/// to a role or to nobody.
fn is_own(delivery: &Delivery) -> bool {
    !matches!(delivery.decision.rule, Rule::RoleMention | Rule::Claimed)
}

/// Whether the member has the right to answer, or to add to its answer, without a claim.
fn is_held_anyway(delivery: &Delivery) -> bool {
    use Disposition::{Failed, Ignored, Superseded};
    let lost = matches!(delivery.disposition(), Some(Ignored | Failed | Superseded));
    is_own(delivery) && !lost
}

/// The next right to answer gets a higher fence than this.
fn highest_fence(open: &Open) -> u32 {
    let claimed = open.claim.map_or(0, |claim| claim.fence);
    open.deliveries.iter().map(|d| d.fence).fold(claimed, u32::max)
}

/// The delivery of a member who answers an event it was not notified of: its reply takes the claim.
pub(crate) fn taken_by_reply(member: MemberKey, fence: u32) -> Delivery {
    let mut delivery = Delivery::new(&Told { member, decision: claimed_decision() });
    delivery.set_fence(fence);
    delivery.attempt = 1;
    delivery
}

fn claimed_decision() -> Decision {
    Decision { rule: Rule::Claimed, ..role_decision() }
}

fn role_decision() -> Decision {
    Decision {
        rule: Rule::RoleMention,
        directedness: Directedness::ToMyRole,
        policy: Policy::MayRespond,
        mode: Mode::Buffered,
        priority: Priority::Normal,
        deadline_ms: None,
    }
}

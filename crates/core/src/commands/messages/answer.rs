//! Which message counts as an answer, and what ends with it (attention spec, "Dispositions" and
//! "Cause and hop").
//!
//! Invariant: an obligation ends by an answer in the place where it was asked. A message elsewhere,
//! or one that is plainly meant for others, leaves it open.

use crate::commands::context::{Context, Result};
use crate::commands::deliveries::claim::taken_by_reply;
use crate::commands::messages::destination::Place;
use crate::commands::messages::guard::Verdict;
use crate::language::names::{Target, mentions};
use crate::model::attention::Directedness;
use crate::model::claim::Claim;
use crate::model::delivery::{Delivery, Open};
use crate::model::disposition::Disposition;
use crate::model::ids::{EventRef, MemberKey, Timestamp};
use crate::model::member::Member;
use crate::model::requests::Post;

impl Context<'_> {
    /// Whether a message answers its cause. A message that a person has `approved` is an answer
    /// wherever it is posted.
    pub(super) fn is_answer(
        &mut self,
        me: &Member,
        place: &Place,
        post: &Post,
        verdict: Verdict,
        approved: bool,
    ) -> Result<bool> {
        let Some(cause) = verdict.cause else { return Ok(false) };
        let here = cause.conversation == place.key;
        if place.answers == Some(cause) {
            return Ok(here || approved);
        }
        if !here || verdict.answers_ack {
            return Ok(here);
        }
        let Some(asker) = self.recall_kept(cause)?.map(|recalled| recalled.event.actor) else {
            return Ok(false);
        };
        let in_turn = self.by.turn.is_some();
        let replies_to = match place.answers {
            Some(at) if at.conversation != place.key => return Ok(false),
            Some(at) => {
                let author = self.recall(at)?.event.actor;
                Some((at, author)).filter(|(_, author)| *author != me.key)
            }
            None => None,
        };
        if let Some((at, author)) = replies_to {
            // Another question of the same author, which the member was asked too, is answered by it.
            return Ok(author == asker && self.judge_beside(me, at)?.is_none());
        }
        let aside =
            matches!(post.directedness, Some(Directedness::Ambient | Directedness::ToOther));
        Ok((in_turn || !aside) && !self.names_only_others(me.key, place, post, asker))
    }

    /// Whether a message addresses only members other than the asker.
    fn names_only_others(
        &self,
        me: MemberKey,
        place: &Place,
        post: &Post,
        asker: MemberKey,
    ) -> bool {
        let directory = self.directory();
        let roster = self.room(place.key).roster();
        let mut named: Vec<MemberKey> = post.recipient.into_iter().collect();
        named.extend(&post.mentions);
        for mention in mentions(&post.message.text, &directory.names) {
            match mention.target {
                Target::Member(member) => named.push(member),
                Target::Role(role) => {
                    named.extend(directory.role(role).iter().flat_map(|role| &role.members));
                }
            }
        }
        // A name without a membership is only text, and naming oneself addresses nobody.
        named.retain(|member| *member != me && roster.contains_key(member));
        !named.is_empty() && !named.contains(&asker)
    }

    /// A message was logged: it answers its cause or was posted beside it.
    pub(super) fn note_answer(
        &mut self,
        me: &Member,
        place: &Place,
        verdict: Verdict,
        answers: bool,
    ) -> Result<()> {
        let Some(cause) = verdict.cause else { return Ok(()) };
        if answers {
            return self.answered(cause, me, verdict);
        }
        if cause.conversation != place.key && place.answers.is_none() {
            return Ok(());
        }
        if me.is_agent() {
            let turn = self.by.turn;
            self.load(cause.conversation)?;
            self.amend(cause, me.key, |delivery| delivery.spoke(turn))?;
        }
        // Posted in the turn of one question, as a reply to another that the member was asked too.
        let other = place.answers.filter(|at| at.conversation == place.key && *at != cause);
        let Some(other) = other else { return Ok(()) };
        match self.judge_beside(me, other)? {
            Some(verdict) => self.answered(other, me, verdict),
            None => Ok(()),
        }
    }

    /// The first reply settles the delivery in its own transaction.
    fn answered(&mut self, cause: EventRef, me: &Member, verdict: Verdict) -> Result<()> {
        let now = self.now;
        self.load(cause.conversation)?;
        let author = self.recall_kept(cause)?.map(|recalled| recalled.event.actor);
        if author.is_none_or(|author| author == me.key) {
            return Ok(());
        }
        self.reopen_dead(cause)?;
        if verdict.takes_claim && me.is_agent() {
            self.ensure_open(cause)?;
        }
        let turn = self.by.turn;
        self.note_end(cause, me.key);
        let room = self.room_mut(cause.conversation);
        let Some(open) = room.open_mut(cause.seq) else {
            // A further message of a turn whose delivery was settled by the first.
            return self.amend(cause, me.key, |delivery| delivery.spoke(turn));
        };
        if verdict.takes_claim && me.is_agent() {
            let fence =
                open.claim.map_or(1, |c| if c.holder == me.key { c.fence } else { c.fence + 1 });
            open.claim = Some(Claim::new(me.key, fence, true, now));
            if open.delivery(me.key).is_none() {
                // The answer must be known after the claim is gone, so that nobody else answers
                // after it.
                open.deliveries.push(taken_by_reply(me.key, fence));
            }
        }
        let outcome =
            if verdict.answers_ack { Disposition::Acknowledged } else { Disposition::Responded };
        let mut was_running = false;
        if let Some(delivery) = open.delivery_mut(me.key) {
            was_running = delivery.state.is_running();
            delivery.spoke(turn);
            if delivery.is_open() || delivery.is_dead() {
                delivery.settle(outcome, now);
            }
        }
        self.ws.count_running(me.key, was_running, false);
        self.end_for_others(cause, me.key)
    }

    /// A member reports that the request is done: this ends everything that a reply would end.
    pub(crate) fn answered_without_words(&mut self, at: EventRef, member: MemberKey) -> Result<()> {
        let now = self.now;
        self.reopen_dead(at)?;
        let open = self.room_mut(at.conversation).open_mut(at.seq);
        let mine = open.and_then(|open| open.delivery_mut(member));
        if let Some(delivery) = mine.filter(|delivery| delivery.is_dead()) {
            delivery.settle(Disposition::Responded, now);
        }
        self.end_for_others(at, member)
    }

    /// Reopens an event that closed with a dead letter, in order to end it.
    pub(crate) fn reopen_dead(&mut self, at: EventRef) -> Result<()> {
        if self.room(at.conversation).open().contains_key(&at.seq) {
            return Ok(());
        }
        let receipt = self.recall_kept(at)?.and_then(|recalled| recalled.receipt);
        match receipt.is_some_and(|open| open.deliveries.iter().any(Delivery::is_dead)) {
            true => self.ensure_open(at),
            false => Ok(()),
        }
    }

    /// Ends the deliveries and requests of others for an event that `member` has answered.
    fn end_for_others(&mut self, at: EventRef, member: MemberKey) -> Result<()> {
        let now = self.now;
        let room = self.room_mut(at.conversation);
        let Some(open) = room.open_mut(at.seq) else { return Ok(()) };
        let ended = supersede_others(open, member, now);
        // Members who were still to be asked about a role mention are not asked any more.
        let addressed = |d: &Delivery| d.decision.directedness == Directedness::ToMe;
        let mut withdrawn = match open.delivery(member) {
            // A role that is named as well is asked all the same.
            Some(mine) if addressed(mine) => Vec::new(),
            _ => open.withdraw_others(member, now),
        };
        withdrawn.extend(ended);
        let gone = |c: &Claim| c.holder == member || withdrawn.iter().any(|d| d.member == c.holder);
        if open.claim.as_ref().is_some_and(gone) {
            open.claim = None;
        }
        self.cancel_all(at, withdrawn, "answered by another member")?;
        self.settle_if_done(at);
        Ok(())
    }
}

/// Ends what others still owe for an event that `member` has answered: obligations that had moved
/// on from `member`, and deferred deliveries and dead letters. The latter two stay if `member` was
/// a co-recipient, because it then answered for itself only, or is the author. Returns the previous
/// deliveries.
fn supersede_others(open: &mut Open, member: MemberKey, now: Timestamp) -> Vec<Delivery> {
    let beside = open
        .delivery(member)
        .is_some_and(|d| d.decision.directedness == Directedness::ToMe && !d.is_escalated());
    let by_author = open.author == member;
    let made_good = makes_good(open, member);
    let mut ended = Vec::new();
    for other in open.deliveries.iter_mut().filter(|d| d.member != member) {
        let for_all = (other.is_deferred() || other.is_dead()) && !beside && !by_author;
        let owed = (other.is_open() && other.is_obligation()) || other.is_dead();
        if for_all || (owed && other.is_escalated() && made_good) {
            ended.push(other.clone());
            other.next_fence();
            other.settle(Disposition::Superseded, now);
        }
    }
    ended
}

/// Whether the answer of `member`, who had lost the obligation, leaves no moved-on obligation
/// unanswered. If the obligation had moved to `member` earlier, its answer stands for one of those
/// who were asked first.
fn makes_good(open: &Open, member: MemberKey) -> bool {
    let left: Vec<MemberKey> = open.left().collect();
    let left = open.deliveries.iter().filter(|d| left.contains(&d.member));
    let answered =
        |d: &Delivery| d.member == member || d.disposition() == Some(Disposition::Responded);
    let (mut was_left, mut missing, mut stood_in) = (false, 0_usize, 0_usize);
    for delivery in left {
        was_left |= delivery.member == member;
        match (delivery.is_escalated(), answered(delivery)) {
            (false, false) => missing += 1,
            (true, true) => stood_in += 1,
            _ => {}
        }
    }
    was_left && missing <= stood_in
}

//! The guard: whether an agent may post this, judged by its cause (design section 5, "The host
//! enforces" and "Cause and hop"). It is the same for every transport and never refuses people.

use crate::attention::directedness::for_the_rest;
use crate::commands::context::{Context, Result};
use crate::commands::gate::turn::{ANOTHER_ATTEMPT, TAKEN_BACK, WITHDRAWN, held_fence, is_older};
use crate::model::attention::{Attention, Directedness, Policy, Rule};
use crate::model::caller::TurnRef;
use crate::model::delivery::{Delivery, Open, State};
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Timestamp};
use crate::model::limits;
use crate::model::member::Member;
use crate::model::stimulus::Chain;

/// The cause of a message, as the guard needs it.
pub(crate) struct Cause {
    pub at: EventRef,
    pub author: MemberKey,
    pub hop: u8,
    pub deleted: bool,
    pub attention: Option<std::sync::Arc<Attention>>,
    /// The cause's deliveries and claim, open or closed.
    pub open: Option<Open>,
    /// The sender's turn, when it came with one.
    pub turn: Option<TurnRef>,
}

/// What the guard allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub cause: Option<EventRef>,
    pub hop: u8,
    /// It answers an `ack_only` event and notifies nobody.
    pub answers_ack: bool,
    /// The sender claims the cause with this message.
    pub takes_claim: bool,
}

impl Context<'_> {
    /// Finds the cause of a message: the turn it is posted in, otherwise the event it answers,
    /// otherwise the sender's open turn or the one it has just answered in, otherwise nothing.
    pub(super) fn cause(
        &mut self,
        key: ConversationKey,
        in_reply_to: Option<EventRef>,
    ) -> Result<Option<Cause>> {
        let sender = self.by.member;
        if self.unasked {
            return Ok(None);
        }
        if let Some(turn) = self.by.turn {
            let at = EventRef { conversation: turn.conversation, seq: turn.seq };
            let mut cause = self.cause_at(at)?;
            cause.turn = Some(turn);
            return Ok(Some(cause));
        }
        if let Some(at) = in_reply_to {
            let cause = self.cause_at(at)?;
            if cause.author != sender {
                return Ok(Some(cause));
            }
            // It follows up on its own message, so it has the same cause.
            let own = self.recall(at)?.event.cause;
            let own = match own {
                Some(at) => self.recall_kept(at)?.map(|_| at),
                None => None,
            };
            return own.map(|at| self.cause_at(at)).transpose();
        }
        match self.open_turn(sender, key).or_else(|| self.last_turn(sender, key)) {
            Some(at) => self.cause_at(at).map(Some),
            None => Ok(None),
        }
    }

    /// The chain that an agent's request continues, which is the chain of its turn; none when the
    /// caller is not an agent. A request in a turn that the agent no longer holds is too late.
    pub(crate) fn chain_here(&mut self, key: ConversationKey) -> Result<Option<Chain>> {
        if !self.directory().is_agent(self.by.member) {
            return Ok(None);
        }
        let Some(cause) = self.cause(key, None)? else {
            return Ok(Some(Chain { cause: None, hop: self.next_hop(key, None) }));
        };
        if cause.turn.is_some() {
            let delivery = cause.open.as_ref().and_then(|o| o.delivery(self.by.member));
            check_fence(&cause, delivery, self.by.member)?;
        }
        let hop = self.next_hop(key, Some(cause.hop));
        Ok(Some(Chain { cause: Some(cause.at), hop }))
    }

    /// The turn that the member has just answered in here. Its further messages belong to the same
    /// chain.
    fn last_turn(&self, member: MemberKey, here: ConversationKey) -> Option<EventRef> {
        let since = self.now.plus(-limits::TURN_QUIET_MS);
        let room = self.ws.rooms.get(&here)?;
        let answered = |open: &&Open| {
            let state = open.delivery(member).map(|d| d.state);
            let responded = Disposition::Responded;
            matches!(state, Some(State::Settled { disposition, at }) if disposition == responded && at > since)
        };
        let ended = room.closed.iter().chain(room.open.values()).filter(answered);
        ended.map(|o| EventRef { conversation: here, seq: o.seq }).max()
    }

    /// The member's running turn, preferably here, the newest first.
    fn open_turn(&self, member: MemberKey, here: ConversationKey) -> Option<EventRef> {
        let owed = self.ws.owed.get(&member)?;
        let runs = |at: &&EventRef| {
            let room = self.ws.rooms.get(&at.conversation);
            let delivery = room.and_then(|r| r.open.get(&at.seq)).and_then(|o| o.delivery(member));
            delivery.is_some_and(|d| matches!(d.state, State::Accepted { .. }))
        };
        let told_at =
            |at: &EventRef| Some(self.ws.rooms.get(&at.conversation)?.open.get(&at.seq)?.at);
        let newest = |at: &&EventRef| (at.conversation == here, told_at(at), at.seq);
        owed.iter().filter(runs).max_by_key(newest).copied()
    }

    fn cause_at(&mut self, at: EventRef) -> Result<Cause> {
        self.load(at.conversation)?;
        let recalled = self.recall(at)?;
        let open = self.room(at.conversation).open.get(&at.seq).cloned().or(recalled.receipt);
        Ok(Cause {
            at,
            author: recalled.event.actor,
            hop: recalled.event.hop,
            deleted: recalled.message.deleted_at.is_some(),
            attention: recalled.event.attention.clone(),
            open,
            turn: None,
        })
    }

    /// Judges what `sender` wants to post in the conversation.
    pub(super) fn judge(
        &mut self,
        sender: &Member,
        key: ConversationKey,
        in_reply_to: Option<EventRef>,
        approved: Option<EventRef>,
        on_main_line: bool,
    ) -> Result<Verdict> {
        if !sender.is_agent() {
            return Ok(Verdict { cause: in_reply_to, ..Verdict::default() });
        }
        let now = self.now;
        let is_open = |cause: &Cause| {
            let mine = cause.open.as_ref().and_then(|open| open.delivery(sender.key));
            mine.is_some_and(Delivery::is_open)
        };
        let cause = match approved.filter(|_| in_reply_to.is_none()) {
            Some(at) => Some(self.cause_at(at)?),
            None => self.cause(key, in_reply_to)?,
        };
        match cause {
            // Posted in another conversation than the turn's, or after the turn is over: it is part
            // of the chain but no answer.
            Some(cause)
                if in_reply_to.is_none()
                    && (cause.at.conversation != key
                        || (approved.is_some() && !is_open(&cause))) =>
            {
                let hop = match approved {
                    Some(_) => cause.hop.saturating_add(1),
                    None => self.next_hop(key, Some(cause.hop)),
                };
                Ok(Verdict { cause: Some(cause.at), hop, ..Verdict::default() })
            }
            Some(cause) => {
                let participates = self.participates(sender.key, &cause);
                Ok(judge(&cause, sender.key, participates, now)?)
            }
            None => {
                if on_main_line && self.room(key).conversation.is_channel() {
                    self.check_autonomous(sender.key, key)?;
                }
                let hop = self.next_hop(key, None);
                Ok(Verdict { hop, ..Verdict::default() })
            }
        }
    }

    /// The verdict on a reply to an event that is posted in the turn of another event; none where
    /// nothing is open.
    pub(super) fn judge_beside(&mut self, me: &Member, at: EventRef) -> Result<Option<Verdict>> {
        let cause = self.cause_at(at)?;
        let mine = cause.open.as_ref().and_then(|open| open.delivery(me.key));
        if !mine.is_some_and(|d| d.is_open() && d.attempt > 0) || self.waits_for_person(at, me.key)
        {
            return Ok(None);
        }
        let participates = self.participates(me.key, &cause);
        Ok(judge(&cause, me.key, participates, self.now).ok())
    }

    fn participates(&self, member: MemberKey, cause: &Cause) -> bool {
        let thread = cause.open.as_ref().and_then(|o| o.thread);
        self.thread(cause.at.conversation, thread).is_some_and(|t| t.participants.contains(&member))
    }

    /// Caps, per hour, the subjects that an agent opens unprompted.
    fn check_autonomous(&mut self, member: MemberKey, key: ConversationKey) -> Result<()> {
        let hour_ago = self.now.plus(-3_600_000);
        let opened = self.room(key).autonomous.iter();
        let recent = opened.filter(|(m, at)| *m == member && *at > hour_ago).count();
        if recent >= limits::AUTONOMOUS_ROOTS_PER_HOUR {
            let cap = limits::AUTONOMOUS_ROOTS_PER_HOUR;
            return Err(Refusal::new(
                Code::RateLimited,
                format!(
                    "an agent opens at most {cap} subjects an hour here; answer an event instead"
                ),
            )
            .into());
        }
        Ok(())
    }
}

/// The rules, in order.
fn judge(
    cause: &Cause,
    sender: MemberKey,
    participates: bool,
    now: Timestamp,
) -> Result<Verdict, Refusal> {
    let delivery = cause.open.as_ref().and_then(|o| o.delivery(sender));
    let claim = cause.open.as_ref().and_then(|o| o.claim);
    check_fence(cause, delivery, sender)?;
    // A member who is addressed needs no claim, so a claim for a role that was named too does not
    // block it.
    let addressed = delivery.is_some_and(|d| d.decision.directedness == Directedness::ToMe);
    if let Some(claim) = claim.filter(|c| !addressed && c.bars(sender, now)) {
        let taken_over = !claim.accepted && delivery.is_none();
        if !taken_over || cause.turn.is_some() {
            return Err(claimed_by_other());
        }
    }
    if cause.open.as_ref().is_some_and(|open| open.is_answered_for_role(sender)) {
        return Err(claimed_by_other());
    }
    let holds = claim.is_some_and(|c| c.holder == sender);
    let (policy, directedness) = own_answer(cause, sender, delivery, participates);
    match policy {
        Policy::MustNotRespond if !holds => return Err(forbidden(directedness)),
        Policy::AckOnly => {
            return Ok(Verdict {
                cause: Some(cause.at),
                hop: cause.hop.saturating_add(1),
                answers_ack: true,
                takes_claim: false,
            });
        }
        _ => {}
    }
    if delivery.is_some_and(|d| d.said >= limits::MESSAGES_PER_TURN) {
        let most = limits::MESSAGES_PER_TURN;
        return Err(Refusal::new(
            Code::ReplyBudgetSpent,
            format!("a turn may post at most {most} messages, and this one has"),
        ));
    }
    Ok(Verdict {
        cause: Some(cause.at),
        hop: cause.hop.saturating_add(1),
        answers_ack: false,
        takes_claim: directedness != Directedness::ToMe,
    })
}

/// Refuses a message in a turn that was taken away or whose message was removed.
fn check_fence(
    cause: &Cause,
    delivery: Option<&Delivery>,
    sender: MemberKey,
) -> Result<(), Refusal> {
    let stale = |why: &str| Err(Refusal::new(Code::StaleTurn, why));
    if cause.deleted {
        return stale("the message was deleted; there is nothing left to answer");
    }
    if cause.turn.is_some_and(|turn| is_older(turn, held_fence(cause.open.as_ref(), sender))) {
        return stale(TAKEN_BACK);
    }
    if let (Some(mine), Some(delivery)) = (cause.turn.filter(|t| t.attempt > 0), delivery) {
        if delivery.voice > 0 && delivery.voice != mine.attempt {
            return stale(ANOTHER_ATTEMPT);
        }
        if delivery.over {
            return stale("this run has said that it is idle");
        }
    }
    match delivery.and_then(Delivery::disposition) {
        Some(Disposition::Superseded) => stale(WITHDRAWN),
        Some(Disposition::Failed | Disposition::Ignored) => stale("this turn has ended"),
        _ => Ok(()),
    }
}

/// The sender's policy for the cause: its delivery's, otherwise its individual decision, otherwise
/// the decision for the rest.
fn own_answer(
    cause: &Cause,
    sender: MemberKey,
    delivery: Option<&Delivery>,
    participates: bool,
) -> (Policy, Directedness) {
    if let Some(delivery) = delivery {
        return (delivery.decision.policy, delivery.decision.directedness);
    }
    let Some(attention) = &cause.attention else {
        return (Policy::MustNotRespond, Directedness::Ambient);
    };
    let told = attention.told.iter().find(|t| t.member == sender);
    let decision = told.map_or_else(|| for_the_rest(attention, participates), |t| t.decision);
    if decision.rule == Rule::RoleMentionOther {
        // Anybody in the role may take over until the selected member has accepted; the claim was
        // checked before.
        return (Policy::MayRespond, Directedness::ToMyRole);
    }
    (decision.policy, decision.directedness)
}

pub(crate) fn claimed_by_other() -> Refusal {
    Refusal::new(Code::ClaimedByOther, "somebody else has claimed this event")
}

fn forbidden(directedness: Directedness) -> Refusal {
    let why = match directedness {
        Directedness::ToOther => "this event is addressed to somebody else",
        _ => "this event asks nothing of you; claim it first if you must answer",
    };
    Refusal::new(Code::PolicyForbidsReply, why)
}

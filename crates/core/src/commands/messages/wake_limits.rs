//! Limits on how often agents wake other agents unprompted, and on the length of the chains they
//! speak in (attention spec, ATT-440 on).

use crate::commands::context::{Context, Result};
use crate::model::attention::{Attention, Policy};
use crate::model::delivery::{Delivery, Open};
use crate::model::error::{Code, Refusal};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Timestamp};
use crate::model::limits;
use crate::model::member::Member;
use crate::state::workspace::HOUR_MS;

/// At most this many of a member's waiting events are examined, those of the newest conversations
/// first.
const WAITING: usize = 256;

impl Context<'_> {
    /// The highest hop among the caller's notifications since a person last notified it, as far as
    /// they are open or at most a minute old. An agent that names no turn probably speaks because
    /// of them, wherever it speaks. Otherwise two such agents could keep each other busy at the
    /// first hops. Withheld ones count only `here`, where it may have read them.
    fn heard_hop(&self, here: ConversationKey) -> u8 {
        let me = self.by.member;
        let lately = self.ws.wake_history.of.get(&me);
        let waiting = self.ws.owed.get(&me).into_iter().flat_map(|owed| owed.iter().rev());
        let of_here = |at: &&EventRef| at.conversation == here;
        let open = |at: &EventRef| self.ws.rooms.get(&at.conversation)?.open().get(&at.seq);
        // An event that nobody takes up may stay open for ever.
        let is_recent = |open: &Open| self.now.since(open.at) < limits::TURN_CAP_MS;
        let is_told = |open: &Open| open.delivery(me).is_some_and(|d| !d.stands_still());
        let mut person_at = lately.map_or(Timestamp::default(), |lately| lately.person_at);
        let mut hops = Vec::new();
        for at in waiting.take(WAITING) {
            let Some(open) = open(at) else { continue };
            if open.hop == 0 {
                person_at = person_at.max(open.at);
            } else if of_here(&at) || (is_recent(open) && is_told(open)) {
                hops.push((open.at, open.hop));
            }
        }
        let waiting = hops.into_iter().filter(|(at, _)| *at > person_at).map(|(_, hop)| hop).max();
        waiting.unwrap_or(0).max(lately.map_or(0, |lately| lately.hop_at(self.now)))
    }

    /// The hop of the caller's message with this presumed cause. In a named turn it continues that
    /// turn's chain, otherwise the chain of the caller's latest notification.
    pub(crate) fn next_hop(&self, here: ConversationKey, cause: Option<u8>) -> u8 {
        let heard = match cause {
            Some(_) if self.by.turn.is_some() => 0,
            _ => self.heard_hop(here),
        };
        cause.unwrap_or(0).max(heard).saturating_add(1)
    }

    /// Whether an agent's message wakes other agents unprompted: it is no answer in the
    /// conversation of its cause. Refused if the agent has done so too often without a person.
    pub(super) fn check_wakes(
        &self,
        me: &Member,
        answers: bool,
        attention: &Attention,
    ) -> Result<bool> {
        let directory = self.directory();
        let wakes = attention.told.iter().any(|told| {
            told.member != me.key
                && told.decision.mode.tells()
                && matches!(told.decision.policy, Policy::MustRespond | Policy::MayRespond)
                && directory.is_agent(told.member)
        });
        if answers || !wakes || !me.is_agent() || directory.is_stand_in(me.key) {
            return Ok(false);
        }
        self.check_may_wake(me.key)?;
        Ok(true)
    }

    pub(crate) fn check_may_wake(&self, me: MemberKey) -> Result<()> {
        let most = limits::AGENT_WAKES_PER_HOUR;
        let woke = self.ws.wake_history.of.get(&me).map(|lately| &lately.woke);
        let recent = |at: &&Timestamp| self.now.since(**at) < HOUR_MS;
        if woke.is_some_and(|woke| woke.iter().filter(recent).count() >= most) {
            let why = format!(
                "an agent tells other agents something unasked at most {most} times an hour without \
                 a person; answer an event instead, or wait until a person asks you for something"
            );
            return Err(Refusal::new(Code::RateLimited, why).into());
        }
        Ok(())
    }

    /// Records that it has notified other agents unprompted.
    pub(crate) fn note_woke(&mut self) {
        let (me, now) = (self.by.member, self.now);
        self.ws.wake_history.woke(me, now);
    }

    /// An event that a member was notified of has ended for it.
    pub(crate) fn note_end(&mut self, at: EventRef, member: MemberKey) {
        let room = self.ws.rooms.get(&at.conversation);
        let open = room.and_then(|room| room.open().get(&at.seq));
        let Some(open) = open.filter(|open| open.delivery(member).is_some_and(Delivery::is_open))
        else {
            return;
        };
        let (hop, told_at, now) = (open.hop, open.at, self.now);
        self.ws.wake_history.ended(member, hop, told_at, now);
    }
}

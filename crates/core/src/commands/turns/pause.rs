//! Timelines that are paused because agents have used up their budget without a person, and how
//! they continue (design section 5, "Turns", end; the rule is in [`crate::model::budget`]).

use crate::attention::directedness::add_budget_spent;
use crate::commands::context::{Context, NOT_A_MEMBER, Result};
use crate::commands::messages::destination::Place;
use crate::commands::turns::Continued;
use crate::model::attention::Attention;
use crate::model::budget::{self, Word};
use crate::model::caller::Authority;
use crate::model::delivery::{Delivery, Open};
use crate::model::error::{Code, Refusal};
use crate::model::event::{Change, Message, is_talk};
use crate::model::ids::{ConversationKey, EventRef, Seq, ThreadKey, Uid};
use crate::model::member::Member;
use crate::state::room::Room;
use crate::state::room::turns::takes_turns;
use crate::state::workspace::Workspace;

impl Workspace {
    /// Whether the host withholds the right to speak: the timeline's budget is used up, nothing can
    /// be posted there, or another member has the turn.
    pub(crate) fn is_withheld(&self, room: &Room, open: &Open, delivery: &Delivery) -> bool {
        let waits = || self.takes_turns(delivery) && room.waits_for_turn(open, delivery);
        self.is_paused_here(room, open.thread) || waits()
    }

    /// Whether offering the delivery would start a run that may speak. People have no runs, and
    /// paused agents none for now: they never hold a turn, and never wait for one.
    pub(super) fn takes_turns(&self, delivery: &Delivery) -> bool {
        let member = self.directory.member(delivery.member);
        takes_turns(delivery)
            && member.is_some_and(|m| m.is_agent() && !m.removed && m.pause.is_none())
    }

    /// The same for everybody in the timeline.
    pub(super) fn is_paused_here(&self, room: &Room, thread: Option<ThreadKey>) -> bool {
        room.is_closed() || self.is_paused(room, thread)
    }

    /// Whether agents have used up the timeline's budget without a person.
    pub fn is_paused(&self, room: &Room, thread: Option<ThreadKey>) -> bool {
        self.budget(room, thread).is_some_and(|most| room.unattended(thread) >= most)
    }

    fn budget(&self, room: &Room, thread: Option<ThreadKey>) -> Option<u32> {
        let thread = thread.and_then(|t| room.thread(t));
        self.budgets.of(room.conversation(), thread.map(|t| &**t))
    }

    /// Open events of a room whose deliveries' clocks do not match the present state of their
    /// timeline.
    pub(crate) fn misjudged(&self, room: &Room) -> Vec<Seq> {
        let differs = |open: &Open| {
            let withheld = |d: &Delivery| self.is_withheld(room, open, d);
            open.deliveries.iter().any(|d| d.is_open() && d.stands_still() != withheld(d))
        };
        room.open().values().filter(|open| differs(open)).map(|open| open.seq).collect()
    }
}

impl Context<'_> {
    /// Checks that an agent's talk is within the timeline's budget and its turn.
    pub(crate) fn check_may_talk(
        &self,
        me: &Member,
        place: &Place,
        cause: Option<EventRef>,
    ) -> Result<()> {
        if me.is_agent() {
            self.check_budget(place.key, place.thread)?;
        }
        self.check_turn(me, place.key, self.subject(place), cause)
    }

    /// Whether an agent may post one more message here.
    pub(crate) fn check_budget(
        &self,
        key: ConversationKey,
        thread: Option<ThreadKey>,
    ) -> Result<()> {
        let room = self.room(key);
        if !self.ws.is_paused(room, thread) {
            return Ok(());
        }
        let said = room.unattended(thread);
        let what = match thread {
            Some(_) => "a person's message in the thread, a change of its status",
            None => "a person's message here",
        };
        Err(Refusal::new(
            Code::ReplyBudgetSpent,
            format!(
                "agents have said {said} messages here without a person, and pause; {what} or \
                 `chorus continue` lets them go on"
            ),
        )
        .into())
    }

    /// Handles a message to the host itself: true if it was understood. Otherwise it is refused
    /// with the list of known commands.
    pub(crate) fn check_host_word(&self, me: &Member, message: &Message) -> Result<bool> {
        let Some(word) = budget::word(&message.text) else { return Ok(false) };
        if self.directory().is_stand_in(me.key) {
            // People outside this workspace cannot control this host.
            return Ok(false);
        }
        if self.directory().names.get(budget::HOST_HANDLE).is_some() {
            // A member had the name before it was reserved for the host.
            return Ok(false);
        }
        match word {
            Word::Unknown => Err(Refusal::invalid(
                "the host understands `@chorus continue`: it lets agents that have paused go on",
            )
            .into()),
            Word::Continue if me.is_agent() => Err(only_people().into()),
            Word::Continue => Ok(true),
        }
    }

    /// Notifies a person, if this message by an agent or on its behalf uses up the budget.
    pub(crate) fn note_spent(
        &self,
        me: &Member,
        place: &Place,
        cause: Option<EventRef>,
        message: &Message,
        attention: &mut Attention,
    ) {
        let (key, thread) = (place.key, place.thread);
        let room = self.room(key);
        let counts = is_talk(message, attention);
        let most = self.ws.budget(room, thread).filter(|_| counts);
        let paused = most.is_some_and(|most| room.unattended(thread) + 1 >= most);
        if paused || (counts && self.ends_turns(me, place, cause, attention)) {
            add_budget_spent(room, self.directory(), attention);
        }
    }

    /// A person lets agents continue where they have paused, or have used up the turns that a
    /// person's message allows. Elsewhere nothing changes.
    pub(super) fn go_on(&mut self, conversation: Uid, thread: Option<Uid>) -> Result<Continued> {
        if self.me()?.is_agent() {
            // Of what it may not see it learns nothing.
            self.room_by_uid(conversation)?;
            return Err(only_people().into());
        }
        let (key, thread) = self.line_to_go_on(conversation, thread)?;
        let stands = self.ws.is_paused(self.room(key), thread);
        let was_paused = stands || self.are_turns_spent(key, thread);
        if was_paused {
            let mut draft = self.draft(self.drawn.uid, Change::Continued);
            draft.thread = thread;
            let event = self.room_mut(key).log(draft);
            self.publish(event)?;
            self.review_pauses(key)?;
            self.refill_turns(key, thread);
        }
        let room = self.room(key);
        let thread = thread.and_then(|t| room.thread(t)).cloned();
        Ok(Continued { conversation: room.conversation().clone(), thread, was_paused })
    }

    /// Moderators and the lead may let a conversation continue without being members: they are told
    /// that it waits, but not what was said.
    fn line_to_go_on(
        &mut self,
        conversation: Uid,
        thread: Option<Uid>,
    ) -> Result<(ConversationKey, Option<ThreadKey>)> {
        let governs = self.by.authority >= Authority::Orchestrator
            || self.directory().lead == Some(self.by.member);
        let unknown = || Refusal::not_found("conversation");
        let key = match self.ws.by_uid.get(&conversation) {
            Some(key) => *key,
            None => self.facts.conversation_key(conversation)?.ok_or_else(unknown)?,
        };
        self.load(key)?;
        if !governs && !self.may_see(self.room(key)) {
            return Err(unknown().into());
        }
        if !governs && !self.room(key).roster().contains_key(&self.by.member) {
            return Err(Refusal::new(Code::Forbidden, NOT_A_MEMBER).into());
        }
        let Some(uid) = thread else { return Ok((key, None)) };
        let found = self.room(key).threads().values().find(|t| t.uid == uid).map(|t| t.key);
        Ok((key, Some(found.ok_or_else(|| Refusal::not_found("thread"))?)))
    }

    /// Matches the clocks of a room's obligations to the pauses of its timelines. Deliveries held
    /// back in a timeline that continues are offered.
    pub(crate) fn review_pauses(&mut self, key: ConversationKey) -> Result<()> {
        let now = self.now;
        self.room_mut(key).note_all_subjects();
        for seq in self.ws.misjudged(self.room(key)) {
            let at = EventRef { conversation: key, seq };
            let room = self.room(key);
            let Some(open) = room.open().get(&seq) else { continue };
            let withheld = |d| self.ws.is_withheld(room, open, d);
            let withheld: Vec<bool> = open.deliveries.iter().map(withheld).collect();
            let room = self.room_mut(key);
            let Some(open) = room.stored_mut(seq) else { continue };
            let mut go_on = Vec::new();
            let both = open.deliveries.iter_mut().zip(withheld);
            for (delivery, withheld) in both.filter(|(d, _)| d.is_open()) {
                if delivery.withhold(withheld, now) && !withheld {
                    go_on.push(delivery.member);
                }
            }
            if let Some(claim) = open.claim.as_mut().filter(|c| go_on.contains(&c.holder)) {
                claim.renew(now);
            }
            for member in go_on {
                self.offer_held_back(at, member)?;
            }
            self.ws.track(at);
        }
        Ok(())
    }
}

fn only_people() -> Refusal {
    Refusal::new(Code::Forbidden, "only a person can let paused agents continue")
}
